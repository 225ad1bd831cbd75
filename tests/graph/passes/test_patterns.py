"""Patterns: formulas that somebody wrote out become the operators that compute them at once, if nobody else reads."""
import math

import numpy as np
import pytest

import dragon
from harness.graphs import build, call, ops, optimized
from harness.subresults import each

ROUNDING = 2e-6  # float32, values around 1: the operators sum and round in another order


def number(graph, value):
    return graph.add_constant(dragon.tensor(np.array(value, "float32")))


class Formula:
    """Writes operators over one graph, with numbers where a value is asked for."""

    def __init__(self, *shapes):
        self.graph, self.inputs = build(*shapes)

    def __getattr__(self, op):
        def write(*inputs, **arguments):
            ids = [number(self.graph, value) if isinstance(value, float) else value for value in inputs]
            return call(self.graph, op, *ids, **arguments)
        return write

    def found(self, output, also=()):
        self.graph.outputs = [output, *also]
        return ops(optimized(self.graph, tolerance=ROUNDING))


def gate(f, x, divides):
    inner = f.div(x, math.sqrt(2)) if divides else f.mul(x, 1 / math.sqrt(2))
    return f.add(f.erf(inner), 1.0) if divides else f.add(1.0, f.erf(inner))


def cube(f, x, how):
    if how == 0:
        return f.mul(0.044715, f.pow(x, 3.0))
    return f.mul(f.mul(f.mul(x, x), x), 0.044715) if how == 1 else f.mul(f.mul(0.044715, x), f.square(x))


@pytest.mark.parametrize("order", range(4))
def test_gelu(order):
    f = Formula((3, 5))
    x, = f.inputs
    factor = gate(f, x, order % 2)
    output = [lambda: f.mul(f.mul(x, 0.5), factor), lambda: f.mul(0.5, f.mul(factor, x)),
              lambda: f.div(f.mul(x, factor), 2.0), lambda: f.mul(x, f.mul(factor, 0.5))][order]()
    assert f.found(output) == ["gelu"]


@pytest.mark.parametrize("how", range(4))
def test_gelu_of_the_hyperbolic_tangent(how):
    f = Formula((3, 5))
    x, = f.inputs
    if how < 3:
        inside = f.mul(math.sqrt(2 / math.pi), f.add(x, cube(f, x, how)))
    else:
        inside = f.mul(f.mul(x, math.sqrt(2 / math.pi)), f.add(1.0, f.mul(f.mul(0.044715, x), x)))
    assert f.found(f.mul(f.mul(0.5, x), f.add(1.0, f.tanh(inside)))) == ["gelu"]
    assert optimized(f.graph, tolerance=ROUNDING).calls[0].attrs["approximate"] == "tanh"


def test_silu():
    f = Formula((3, 5))
    x, = f.inputs
    assert f.found(f.mul(f.sigmoid(x), x)) == ["silu"]


def test_formulas_of_something_else_stay():
    f = Formula((3, 5), (3, 5))
    x, y = f.inputs
    outputs = [f.mul(f.sigmoid(x), y), f.mul(f.mul(x, 0.25), gate(f, x, True)), f.mul(f.mul(y, 0.5), gate(f, x, True))]
    assert not {"gelu", "silu"} & set(f.found(outputs[0], outputs[1:]))


def test_a_reader_in_between_keeps_the_parts():
    f = Formula((3, 5))
    x, = f.inputs
    between = f.sigmoid(x)
    assert "silu" not in f.found(f.mul(between, x), [between])


@each("how", range(5))
@each("affine", [0, 1, 2])
def test_layer_norm(how, affine):
    f = Formula((2, 3, 8), (8,), (8,))
    x, weight, bias = f.inputs
    keep = {"axis": (-1,), "keepdims": True}
    centred = f.sub(x, f.mean(x, **keep))
    if how == 4:
        variance = f.real_var(x, correction=0, **keep)
    else:
        squares = [f.square, lambda d: f.pow(d, 2.0), lambda d: f.mul(d, d), f.square][how]
        variance = f.mean(squares(centred), **keep)
    shifted = f.add(variance, 1e-5)
    norm = f.div(centred, f.sqrt(shifted)) if how % 2 else f.mul(centred, f.rsqrt(shifted))
    norm = f.mul(weight, norm) if affine else norm
    norm = f.add(norm, bias) if affine == 2 else norm
    assert f.found(norm) == ["native_layer_norm"]


def test_a_norm_over_two_axes():
    f = Formula((2, 3, 8))
    x, = f.inputs
    keep = {"axis": (1, 2), "keepdims": True}
    centred = f.sub(x, f.mean(x, **keep))
    output = f.div(centred, f.sqrt(f.add(f.mean(f.square(centred), **keep), 1e-5)))
    assert f.found(output) == ["native_layer_norm"]


def test_other_norms_stay():
    f = Formula((2, 3, 8))
    x, = f.inputs
    keep = {"axis": (-1,), "keepdims": True}
    centred = f.sub(x, f.mean(x, **keep))
    corrected = f.div(centred, f.sqrt(f.add(f.real_var(x, correction=1, **keep), 1e-5)))
    centred = f.sub(x, f.mean(x, axis=(1,), keepdims=True))
    middle = f.div(centred, f.sqrt(f.add(f.mean(f.square(centred), axis=(1,), keepdims=True), 1e-5)))
    assert "native_layer_norm" not in f.found(corrected, [middle])


@pytest.mark.parametrize("affine", [0, 1])
def test_root_mean_square_norm(affine):
    f = Formula((2, 3, 8), (8,))
    x, weight = f.inputs
    norm = f.mul(x, f.rsqrt(f.add(f.mean(f.pow(x, 2.0), axis=(-1,), keepdims=True), 1e-6)))
    assert f.found(f.mul(weight, norm) if affine else norm) == ["native_rms_norm"]


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax(axis):
    for logarithm, name in ((False, "softmax"), (True, "log_softmax")):
        f = Formula((3, 5))
        x, = f.inputs
        distance = f.sub(x, f.amax(x, axis=(axis,), keepdims=True))
        powers = f.exp(distance)
        total = f.sum(powers, axis=(axis,), keepdims=True)
        assert f.found(f.sub(distance, f.log(total)) if logarithm else f.div(powers, total)) == [name]


@pytest.mark.parametrize("mask", [None, (2, 3, 4, 6), (4, 6), (2, 1, 1, 6)])
@pytest.mark.parametrize("turned", [True, False])
def test_attention(mask, turned):
    f = Formula((2, 3, 4, 5), (2, 3, 6, 5) if turned else (2, 3, 5, 6), (2, 3, 6, 5), *([mask] if mask else []))
    q, k, v = f.inputs[:3]
    keys = f.transpose(k, axis0=2, axis1=3) if turned else k
    scores = f.matmul(q, keys)
    scores = f.div(scores, math.sqrt(5)) if turned else f.mul(0.25, scores)
    scores = f.add(scores, f.inputs[3]) if mask else scores
    found = f.found(f.matmul(f.softmax(scores, axis=-1), v))
    assert found.count("attention") == 1 and not {"matmul", "softmax", "div", "add"} & set(found)


@pytest.mark.parametrize("how", ["masked_fill", "where"])
def test_attention_that_hides_keys(how):
    f = Formula((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5))
    q, k, v = f.inputs
    hidden = f.graph.add_constant(dragon.tensor(np.triu(np.ones((4, 6), bool), 1)))
    scores = f.mul(f.matmul(q, f.transpose(k, axis0=2, axis1=3)), 0.5)
    if how == "where":
        scores = f.where(f.logical_not(hidden), scores, -math.inf)
    else:
        scores = f.masked_fill(scores, hidden, -math.inf)
    found = f.found(f.matmul(f.softmax(scores, axis=-1), v))
    assert "attention" in found and not {"softmax", how} & set(found)


def test_attention_of_three_axes():
    f = Formula((6, 4, 5), (6, 7, 5), (6, 7, 3))
    q, k, v = f.inputs
    scores = f.mul(f.matmul(q, f.permute(k, axes=(0, 2, 1))), 0.3)
    found = f.found(f.matmul(f.softmax(scores, axis=2), v))
    assert "attention" in found and "matmul" not in found


def test_attention_whose_weights_are_read_stays():
    f = Formula((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5))
    q, k, v = f.inputs
    weights = f.softmax(f.matmul(q, f.transpose(k, axis0=2, axis1=3)), axis=-1)
    assert "attention" not in f.found(f.matmul(weights, v), [weights])


@pytest.mark.parametrize("how", ["masked_fill", "where", "add"])
def test_attention_that_looks_back(how):
    f = Formula((2, 3, 6, 5), (2, 3, 6, 5), (2, 3, 6, 5))
    q, k, v = f.inputs
    scores = f.matmul(q, f.transpose(k, axis0=2, axis1=3))
    future = np.triu(np.ones((1, 6, 6), bool), 1)
    if how == "add":
        mask = f.graph.add_constant(dragon.tensor(np.where(future, -np.inf, 0).astype("float32")))
        scores = f.add(scores, mask)
    elif how == "where":
        scores = f.where(f.graph.add_constant(dragon.tensor(~future)), scores, -math.inf)
    else:
        scores = f.masked_fill(scores, f.graph.add_constant(dragon.tensor(future)), -math.inf)
    found = f.found(f.matmul(f.softmax(scores, axis=-1), v))
    assert "attention" in found and not {"expand", "logical_not"} & set(found)
    attention = [node for node in optimized(f.graph, tolerance=ROUNDING).calls if node.op == "attention"][0]
    assert attention.attrs["causal"] and attention.inputs[3] is None


def part(f, x, shape, axis, start, place=False):
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    own = strides[:axis] + strides[axis + 1:] if place else strides
    return f.restride(x, strides=own, offset=start * strides[axis], shape=shape, to_strides=strides, to_offset=0)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_that_make_up_a_whole(axis):
    lengths, whole, shapes = (2, 1, 3), [4, 5, 3], []
    whole[axis] = 6
    for length in lengths:
        shapes.append([length if i == axis else size for i, size in enumerate(whole)])
    f = Formula(*shapes)
    parts = [part(f, x, whole, axis, sum(lengths[:i])) for i, x in enumerate(f.inputs)]
    assert f.found(f.exp(f.add(f.add(parts[2], parts[0]), parts[1]))) == ["cat", "exp"]


def test_places_that_make_up_a_whole():
    f = Formula(*[(4, 5)] * 3)
    parts = [part(f, x, (4, 3, 5), 1, i, place=True) for i, x in enumerate(f.inputs)]
    assert f.found(f.exp(f.add(f.add(parts[0], parts[1]), parts[2]))) == ["unsqueeze"] * 3 + ["cat", "exp"]


@pytest.mark.parametrize("starts", [(0, 1), (0, 0), (1, 3), (0, 3)])
def test_parts_that_overlap_or_leave_gaps_are_added(starts):
    f = Formula((2, 3), (2, 3))
    parts = [part(f, x, (5, 3), 0, start) for x, start in zip(f.inputs, starts)]
    assert "cat" not in f.found(f.exp(f.add(*parts)))


def test_a_whole_that_is_copied_in_another_order():
    f = Formula((4, 5), (4, 5), (4, 5))
    whole = f.add(f.add(*[part(f, x, (3, 4, 5), 0, i, place=True) for i, x in enumerate(f.inputs[:2])]),
                  part(f, f.inputs[2], (3, 4, 5), 0, 2, place=True))
    found = f.found(f.exp(f.to_row_major(f.permute(whole, axes=(1, 0, 2)))))
    assert "cat" in found and not {"to_row_major", "restride", "add"} & set(found)


@pytest.mark.parametrize("merges", [True, False])
def test_attention_reads_its_operands_where_they_lie(merges):
    f = Formula((2, 4, 36), (2, 4, 1, 36))  # (batch, length, 3 x heads x width), as one projection makes them
    x, y = f.inputs
    copy = f.to_row_major(f.permute(f.view(x, shape=(2, 4, 3, 12)), axes=(2, 1, 0, 3)))  # (3, length, batch, 12)
    operands = []
    for i in range(3):
        one = f.select(copy, axis=0, index=i)
        if merges:  # batch and heads in one axis on the way
            one = f.transpose(f.view(one, shape=(4, 6, 4)), axis0=0, axis1=1)
            operands.append(f.view(one, shape=(2, 3, 4, 4)))
        else:
            operands.append(f.permute(f.view(one, shape=(4, 2, 3, 4)), axes=(1, 2, 0, 3)))
    output = f.attention(*operands, None, scale=0.5, causal=False)[0]
    assert "to_row_major" not in f.found(f.exp(output))


def test_copies_that_are_cut_stay():
    f = Formula((2, 3, 4, 8))
    x, = f.inputs
    copy = f.to_row_major(f.transpose(x, axis0=1, axis1=2))
    cut = f.slice(copy, axis=3, start=0, stop=4)
    output = f.attention(cut, cut, cut, None, scale=0.5, causal=False)[0]
    f.graph.outputs = [f.exp(output)]
    left = ops(optimized(f.graph, "see_through_copies", "prune"))
    assert left == ["transpose", "to_row_major", "slice", "attention", "exp"]
