"""Sums, extremes, moments and norms along axes, and running ones."""
import math

import numpy
from onnx import helper

from dragon.onnx.size import Size, product
from dragon.onnx.table import maps, row_function
from dragon.onnx.writer import ELEMENTS, Writer

SMALL = 8  # places of an axis in some capture, so that there may be none elsewhere


def axes_of(x, axis):
    """Return the axes that a reduction means, from 0 on; none or no list are all."""
    if axis is None or axis == []:
        return list(range(x.ndim))
    return sorted({place % max(x.ndim, 1) for place in (axis if isinstance(axis, list) else [axis])})


@row_function
def reduce(w, op, x, axis, keepdims=False):
    """Write a reduction with its axes as a tensor."""
    axes = axes_of(x, axis)
    return w.add(op, x, axes, keepdims=int(keepdims)) if x.ndim else x


def count_of(x, axis):
    """Return how many elements each result is made of."""
    return product(x.shape[place] for place in axes_of(x, axis)) if x.ndim else 1


@maps("nansum")
def nansum(w, x, axis, keepdims, dtype):
    if x.is_float:
        x_or_zero = w.Where(w.IsNaN(x), w.constant(0, x.dtype), x)
        x_or_zero.shape = x.shape
        x = x_or_zero
    return reduce(w, "ReduceSum", w.cast(x, w.out.dtype), axis, keepdims)


def may_be_nothing(w, x, axis):
    """Return whether an axis that is reduced may have no places: one that is small somewhere, and no symbol."""
    known = set(map(tuple, w.symbols.values()))
    sizes = [x.shape[place] for place in axes_of(x, axis)] if x.ndim else []
    return any(isinstance(size, Size) and size.samples not in known and min(size.samples) < SMALL for size in sizes)


@maps("mean")
def mean(w, x, axis, keepdims, dtype):
    count = count_of(x, axis)
    if not isinstance(count, Size) and count == 0:
        return w.full(w.out.shape, math.nan, w.out.dtype)
    if may_be_nothing(w, x, axis):  # whose mean runtimes have 0 for
        return w.Div(reduce(w, "ReduceSum", w.cast(x, w.out.dtype), axis, keepdims), count)
    return reduce(w, "ReduceMean", w.cast(x, w.out.dtype), axis, keepdims)


def shaped(value, like):
    """Return a value that is known to have another's shape."""
    value.shape = like.shape
    return value


@row_function
def place_of(w, op, x, axis, keepdims):
    """Return the first place of an extreme."""
    if axis is None:
        found = w.add(op, w.flatten(x), axis=0, keepdims=0)
        return w.reshape(found, [1] * x.ndim if keepdims else [])
    if x.ndim == 0:
        return w.constant(0, "int64")
    return w.add(op, x, axis=axis, keepdims=int(keepdims))


@maps("linalg_vector_norm")
def vector_norm(w, x, ord, axis, keepdims, dtype):
    x = w.cast(x, w.out.dtype)
    known = {0: None, 1: "ReduceL1", 2: "ReduceL2", math.inf: "ReduceMax", -math.inf: "ReduceMin"}
    if ord == 0:
        return reduce(w, "ReduceSum", shaped(w.cast(w.cast(x, "bool"), x.dtype), x), axis, keepdims)
    size = shaped(w.Abs(x), x)
    if ord in known:
        return reduce(w, known[ord], size, axis, keepdims)
    powers = reduce(w, "ReduceSum", shaped(w.Pow(size, float(ord)), x), axis, keepdims)
    return w.Pow(powers, 1 / float(ord))


@row_function
def variance(w, x, axis, correction, keepdims):
    """Return variance and mean."""
    correction = 1 if correction is None else correction
    middle = reduce(w, "ReduceMean", x, axis, True)
    apart = shaped(w.Sub(x, middle), x)
    squares = reduce(w, "ReduceSum", shaped(w.Mul(apart, apart), x), axis, keepdims)
    count = count_of(x, axis)
    if isinstance(count, int):
        divisor = w.constant(max(0.0, count - correction), x.dtype)
    else:
        divisor = w.Max(w.Sub(w.cast(w.number(count), x.dtype), correction), 0)
    mean_value = reduce(w, "ReduceMean", x, axis, keepdims)
    return w.Div(squares, divisor), mean_value


# --- running ones

def scan(w, x, axis, start, step, reverse=False):
    """Return the last states of a loop along an axis, and its results.

    Parameters
    ----------
    w : Writer
        The graph.
    x : list of Value
        What the loop reads, one place at a time.
    axis : int
        Along which it runs.
    start : list of Value
        The first states.
    step : callable
        step(writer, states, places) -> (new states, results).
    reverse : bool, optional, default=False
        Whether it runs from the end.

    Returns
    -------
    (list of Value, list of Value)
        The last states, and the results of all steps, stacked along the axis.

    """
    body = Writer(w.opset)
    body.call = w.call

    def declared(values, hint):
        return [type(value)(w.fresh(hint), value.dtype) for value in values]

    states, places = declared(start, "state"), declared(x, "place")
    made, results = step(body, states, places)
    made = [body.Identity(value) for value in made]
    results = [body.Identity(value) for value in results]
    for node in body.nodes:  # names inside must not hide those outside
        node.input[:] = [renamed(w, body, name) for name in node.input]
        node.output[:] = [renamed(w, body, name) for name in node.output]

    def infos(values):
        return [helper.make_tensor_value_info(renamed(w, body, value.name), ELEMENTS[value.dtype], None)
                for value in values]

    constants = []
    for name, tensor in body.initializers.items():
        tensor.name = renamed(w, body, name)
        constants.append(tensor)
    graph = helper.make_graph(body.nodes, w.fresh("body"), infos(states + places), infos(made + results), constants)
    node_results = w.add("Scan", *start, *x, outputs=len(start) + len(results), body=graph, num_scan_inputs=len(x),
                         scan_input_axes=[axis] * len(x), scan_output_axes=[axis] * len(results),
                         scan_input_directions=[int(reverse)] * len(x),
                         scan_output_directions=[int(reverse)] * len(results))
    for value, result in zip(node_results, made + results):
        value.dtype = result.dtype
    return node_results[:len(start)], node_results[len(start):]


def renamed(w, body, name):
    """Return the name in the whole graph of a name that a body made."""
    if not name or name not in body.taken:
        return name
    names = body.__dict__.setdefault("renames", {})
    if name not in names:
        names[name] = w.fresh("inner_" + name)
    return names[name]


def first_of(w, x, axis):
    """Return the first place of an axis, without the axis."""
    return w.Gather(x, w.constant(0, "int64"), axis=axis)


@maps("cumprod")
def cumprod(w, x, axis, dtype):
    y = w.cast(x, w.out.dtype)
    if x.ndim == 0 or x.shape[axis] == 0:
        return y
    axis %= x.ndim
    start = w.Add(w.Mul(first_of(w, y, axis), 0), 1)

    def step(body, states, places):
        now = body.Mul(states[0], places[0])
        return [now], [now]
    return scan(w, [y], axis, [start], step)[1][0]


@maps("logcumsumexp")
def logcumsumexp(w, x, axis):
    if x.ndim == 0 or x.shape[axis] == 0:
        return x
    axis %= x.ndim
    first = first_of(w, x, axis)
    start = w.Where(w.Equal(first, first), w.constant(-numpy.inf, x.dtype), first)

    def step(body, states, places):
        before, now = states[0], places[0]
        apart = body.Where(body.Equal(before, now), body.constant(0, x.dtype), body.Abs(body.Sub(before, now)))
        total = body.Add(body.Max(before, now), body.log1p(body.Exp(body.Neg(apart))))
        return [total], [total]
    return scan(w, [x], axis, [start], step)[1][0]


@row_function
def running_extreme(w, x, axis, op):
    """Return running extremes and the last places where they stand."""
    if x.ndim == 0 or x.shape[axis] == 0:
        return x, w.full(x.shape, 0, "int64")
    axis %= x.ndim
    y = w.cast(x, "int32") if x.dtype == "bool" else x
    first = first_of(w, y, axis)
    zero = w.cast(w.Mul(w.cast(w.Not(w.Equal(first, first)), "int64"), 0), "int64")
    count = w.constant(0, "int64")

    def step(body, states, places):
        best, where, number = states
        wins = body.add(op, places[0], best)
        now = body.Where(wins, places[0], best)
        place = body.Where(wins, number, where)
        return [now, place, body.Add(number, 1)], [now, place]
    return scan(w, [y], axis, [first, zero, count], step)[1]


@maps("linear_scan")
def linear_scan(w, a, b, axis):
    axis %= b.ndim
    start = w.Mul(first_of(w, b, axis), 0)

    def step(body, states, places):
        now = body.Add(places[1], body.Mul(places[0], states[0]))
        return [now], [now]
    return scan(w, [a, b], axis, [start], step)[1][0]
