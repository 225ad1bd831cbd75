"""Fused convolutions and linear layers equal the calls that they stand for, whatever the tail and the layout."""
import itertools

import numpy
import pytest

import dragon
from harness.subresults import each

ops = dragon.ops
TAILS = {
    "none": (0, 0, lambda x: x),
    "relu": (0, 0, ops.relu),
    "leaky_relu": (0.1, 0, lambda x: ops.leaky_relu(x, 0.1)),
    "hardtanh": (-0.5, 1, lambda x: ops.hardtanh(x, -0.5, 1.0)),
    "elu": (1.5, 0, lambda x: ops.elu(x, 1.5)),
    "hardsigmoid": (0, 0, ops.hardsigmoid),
    "hardswish": (0, 0, ops.hardswish),
    "sigmoid": (0, 0, ops.sigmoid),
    "silu": (0, 0, ops.silu),
    "tanh": (0, 0, ops.tanh),
    "gelu": (0, 0, ops.gelu),
    "gelu_tanh": (0, 0, lambda x: ops.gelu(x, "tanh")),
}
# x, weight, stride, padding, dilation, groups
GEOMETRIES = {
    "3x3": ((2, 5, 7, 6), (8, 5, 3, 3), [1, 1], [1, 1], [1, 1], 1),
    "1x1": ((2, 32, 5, 5), (16, 32, 1, 1), [1, 1], [0, 0], [1, 1], 1),
    "steps": ((1, 16, 9, 8), (32, 16, 1, 1), [2, 2], [0, 0], [1, 1], 1),
    "depthwise": ((2, 32, 6, 7), (32, 1, 3, 3), [2, 1], [1, 1], [1, 1], 32),
    "groups": ((1, 8, 6, 6), (6, 4, 3, 2), [1, 1], [1, 0], [2, 1], 2),
    "line": ((2, 16, 12), (16, 16, 3), [2], [1], [1], 1),
    "volume": ((1, 4, 4, 5, 6), (8, 4, 2, 3, 3), [1, 2, 1], [0, 1, 1], [1, 1, 1], 1),
}
TOLERANCES = {"float64": 1e-12, "float32": 1e-4, "float16": 4e-3, "bfloat16": 4e-2}


def random(shape, dtype="float32", seed=0):
    numbers = numpy.random.default_rng([seed, *shape]).standard_normal(shape)
    return ops.cast(dragon.from_numpy(numbers), getattr(dragon, dtype))


def check(found, expected, dtype="float32"):
    assert found.dtype == expected.dtype and tuple(found.shape) == tuple(expected.shape)
    found, expected = (ops.cast(x, dragon.float64).numpy() for x in (found, expected))
    numpy.testing.assert_allclose(found, expected, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])


def conv_case(geometry, dtype="float32", bias=True, residual=True):
    """Return the tensors and the attributes of one fused convolution, and what it is without residual and tail."""
    x_shape, w_shape, stride, padding, dilation, groups = GEOMETRIES[geometry]
    x, w = random(x_shape, dtype), random(w_shape, dtype, 1) / float(numpy.sqrt(numpy.prod(w_shape[1:])))
    w = ops.cast(w, x.dtype)
    b = random(w_shape[:1], dtype, 2) if bias else None
    size = [(n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(x_shape[2:], w_shape[2:], stride, padding, dilation)]
    attributes = (size, stride, padding, dilation, groups)
    y = ops.conv_forward(x, w, b, *attributes)
    return (x, w, b, random(tuple(y.shape), dtype, 3) if residual else None), attributes, y


def compose(y, residual, tail):
    y = y if residual is None else y + residual
    return TAILS[tail][2](y)


@each("bias, residual", list(itertools.product((False, True), repeat=2)))
@each("tail", TAILS)
def test_every_tail_of_a_convolution(tail, bias, residual):
    for geometry in ("3x3", "1x1"):
        tensors, attributes, y = conv_case(geometry, bias=bias, residual=residual)
        check(ops.conv_fused(*tensors, *attributes, tail, *TAILS[tail][:2]), compose(y, tensors[3], tail))


@each("geometry", GEOMETRIES)
@each("dtype", TOLERANCES)
def test_every_geometry_of_a_convolution(geometry, dtype):
    for tail in ("relu", "silu"):
        tensors, attributes, y = conv_case(geometry, dtype)
        check(ops.conv_fused(*tensors, *attributes, tail), compose(y, tensors[3], tail), dtype)


def test_a_residual_of_any_strides():
    (x, w, b, residual), attributes, y = conv_case("3x3")
    turned = dragon.from_numpy(numpy.ascontiguousarray(residual.numpy().transpose(3, 2, 1, 0)))
    turned = ops.permute(turned, [3, 2, 1, 0])
    check(ops.conv_fused(x, w, b, turned, *attributes, "relu"), compose(y, residual, "relu"))


@each("bias, residual", list(itertools.product((False, True), repeat=2)))
@each("tail", TAILS)
def test_every_tail_of_a_linear_layer(tail, bias, residual):
    for shape in ((5, 64), (2, 9, 64), (64,)):
        x, w = random(shape), random((48, 64), seed=1) / 8.0
        b = random((48,), seed=2) if bias else None
        y = ops.linear(x, w, b)
        r = random(tuple(y.shape), seed=3) if residual else None
        check(ops.linear_fused(x, w, b, r, tail, *TAILS[tail][:2]), compose(y, r, tail))


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_every_dtype_of_a_linear_layer(dtype):
    x, w, b, r = (random(shape, dtype, seed) for seed, shape in enumerate(((9, 32), (16, 32), (16,), (9, 16))))
    check(ops.linear_fused(x, w, b, r, "gelu"), compose(ops.linear(x, w, b), r, "gelu"), dtype)


def test_a_linear_layer_of_strided_operands():
    x, w, r = random((32, 9)), random((32, 16), seed=1), random((16, 9), seed=2)
    x, w, r = (ops.permute(t, [1, 0]) for t in (x, w, r))
    check(ops.linear_fused(x, w, random((1,)), r, "relu"), compose(ops.linear(x, w, random((1,))), r, "relu"))


def test_empty_operands():
    found = ops.linear_fused(random((0, 4)), random((3, 4)), None, None, "relu")
    assert tuple(found.shape) == (0, 3)
    found = ops.linear_fused(random((2, 0)), random((3, 0)), random((3,)), None, "relu")
    check(found, ops.relu(ops.expand(random((3,)), [2, 3])))
    found = ops.conv_fused(random((0, 3, 4, 4)), random((5, 3, 1, 1)), None, None, [4, 4], [1, 1], [0, 0], [1, 1], 1)
    assert tuple(found.shape) == (0, 5, 4, 4)


def test_weights_that_lie_in_a_named_layout():
    tensors, attributes, y = conv_case("3x3")
    x, w, b, r = tensors
    memory = ops.reshape(ops.clone(w), [-1])
    check(ops.conv_fused(x, memory, b, r, *attributes, "relu", weight_shape=list(w.shape), weight_layout="abcd"),
          compose(y, r, "relu"))
    last = ops.reshape(ops.clone(ops.permute(w, [0, 2, 3, 1])), [-1])
    check(ops.conv_fused(x, last, b, r, *attributes, "relu", weight_shape=list(w.shape), weight_layout="acdb"),
          compose(y, r, "relu"))
    x, w = random((5, 64)), random((48, 64), seed=1)
    check(ops.linear_fused(x, ops.reshape(w, [-1]), None, None, weight_shape=[48, 64], weight_layout="ba"),
          ops.linear(x, w))


def letters(layout):
    return bytes(layout.numpy()).decode()


@each("geometry", GEOMETRIES)
@each("dtype", TOLERANCES)
def test_packed_weights_of_a_convolution(geometry, dtype):
    (x, w, b, r), attributes, y = conv_case(geometry, dtype)
    packed, layout = ops.pack_conv_weight(w, *attributes, list(x.shape), True, True, "relu")
    if not letters(layout):  # 16 bits are for processors that have products of them
        assert 0 in packed.shape
        return
    check(ops.conv_fused(x, packed, b, r, *attributes, "relu", weight_shape=list(w.shape),
                         weight_layout=letters(layout)), compose(y, r, "relu"), dtype)


def test_packed_weights_of_a_linear_layer_serve_any_number_of_rows():
    w = random((48, 64), seed=1)
    packed, layout = ops.pack_linear_weight(w, 128, True, False, "gelu")
    for rows in (1, 7, 128, 300):
        x, b = random((rows, 64)), random((48,))
        found = ops.linear_fused(x, packed, b, None, "gelu", weight_shape=[48, 64], weight_layout=letters(layout))
        check(found, ops.gelu(ops.linear(x, w, b)))


def test_wrong_arguments_are_named():
    x, w, b = random((2, 4)), random((3, 4)), random((3,))
    wrong = [
        (lambda: ops.linear_fused(x, w, b, None, "swish"), "activation 'swish'"),
        (lambda: ops.linear_fused(x, w, random((2,)), None), "bias"),
        (lambda: ops.linear_fused(x, random((3, 5)), b, None), "weight"),
        (lambda: ops.linear_fused(x, random((3,)), None, None), "weight"),
        (lambda: ops.linear_fused(x, w, b, random((2, 4))), "residual"),
        (lambda: ops.linear_fused(x, random((11,)), b, None, weight_shape=[3, 4], weight_layout="ba"), "44 bytes"),
        (lambda: ops.linear_fused(x, random((12,)), b, None, weight_shape=[3, 4], weight_layout="abc"), "layout 'abc'"),
        (lambda: ops.linear_fused(x, random((12,)), b, None, weight_shape=[3, 4], weight_layout="a" * 99), "letters"),
        (lambda: ops.linear_fused(x, random((12,)), b, None, weight_shape=[3, -4], weight_layout="ba"), "-4"),
    ]
    for call, words in wrong:
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(ValueError, match="weight"):
        ops.pack_linear_weight(random((3,)), 4, False, False)
    with pytest.raises(ValueError, match="groups 2"):
        ops.pack_conv_weight(random((4, 3, 1, 1)), [4, 4], [1, 1], [0, 0], [1, 1], 2, [1, 3, 4, 4], False, False)
    with pytest.raises(TypeError, match="float64"):
        ops.linear_fused(x, random((3, 4), "float64"), None, None)
    with pytest.raises(ValueError, match="residual"):
        tensors, attributes, _ = conv_case("3x3")
        ops.conv_fused(*tensors[:3], random((2, 8, 7, 5)), *attributes)
    with pytest.raises(ValueError, match="bytes"):
        ops.conv_fused(tensors[0], random((3,)), None, None, *attributes, weight_shape=[8, 5, 3, 3],
                       weight_layout="abcd")
