"""Graphs in tests: a slow and plain evaluator, call by call through the eager operators, as the oracle of passes."""
import numpy as np

import dragon
from dragon import _C


def build(*shapes, dtype="float32", names="xyzuvw"):
    """Return a graph with inputs of these shapes, and their values."""
    graph = _C.Graph()
    return graph, [graph.add_input(shape, dtype, name) for shape, name in zip(shapes, names)]


def call(graph, op, *inputs, **arguments):
    """Add a call and return its output, or all of them if there are several."""
    made = graph.add_call(op, inputs, **arguments)
    return made[0] if len(made) == 1 else made


def evaluate(graph, feeds):
    """Return (outputs, {input: its new numbers}) of a graph as tensors, given one tensor for each input."""
    known = dict(graph.constants)
    known.update(zip(graph.inputs, feeds))
    for node in graph.calls:
        arguments, written = {}, []
        for argument in _C.schema(node.op)["arguments"]:
            name = argument["name"]
            if name not in node.tensors:
                arguments[name] = node.attrs[name]
                continue
            ids = node.tensors[name]
            given = [known.get(id) for id in ids] if isinstance(ids, (list, tuple)) else [known.get(ids)]
            if argument["mutated"]:
                given = [None if tensor is None else dragon.ops.clone(tensor) for tensor in given]
                written += [tensor for tensor in given if tensor is not None]
            arguments[name] = given if isinstance(ids, (list, tuple)) else given[0]
        results = getattr(dragon.ops, node.op)(**arguments)
        results = list(results) if isinstance(results, (tuple, list)) else [] if results is None else [results]
        for id, tensor in zip(node.outputs, results + written):
            if id is not None:
                known[id] = tensor
    return [known[id] for id in graph.outputs], {input: known[id] for input, id in graph.updates}


def feeds_of(graph, seed=0):
    """Return random numbers for the inputs of a graph: floats around 0, integers from 0 to 3."""
    random = np.random.default_rng(seed)
    feeds = []
    for id in graph.inputs:
        value = graph.value(id)
        shape = tuple(value.shape)
        whole = value.dtype.startswith(("int", "uint", "bool"))
        numbers = random.integers(0, 2 if value.dtype == "bool" else 4, shape) if whole else random.normal(size=shape)
        feeds.append(dragon.tensor(np.asarray(numbers).astype(value.dtype)))
    return feeds


def check_equal(before, after, seed=0, tolerance=0.0):
    """Check that two graphs compute the same outputs and updates, to the bit unless a tolerance is given."""
    feeds = feeds_of(before, seed)
    wanted, got = evaluate(before, feeds), evaluate(after, feeds)
    assert len(wanted[0]) == len(got[0]) and set(wanted[1]) >= set(got[1])
    for input in set(wanted[1]) - set(got[1]):  # an update that went away had nothing to say
        np.testing.assert_array_equal(wanted[1][input].numpy(), feeds[input].numpy())
    pairs = list(zip(wanted[0], got[0])) + [(wanted[1][input], got[1][input]) for input in got[1]]
    for left, right in pairs:
        left, right = left.numpy(), right.numpy()
        assert left.shape == right.shape and left.dtype == right.dtype
        if tolerance:
            np.testing.assert_allclose(right, left, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(right, left)
            if left.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(right), np.signbit(left))


def optimized(graph, *passes, level=3, tolerance=0.0):
    """Return a copy of a graph after some passes (by name; all of a level if none is given), checked and evaluated."""
    after = graph.copy()
    skip = {name for name, *_ in _C.pass_names() if passes and name not in passes}
    _C.optimize(after, level, skip, verify=True)
    check_equal(graph, after, tolerance=tolerance)
    return after


def ops(graph):
    """Return the names of the operators of a graph, in order."""
    return [node.op for node in graph.calls]
