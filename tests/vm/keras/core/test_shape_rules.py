"""Shapes that layers outside of Keras ask for by the names of `keras.src.ops.operation_utils`, as recorded there."""
import importlib

import pytest

from dragon.vm import keras
from harness.subresults import each

utils = importlib.import_module("dragon.vm.keras.src.ops.operation_utils")
common = importlib.import_module("dragon.vm.keras.src.backend.common.backend_utils")
RULES = [
    ("reduce_shape", ((2, 3, 4),), (), {}), ("reduce_shape", ((2, 3, 4), [-1, 0]), (3,), {}),
    ("reduce_shape", ((2, None, 4), 1), (2, 1, 4), {"keepdims": True}), ("reduce_shape", ((2, 3), ()), (2, 3), {}),
    ("broadcast_shapes", ((2, 1, None), (5, 3)), [2, 5, 3], {}),
    ("compute_expand_dims_output_shape", ((2, 3, 4), (1, -1)), (2, 1, 3, 4, 1), {}),
    ("compute_pooling_output_shape", ((None, 5, 4, 3), (2, 2), (2, 2)), (None, 2, 2, 3), {}),
    ("compute_conv_output_shape", ((1, 3, 7, 7), 8, (3, 3)), (1, 8, 4, 4),
     {"strides": 2, "padding": "same", "data_format": "channels_first"}),
    ("compute_matmul_output_shape", ((5, 2, 3), (3,)), (5, 2), {}),
    ("compute_matmul_output_shape", ((3,), (3,)), (), {}),
    ("compute_matmul_output_shape", ((3,), (7, 3, 2)), (7, 2), {}),
    ("compute_reshape_output_shape", ((2, 6), (-1, 4), "newshape"), (3, 4), {}),
    ("compute_reshape_output_shape", ((None, 6), (-1, 4), "newshape"), (None, 4), {}),
    ("compute_transpose_output_shape", ((2, 3, 4), (0, -1, 1)), (2, 4, 3), {}),
    ("compute_transpose_output_shape", ((2, 3), None), (3, 2), {}),
    ("compute_take_along_axis_output_shape", ((2, 3), (2, 5), 1), [2, 5], {}),
    ("compute_take_along_axis_output_shape", ((2, 3), (5,), None), [5], {}),
]
ERRORS = [
    ("reduce_shape", ((2, 3), 2), "axis 2 is out of bounds"),
    ("broadcast_shapes", ((2, 3), (4, 3)), "Cannot broadcast"),
    ("compute_pooling_output_shape", ((1, 5, 5, 3), (20, 20), (20, 20)), "zero or negative"),
    ("compute_matmul_output_shape", ((2, 3), (4, 5)), "must be equal"),
    ("validate_reshape_shape", ((-2, 5),), "non-negative"), ("validate_reshape_shape", ((-1, -1),), "at most one"),
    ("compute_reshape_output_shape", ((2, 6), (5, -1), "newshape"), "cannot by divided"),
    ("compute_transpose_output_shape", ((2, 3), (0, 0)), "no duplicates"),
    ("compute_transpose_output_shape", ((2, 3), (0, 5)), "must be an integer in"),
    ("compute_take_along_axis_output_shape", ((2, 3), (5,), 1), "same number of dimensions"),
]


@each("name, args, expected, options", RULES, ids=str)
def test_shapes(name, args, expected, options):
    assert getattr(utils, name)(*args, **options) == expected


@each("name, args, message", ERRORS, ids=str)
def test_what_does_not_fit(name, args, message):
    with pytest.raises(ValueError, match=message):
        getattr(utils, name)(*args)


def test_sizes_that_are_tensors():
    assert utils.compute_reshape_output_shape((2, 10), keras.KerasTensor((2,), dtype="int32"), "n") == (None, None)
    assert utils.compute_reshape_output_shape((2, 10), (-1, keras.KerasTensor((), dtype="int32")), "n") == (None, None)


def test_transposed_convolutions():
    shape = common.compute_conv_transpose_output_shape((1, 5, 5, 3), (3, 3), 4, 2, "same")
    assert shape == [1, 10, 10, 4]
    assert common.compute_conv_transpose_padding_args_for_jax(
        (1, 5, 5, 3), (3, 3, 3, 3), 2, "same", None, 1) == [(2, 1), (2, 1)]
    with pytest.warns(UserWarning, match="inconsistencies across backends"):
        assert common.compute_conv_transpose_padding_args_for_torch(
            (1, 5, 5, 3), (3, 3, 3, 3), 2, "same", None, 1) == ([1, 1], [1, 1])
    with pytest.raises(ValueError, match="'valid', 'same'"):
        common.compute_conv_transpose_padding_args_for_jax((1, 5, 3), (3, 3, 3), 2, "full", None, 1)


@each("first, second, options, expected", [
    ((3, 4), (3, 4), {}, True), ((3, 4), (3, 5), {}, False), ((3, 4), (3, 4, 5), {}, False), ((), (), {}, True),
    ((3, None), (3, 5), {}, True), ((3, None), (3, 5), {"allow_none": False}, False),
    ((None, 3), (None, 3), {"allow_none": False}, True), ((3, 4, 5), (3, 9, 8), {"axis": [1, -1]}, True),
    ((3, 4), (2, 9), {"axis": -1}, False)])
def test_equal_shapes(first, second, options, expected):
    numpy_rules = importlib.import_module("dragon.vm.keras.src.ops.numpy")
    assert numpy_rules.shape_equal(first, second, **options) is expected


@pytest.mark.parametrize("call, error, message", [
    (lambda: utils.compute_expand_dims_output_shape((2,), (0, -3)), ValueError, "each axis once"),
    (lambda: utils.reduce_shape((2,), 0.5), TypeError, "integer"),
    (lambda: keras.layers.Conv2D(1, (float("inf"), 2)), ValueError, "a tuple of 2 integers")])
def test_what_is_no_axis_or_size(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_paddings_of_transposed_convolutions_in_capitals():
    rule = common.compute_conv_transpose_output_shape
    assert rule((None, 7, 5), (4,), 3, 3, "SAME") == rule((None, 7, 5), (4,), 3, 3, "same") == [None, 21, 3]
