"""Branches and loops, by ONNX's own operators, whose graphs see what is around them."""
import functools

import numpy

from dragon.onnx.calls import write_program, write_subgraph
from dragon.onnx.size import Size
from dragon.onnx.source import Value
from dragon.onnx.table import maps


def truth(w, x):
    """Return a one-element tensor as a bool without axes."""
    x = w.cast(w.resolve(x), "bool")
    return w.Reshape(x, w.constant(numpy.zeros(0, "int64"))) if x.shape != () else x


def outer(w, value):
    """Return a value of the graph around as one that a graph within it may read."""
    found = w.resolve(value)
    return Value(found.name, found.dtype, value.shape)


def declared(w, values, hint):
    """Return new inputs of a graph like some values."""
    return [Value(w.fresh(hint), value.dtype, value.shape) for value in values]


def typed(results, like):
    """Return a node's results with the dtypes that its graph's outputs have."""
    results = results if isinstance(results, list) else [results]
    for value, other in zip(results, like):
        value.dtype = other.dtype
    return results


@maps("cond")
def cond(w, predicate, operands, then, otherwise):
    operands = [outer(w, value) for value in operands]

    def write(body, program):
        return write_program(body, program, operands) or [body.constant(0, "int32")]  # what only acts gives nothing
    graphs = [write_subgraph(w, [], functools.partial(write, program=program), name)
              for program, name in ((then, "then"), (otherwise, "otherwise"))]
    (one, outputs), (other, _) = graphs
    return typed(w.add("If", truth(w, predicate), outputs=len(outputs), then_branch=one, else_branch=other), outputs)


@maps("while_loop")
def while_loop(w, carried, constants, condition, body, limit):
    carried, constants = [outer(w, value) for value in carried], [outer(w, value) for value in constants]
    if not carried:
        return []
    first = truth(w, write_program(w, condition, carried + constants)[0])
    number, holds = Value(w.fresh("round"), "int64", ()), Value(w.fresh("holds"), "bool", ())
    state = declared(w, carried, "carried")

    def write(inner):
        made = [Value(value.name, value.dtype, old.shape) for value, old in
                zip(write_program(inner, body, state + constants), carried)]
        return [truth(inner, write_program(inner, condition, made + constants)[0]), *made]
    graph, outputs = write_subgraph(w, [number, holds, *state], write, "body")
    most = None if limit is None else w.constant(limit, "int64")
    return typed(w.add("Loop", most, first, *carried, outputs=len(carried), body=graph), outputs[1:])


@maps("scan")
def scan(w, carried, xs, constants, body, length, reverse):
    carried, xs, constants = ([outer(w, value) for value in values] for values in (carried, xs, constants))
    count = length if not xs else xs[0].shape[0]
    if count == 0:
        return carried + [w.full(output.shape, 0, output.dtype) for output in w.call.outputs[len(carried):]]
    if not xs and isinstance(count, Size):
        w.refuse("a loop of a dynamic number of rounds over nothing")
    along = xs or [w.constant(numpy.arange(count, dtype="int64"))]  # ONNX wants something to go along
    state = declared(w, carried, "carried")
    places = [Value(w.fresh("place"), value.dtype, tuple(value.shape[1:])) for value in along]

    def write(inner):
        return write_program(inner, body, state + places[:len(xs)] + constants) or [inner.constant(0, "int32")]
    graph, outputs = write_subgraph(w, state + places, write, "body")
    results, stacked = len(outputs), len(outputs) - len(carried)
    return typed(w.add("Scan", *carried, *along, outputs=results, body=graph, num_scan_inputs=len(along),
                       scan_input_directions=[int(reverse)] * len(along),
                       scan_output_directions=[int(reverse)] * stacked or None), outputs)
