"""Fused calls compute what their parts compute one by one, bit for bit: they run the same loops."""
import subprocess
import sys

import numpy as np
import pytest

import dragon
from dragon import _C
from harness.graphs import call, ops
from harness.subresults import each

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128")
# Arguments that have no default.
ARGUMENTS = {
    "full_like": {"value": 3}, "fill": {"value": 2}, "cast": {"dtype": "float64"}, "polygamma": {"n": 1},
    "threshold": {"threshold": 0.5, "value": 2.0},
}
# Memory with whatever is in it is no function of anything, masked_fill has a driver of its own, and a fused call is
# not fused again.
NO_LOOPS = {"empty_like", "masked_fill", "fused"}
# Of integers they tell of a zero, which a program that runs later cannot.
DIVISIONS = ("floor_divide", "trunc_divide", "remainder", "fmod")
OPERATORS = [name for name in _C.op_names() if _C.schema(name)["pointwise"] and not _C.schema(name)["composite"]
             and name not in NO_LOOPS
             and not any(a["type"].startswith("Generator") for a in _C.schema(name)["arguments"])]


def numbers(shape, dtype, seed=0):
    """Return a tensor of ordinary numbers and, where the dtype has them, NaN, infinities and a negative zero."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, size=shape).astype("float64")
    if dtype.startswith(("float", "bfloat", "complex")):
        values = rng.uniform(-3, 3, size=shape)
        if values.size > 8:
            values.reshape(-1)[:4] = np.roll([np.nan, np.inf, -np.inf, -0.0], seed)
    if dtype.startswith("complex"):
        values = values + 1j * rng.uniform(-3, 3, size=shape)
    if dtype == "bfloat16":
        return dragon.ops.cast(dragon.tensor(values.astype("float32")), "bfloat16")
    return dragon.tensor(values.astype(dtype))


def array(tensor):
    return dragon.ops.cast(tensor, "float32").numpy() if str(tensor.dtype).endswith("bfloat16") else tensor.numpy()


def check_same(mine, eager):
    assert mine.dtype == eager.dtype
    mine, eager = array(mine), array(eager)
    assert mine.shape == eager.shape
    np.testing.assert_array_equal(mine, eager)
    if eager.dtype.kind == "f":
        finite = ~np.isnan(eager)
        np.testing.assert_array_equal(np.signbit(mine)[finite], np.signbit(eager)[finite])


def dtype_name(tensor):
    return str(tensor.dtype).split(".")[-1]


def add_input(graph, tensor):
    """Add an input of a tensor's geometry."""
    return graph.add_input(list(tensor.shape), dtype_name(tensor))


def fuse(graph):
    """Return the graph after nothing but fusion."""
    fused = graph.copy()
    _C.optimize(fused, 3, {name for name, *_ in _C.pass_names() if name != "fuse_pointwise"}, verify=True)
    return fused


def run(graph, feeds):
    """Return the outputs of a graph, call by call."""
    known = dict(graph.constants)
    known.update(zip(graph.inputs, feeds))
    for node in graph.calls:
        tensors = {name: [known[id] for id in ids] if isinstance(ids, (list, tuple)) else known.get(ids)
                   for name, ids in node.tensors.items()}
        results = getattr(dragon.ops, node.op)(**tensors, **node.attrs)
        results = results if isinstance(results, (list, tuple)) else [results]
        known.update(zip(node.outputs, results))
    return [known[id] for id in graph.outputs]


def check_fused(graph, feeds, calls=1):
    """Check that fusion leaves so many calls that compute the same."""
    fused = fuse(graph)
    assert ops(fused) == ["fused"] * calls, ops(fused)
    for mine, eager in zip(run(fused, feeds), run(graph, feeds)):
        check_same(mine, eager)


def chain_with(name, shapes, dtype):
    """Return a graph in which an operator stands between two others, and its feeds; None if it refuses the dtype."""
    tensors = [a for a in _C.schema(name)["arguments"] if a["type"].startswith("Tensor")]
    dtypes = ["bool" if a["name"] in ("condition", "mask") else dtype for a in tensors]
    names = [a["name"] for a in tensors]
    feeds = [numbers(shape, kind, seed) for seed, (shape, kind) in enumerate(zip(shapes, dtypes))]
    if name in DIVISIONS and not dtype.startswith(("float", "bfloat")):
        return None
    try:
        graph = _C.Graph()
        values = [add_input(graph, feed) for feed in feeds]
        values[0], = graph.add_call("where", [call(graph, "isnan", values[0]), values[0], values[0]])
        made, = graph.add_call(name, **dict(zip(names, values)), **ARGUMENTS.get(name, {}))
        wanted = getattr(dragon.ops, name)(**dict(zip(names, feeds)), **ARGUMENTS.get(name, {}))
        if dtype_name(wanted) != graph.value(made).dtype:
            return None  # the door would cast first
        if dtype_name(wanted) == "complex32":
            return None  # numbers are kept in it and computed in another: no loop makes them
        graph.outputs = [made, call(graph, "isnan", made)]
        run(graph, feeds)
    except (TypeError, NotImplementedError, ValueError):
        return None
    return graph, feeds


@each("name", OPERATORS)
def test_every_operator_in_a_chain(name):
    """Of all dtypes that it takes, in full shape and broadcast."""
    met = 0
    for dtype in DTYPES:
        for shapes in [((3,),) * 3, ((5, 7), (7,), (5, 1))]:
            found = chain_with(name, shapes, dtype)
            if found:
                met += 1
                check_fused(*found)
    assert met


def graph_of(feeds, program):
    """Return the graph that `program(add, *values)` writes; `add(op, ...)` adds a call, numbers become constants."""
    graph = _C.Graph()
    values = [add_input(graph, feed) for feed in feeds]

    def add(op, *inputs, **arguments):
        dtype = next(graph.value(value).dtype for value in inputs if not isinstance(value, float))
        known = [graph.add_constant(dragon.ops.cast(dragon.tensor(value), dtype)) if isinstance(value, float) else value
                 for value in inputs]
        return call(graph, op, *known, **arguments)

    made = program(add, *values)
    graph.outputs = made if isinstance(made, list) else [made]
    return graph


def gelu_like(add, x, *rest):
    y = add("mul", add("tanh", add("mul", x, 0.75)), x)
    for value in rest:
        y = add("add", y, value)
    return [y, add("relu", y)]


@pytest.mark.parametrize("shapes", [((0, 3),), ((),), ((1,),), ((3, 0), (0,)), ((4, 1, 5), (3, 1), (4, 3, 5)),
                                    ((70, 130),), ((33, 1000), (1000,)), ((9, 7, 64), (64,), (7, 1)), ((6000,), (1,))])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_shapes(shapes, dtype):
    """Nothing, one number, short and long rows, broadcasting inwards and outwards."""
    feeds = [numbers(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    check_fused_close(graph_of(feeds, gelu_like), feeds)


def check_fused_close(graph, feeds):
    """As check_fused, but where tiles end elsewhere than the eager loop's pieces, vectors and single numbers may differ
    by a few units in the last place."""
    for mine, eager in zip(run(fuse(graph), feeds), run(graph, feeds)):
        assert mine.dtype == eager.dtype and mine.shape == eager.shape
        np.testing.assert_allclose(array(mine), array(eager), rtol=2e-2 if dtype_name(mine) == "bfloat16" else 1e-6)


def spread(add, x):
    """The shape of a softmax: reductions whose results are read again along the rows."""
    above = add("exp", add("sub", x, add("amax", x, axis=[-1], keepdims=True)))
    return add("div", above, add("sum", above, axis=[-1], keepdims=True))


def scaled(add, x, weight):
    """The shape of a root-mean-square norm: numbers of a row are computed with before they meet the row again."""
    size = add("mean", add("mul", x, x), axis=[-1], keepdims=True)
    return add("mul", add("mul", x, add("rsqrt", add("add", size, 1e-5))), weight)


def backward(add, dy, y):
    """The shape of a gradient: what is passed on, and its sum over all but the last axis."""
    dx = add("mul", dy, add("sub", 1.0, add("mul", y, y)))
    return [dx, add("sum", dx, axis=[0, 1])]


REDUCTIONS = {
    "softmax": (spread, [(6, 50)]), "softmax of long rows": (spread, [(3, 5000)]), "norm": (scaled, [(40, 96), (96,)]),
    "norm of three axes": (scaled, [(4, 10, 32), (32,)]), "gradient": (backward, [(30, 20, 48)] * 2),
    "all": (lambda add, x, y: add("mean", add("square", add("sub", x, y))), [(300, 70)] * 2),
    "all, kept": (lambda add, x: add("sum", add("exp", x), keepdims=True), [(9000,)]),
    "rows": (lambda add, x: add("sum", add("exp", x), axis=[1]), [(9, 70)]),
    "rows of two axes": (lambda add, x: add("amin", add("neg", x), axis=[1, 2]), [(7, 5, 9)]),
    "columns": (lambda add, x: add("amax", add("neg", x), axis=[0]), [(1000, 33)]),
    "columns of two axes": (lambda add, x: add("mean", add("square", x), axis=[0]), [(100, 3, 4)]),
    "several": (lambda add, x: [add("sum", add("exp", x)), add("amax", x), add("sum", x, axis=[1])], [(80, 70)]),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions(name, dtype):
    """A chain and what reduces it are one call, as exact as the engine's own reduction."""
    program, shapes = REDUCTIONS[name]
    feeds = [dragon.tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))
             for seed, shape in enumerate(shapes)]
    graph = graph_of(feeds, program)
    fused = fuse(graph)
    assert ops(fused) == ["fused"], ops(fused)
    for mine, eager in zip(run(fused, feeds), run(graph, feeds)):
        assert mine.dtype == eager.dtype and mine.shape == eager.shape
        tolerance = 2e-6 if dtype == "float32" else 1e-13
        largest = max(1, np.abs(array(eager)).max())
        np.testing.assert_allclose(array(mine), array(eager), rtol=tolerance, atol=tolerance * largest)


def test_the_first_graph_of_a_process():
    """Kernels are loaded when they are first asked for; what is heard must not depend on that."""
    program = ("from dragon import _C; g = _C.Graph(); x = g.add_input([64]); y, = g.add_call('mul', [x, x]); "
               "g.outputs = g.add_call('tanh', [y]); _C.optimize(g, 3); print(*(call.op for call in g.calls))")
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/")
    assert ran.stdout.split() == ["fused"]


def transposed(tensor, a=0, b=-1):
    """Return the same numbers, lying in memory with two axes exchanged."""
    return dragon.ops.transpose(dragon.ops.to_row_major(dragon.ops.transpose(tensor, a, b)), a, b)


LAYOUTS = {
    "dense": lambda x: x,
    "transposed": transposed,
    "channels last": lambda x: dragon.ops.permute(dragon.ops.to_row_major(dragon.ops.permute(x, [0, 2, 3, 1])),
                                                  [0, 3, 1, 2]),
    "every second": lambda x: dragon.ops.slice(dragon.ops.cat([x, x], axis=2), 2, 0, None, 2),
    "repeated": lambda x: dragon.ops.expand(dragon.ops.narrow(x, 0, 0, 1), list(x.shape)),
}


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_layouts(first, second):
    """Operands that lie in memory each in its own way; large ones across are copied straight first."""
    for shape in [(2, 6, 5, 4), (3, 40, 28, 36)]:
        feeds = [LAYOUTS[how](numbers(shape, "float32", seed)) for seed, how in enumerate((first, second))]
        graph = graph_of(feeds, lambda add, x, y: add("abs", add("sub", add("maximum", x, y), add("mul", y, 2.0))))
        body = fuse(graph).call(0).attrs["body"]
        check_same(dragon.ops.fused(feeds, body)[0], run(graph, feeds)[0])


@pytest.mark.parametrize("count", [5, 3000, 300000])
def test_in_place(count):
    """A plan lets an output lie over an input, also over one that is read again after the output is made."""
    feeds = [numbers((count,), "float32", seed) for seed in range(2)]

    def program(add, x, y):
        passing = add("cumsum", x, axis=0)
        first, second = add("add", passing, y), add("mul", add("neg", passing), 3.0)
        return [add("cumsum", first, axis=0), add("cumsum", second, axis=0)]

    graph = graph_of(feeds, program)
    assert ops(fuse(graph)) == ["cumsum", "fused", "cumsum", "cumsum"]
    for mine, eager in zip(_C.Plan(graph, 3).run(feeds), run(graph, feeds)):
        check_same(mine, eager)


@pytest.mark.parametrize("name", DIVISIONS)
def test_a_zero_among_divisors_is_told(name):
    """Who tells it is gone when a program runs: such a call is no part of one."""
    feeds = [dragon.tensor(np.arange(1, 6)), dragon.tensor(np.array([1, 2, 0, 3, 1]))]
    graph = graph_of(feeds, lambda add, x, y: [add("add", add("neg", add(name, x, y)), x)])
    for level in (1, 3):
        with pytest.raises(ValueError, match=f"{name}: got a zero among integer divisors"):
            _C.Plan(graph, level).run(feeds)


UNARY = ("neg", "abs", "relu", "square", "floor", "sign", "tanh", "exp", "sigmoid", "sin")
BINARY = ("add", "sub", "mul", "maximum", "minimum", "div", "atan2")
COMPARE = ("lt", "ge", "eq")


def random_program(seed):
    """Return feeds and the graph of a random expression: several shapes, dtypes and layouts, several outputs."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.integers(1, 7, size=rng.integers(1, 4)))
    if rng.random() < 0.2:
        shape = (*shape[:-1], int(rng.integers(300, 5000)))
    dtype = str(rng.choice(["float32", "float64", "float16", "bfloat16"]))
    feeds = [numbers(shape, dtype, seed)]
    for i in range(rng.integers(0, 4)):
        narrow = tuple(1 if rng.random() < 0.4 else size for size in shape[rng.integers(0, len(shape)):])
        feeds.append(numbers(narrow, dtype, seed + i))
    if len(shape) > 1 and rng.random() < 0.5:
        feeds[0] = transposed(feeds[0])

    def program(add, first, *rest):
        full, masks = [add("clone", first)], []
        for _ in range(rng.integers(2, 14)):
            x = full[rng.integers(len(full))]
            other = [*full, *rest][rng.integers(len(full) + len(rest))]
            kind = rng.random()
            if kind < 0.35:
                full.append(add(str(rng.choice(UNARY)), x))
            elif kind < 0.7:
                known = float(rng.integers(-3, 4)) if rng.random() < 0.3 else other
                full.append(add(str(rng.choice(BINARY)), x, known))
            elif kind < 0.8:
                masks.append(add(str(rng.choice(COMPARE)), x, other))
            elif kind < 0.9 and masks:
                full.append(add("where", masks[rng.integers(len(masks))], x, other))
            elif kind < 0.95:
                full.append(add("cast", add("cast", x, dtype="float64"), dtype=dtype))
            else:
                full.append(add("cast", add("isnan", x), dtype=dtype))
        asked = [full[rng.integers(len(full))] for _ in range(rng.integers(0, 3))]
        return list(dict.fromkeys([full[-1], *asked, *masks[-1:]]))

    return feeds, graph_of(feeds, program)


def check_random(seed):
    feeds, graph = random_program(seed)
    fused = fuse(graph)
    assert len(fused) <= max(1, len(graph) // 2), fused
    for mine, eager in zip(run(fused, feeds), run(graph, feeds)):
        assert mine.dtype == eager.dtype and mine.shape == eager.shape
        mine, eager = array(mine), array(eager)
        if eager.size < 300:
            np.testing.assert_array_equal(mine, eager)
        elif eager.dtype.kind == "f":  # vectors end elsewhere: the last bit may differ, and what hangs on it
            close = np.isclose(mine, eager, rtol=1e-2, atol=1e-2, equal_nan=True)
            assert close.mean() > 0.99


@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_random_expressions(seed):
    for number in range(seed, seed + 10):
        check_random(number)


def test_groups_that_would_need_each_other():
    """A count and an update hang on one reduction: gathered carelessly, each fused call would wait for the other."""
    def step(grad, param, count):
        finite = dragon.ops.all(grad > 0)
        following = count + 1
        rate = dragon.ops.pow(0.9, dragon.ops.cast(following, "float32"))
        dragon.ops.copy(dragon.ops.where(finite, param - grad * rate, param), out=param)
        dragon.ops.copy(dragon.ops.where(finite, following, count), out=count)

    states = []
    for run_step in (step, dragon.function(step, strict=True)):
        param, count = dragon.ones((4, 3)), dragon.zeros((), dtype="int64")
        for grad in (1.0, -1.0, 2.0):
            run_step(dragon.full((4, 3), grad), param, count)
        states.append((param.tolist(), count.item()))
    assert states[0] == states[1] and states[0][1] == 2
