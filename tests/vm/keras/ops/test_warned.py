"""What functions of keras.ops warn of or refuse in Keras's words, and what they make of it."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm.keras import ops
from harness.subresults import each

X = np.arange(6, dtype="float32").reshape(2, 3)


def test_a_softmax_of_one_number_is_warned_of():
    with pytest.warns(UserWarning, match=r"softmax over axis 1 of a tensor of shape \(2, 1\).*mean to use a sigmoid"):
        np.testing.assert_array_equal(np.asarray(ops.softmax(X[:, :1], 1)), [[1], [1]])


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_axes_that_are_not_there(name):
    for x in (X, keras.KerasTensor((2, 3))):
        with pytest.raises(ValueError, match="axis 10 is out of bounds"):
            getattr(ops, name)(x, axis=10)


def test_the_older_scaling_by_the_variance():
    with pytest.warns(UserWarning, match="`rms_scaling=True`, which is deprecated"):
        found = ops.layer_normalization(X, gamma=np.array([1, 2, 3], "float32"), rms_scaling=True)
    np.testing.assert_allclose(np.asarray(found), X / np.sqrt(X.var(1, keepdims=True) + 1e-7) * [1, 2, 3], rtol=1e-5)
    with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
        ops.layer_normalization(X, scaling=True)


@pytest.mark.parametrize("size", [1, 0, -2])
def test_blocks_have_a_size(size):
    for function in (ops.depth_to_space, ops.space_to_depth):
        with pytest.raises(ValueError, match="`block_size` must be at least 2"):
            function(np.zeros((1, 4, 4, 4)), size)


@pytest.mark.parametrize("batch", [None, 10])
def test_decoded_sequences_of_symbols(batch):
    given = keras.KerasTensor((batch, 2, 3)), keras.KerasTensor((batch,), dtype="int32")
    for options, paths in (({}, 1), ({"strategy": "beam_search", "top_paths": 2}, 2)):
        decoded, scores = ops.ctc_decode(*given, **options)
        assert (decoded.shape, decoded.dtype) == ((paths, batch, 2), "int32") and scores.shape == (batch, paths)


@each("function, args, message", [
    (ops.fft, ((np.float32(1), np.float32(1)),), "Input should have rank >= 1"),
    (ops.fft2, ((X[0], X[0]),), "Input should have rank >= 2"),
    (ops.rfft, (np.float32(1),), "Input should have rank >= 1"),
    (ops.extract_sequences, (np.float32(1), 5, 1), "Input should have rank >= 1"),
    (ops.extract_sequences, (X, 2, 0), "`sequence_stride` must be a positive integer"),
    (ops.stft, (X[0], 2, 1.5, 4), "`sequence_stride` must be a positive integer"),
    (ops.istft, ((X, X), 2, 0, 4), "`sequence_stride` must be a positive integer"),
    (ops.istft, ((X[0], X[0]), 2, 1, 4), "Input should have rank >= 2"),
    (ops.segment_sum, (np.zeros(0), [0, 0]), "should have same leading dimension"),
    (ops.unstack, (X, None, 10), "axis 10 is out of bounds"),
    (ops.solve, (np.eye(3), np.float64(1)), "Incompatible shapes"),
    (ops.slice, (X, (0, 0), (1, 1, 1)), "must match the number of dimensions in `shape`"),
    (ops.slice, (X, (0,), (1, 1)), "`start_indices` must match the number of dimensions in `inputs`")],
      ids=lambda given: getattr(given, "__name__", None))
def test_what_is_refused(function, args, message):
    with pytest.raises(ValueError, match=message):
        function(*args)


def test_symbols_whose_dtype_nobody_told_are_indices():
    assert ops.scatter(keras.KerasTensor((5, 2)), keras.KerasTensor((5,)), (4, 4)).shape == (4, 4)
    with pytest.raises(TypeError, match="must be integers"):
        ops.scatter(np.zeros((5, 2), "float32"), np.zeros(5), (4, 4))


def test_integers_are_resized_by_wide_windows():
    found = keras.layers.UpSampling2D(2, interpolation="lanczos3")(np.arange(16, dtype="int32").reshape(1, 4, 4, 1))
    assert (found.shape, found.dtype.name) == ((1, 8, 8, 1), "int32")


def test_elements_joined_as_one_row_and_rolled_alike():
    for x in (X, keras.KerasTensor((2, 3))):
        assert tuple(ops.concatenate([x, x], axis=None).shape) == (12,)
        assert tuple(ops.roll(x, 1, axis=[0, 1]).shape) == (2, 3)
    np.testing.assert_array_equal(np.asarray(ops.concatenate([X, X[:1]], axis=None)), np.concatenate([X, X[:1]], None))
    np.testing.assert_array_equal(np.asarray(ops.roll(X, 1, axis=[0, 1])), np.roll(X, 1, (0, 1)))


def test_segments_of_nothing():
    for name in ("segment_sum", "segment_max"):
        assert getattr(ops, name)(np.zeros((0, 2), "float32"), np.zeros((0,), "int32")).shape == (0, 2)
