"""Results of sparse and ragged tensors: which are sparse, and what is gathered at ragged indices."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from dragon.vm.keras.core.operation import known_operations

X = np.arange(60, dtype="float32").reshape(3, 4, 5)


def sparse(numbers):
    return tf.sparse.from_dense(np.array(numbers, "float32"))


A, B = sparse([[1, 0, 2], [0, 0, 3]]), sparse([[0, 5, 1], [0, 0, 3]])


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
def test_ragged_indices(axis):
    rows = [[2], [0, -1, 1], []]
    found = keras.ops.take(X, tf.ragged.constant(rows, dtype="int32"), axis=axis)
    own = found.to_tensor().numpy()
    # Where rows end, zeros fill up.
    full = np.take(X, np.array([[2, 0, 0], [0, -1, 1], [0, 0, 0]]), axis=axis)
    kept = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]], "float32")
    before, after = (0, 0) if axis is None else (axis % 3, 2 - axis % 3)
    np.testing.assert_array_equal(own, full * kept.reshape((1,) * before + kept.shape + (1,) * after))


def test_ragged_indices_of_more_axes_are_refused():
    with pytest.raises(NotImplementedError, match="one ragged axis"):
        keras.ops.take(X, tf.ragged.constant([[[1], [2, 3]]]), axis=1)


@pytest.mark.parametrize("name, both, one", [
    ("add", True, False), ("subtract", True, False), ("maximum", True, False), ("minimum", True, False),
    ("multiply", True, True), ("matmul", True, False)])
def test_which_results_are_sparse(name, both, one):
    function = getattr(keras.ops, name)
    second, dense = (B, np.ones((2, 3), "float32")) if name != "matmul" else (
        sparse([[1, 0], [0, 2], [4, 0]]), np.ones((3, 2), "float32"))
    for other, wanted in ((second, both), (dense, one)):
        found = function(A, other)
        assert hasattr(found, "dense_shape") is wanted
        symbols = [keras.KerasTensor(x.shape, sparse=hasattr(x, "dense_shape")) for x in (A, other)]
        assert function(*symbols).sparse is wanted
        np.testing.assert_allclose(keras.ops.convert_to_numpy(found), function(*(
            keras.ops.convert_to_numpy(x) for x in (A, other))).numpy())


@pytest.mark.parametrize("name, x, wanted", [
    ("one_hot", [0, 2], [[1, 0, 0], [0, 0, 1]]), ("multi_hot", [[0, 2], [1, 1]], [[1, 0, 1], [0, 1, 0]]),
    ("bincount", [0, 2, 2], [1, 0, 2])])
def test_results_that_are_to_be_sparse(name, x, wanted):
    x = np.array(x, "int32")
    given = {"sparse": True} if name == "bincount" else {"num_classes": 3, "sparse": True}
    found = getattr(keras.ops, name)(x, **given)
    assert hasattr(found, "dense_shape") and keras.ops.convert_to_numpy(found).tolist() == wanted
    assert getattr(keras.ops, name)(keras.KerasTensor(x.shape, dtype="int32"), **given).sparse


def test_merges_of_sparse_tensors():
    inputs = [keras.Input((3,), sparse=True) for _ in range(2)]
    for layer in (keras.layers.Add(), keras.layers.Subtract(), keras.layers.Multiply(), keras.layers.Maximum()):
        assert layer(inputs).sparse and hasattr(layer([A, B]), "dense_shape")
    assert np.array(keras.ops.convert_to_numpy(keras.layers.Dot(1)([A, B]))).tolist() == [[2.0], [9.0]]


def test_sparse_words():
    words = tf.SparseTensor([[0, 0], [1, 1]], ["b", "z"], (2, 2))
    found = keras.layers.StringLookup(vocabulary=["a", "b"])(words)
    assert found.values.numpy().tolist() == [2, 0] and found.indices.numpy().tolist() == [[0, 0], [1, 1]]
    binned = keras.layers.Hashing(num_bins=3)(words)
    assert binned.values.numpy().tolist() == keras.layers.Hashing(num_bins=3)(np.array(["b", "z"])).numpy().tolist()
    with pytest.raises(ValueError, match="should be dense tensors"):
        keras.layers.HashedCrossing(4)((words, words))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis", [None, 1])
def test_extremes_of_nothing(name, axis):
    x = np.zeros((2, 0), "float32")
    found = getattr(keras.ops, name)(x, axis=axis, initial=3.0)
    wanted = getattr(genuine.keras.ops, name)(x, axis=axis, initial=3.0)
    np.testing.assert_array_equal(found.numpy(), np.array(wanted))


def test_splits_of_nothing_and_medians_of_infinity():
    assert [tuple(part.shape) for part in keras.ops.split(np.zeros((0, 2)), 3)] == [(0, 2)] * 3
    x = np.array([[1, np.inf, np.nan], [np.inf, np.inf, 2]], "float32")
    for axis, wanted in ((None, np.inf), ((), x)):
        np.testing.assert_array_equal(keras.ops.nanmedian(x, axis=axis).numpy(), wanted)


def test_shapes_that_are_symbols():
    size = keras.KerasTensor((), dtype="int32")
    x = keras.KerasTensor((None, 20))
    assert keras.ops.reshape(x, keras.KerasTensor((2,), dtype="int32")).shape == (None, None)
    assert keras.ops.reshape(x, (4, size)).shape == (4, None)
    assert keras.ops.reshape(np.zeros(20), keras.KerasTensor((3,), dtype="int32")).shape == (None,) * 3
    slices = keras.ops.unstack(keras.KerasTensor((2, None, 3)), num=4, axis=1)
    assert [one.shape for one in slices] == [(2, 3)] * 4
    with pytest.raises(ValueError, match="Cannot infer argument `num`"):
        keras.ops.unstack(keras.KerasTensor((2, None, 3)), axis=1)
    assert keras.ops.geomspace(keras.KerasTensor((2, 3)), 5.0, 7).shape == (7, 2, 3)
    assert keras.ops.image.gaussian_blur(keras.KerasTensor((8, 8, 3)), keras.KerasTensor((2,)), size).shape == (8, 8, 3)


@each("call, error, message", [
    (lambda x: keras.ops.reshape(x, (-2, 3)), ValueError, "non-negative integers"),
    (lambda x: keras.ops.reshape(x, (-1, -1)), ValueError, "at most one unknown dimension"),
    (lambda x: keras.ops.transpose(x, (0, 5)), ValueError, r"integer in \[-2, 2\)"),
    (lambda x: keras.ops.transpose(x, (0,)), ValueError, "same length as the input shape"),
    (lambda x: keras.ops.split(x, 2, axis=9), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.concatenate([x, x], axis=9), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.stack([x, x], axis=9), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.swapaxes(x, 9, 0), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.moveaxis(x, 0, 9), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.squeeze(x, 9), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.sort(x, 9), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.cumsum(x, 9), ValueError, "axis 9 is out of bounds"),
    (lambda x: keras.ops.inner(x, np.zeros(7)), ValueError, "inner: the last dimension"),
    (lambda x: keras.ops.eye(3.0), TypeError, "must be an integer"),
    (lambda x: keras.ops.cholesky(-np.eye(2)), ValueError, "Cholesky decomposition failed")])
def test_what_is_refused(call, error, message):
    for x in (np.zeros((2, 4)), keras.KerasTensor((2, 4))):
        with pytest.raises(error, match=message) as found:
            call(x)
        assert "automatically infer" not in str(found.value)


def test_functions_of_one_that_keep_zeros():
    """What a function's own file says of it is what genuine Keras does with symbolic tensors."""
    names = [kind._function.__name__ for kind in known_operations() if kind.keeps_zeros]
    assert len(names) > 20
    x = genuine.keras.KerasTensor((2, 3), sparse=True)
    for name in names:
        given = ("float32",) if name == "cast" else ()
        assert getattr(keras.ops, name)(keras.KerasTensor((2, 3), sparse=True), *given).sparse
        if name not in ("cast", "trunc"):  # whose symbolic result is dense there
            assert getattr(genuine.keras.ops, name)(x, *given).sparse, name
        zeros = np.zeros(2, "float32")
        assert not keras.ops.convert_to_numpy(getattr(keras.ops, name)(zeros, *given)).any()
