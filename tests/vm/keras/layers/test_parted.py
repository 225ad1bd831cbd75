"""Ragged and sparse tensors in layers, functions and models: results as genuine Keras gave them on TensorFlow."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from harness.subresults import each

TABLE = np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]], "float32")
ROWS = [[1, 2], [3], [4, 5, 6]]


def sparse():
    """Return a sparse matrix."""
    return tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.0, 2.0, 3.0], [3, 4])


def deep():
    """Return rows of vectors."""
    return tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], ragged_rank=1)


def dense_of(x):
    """Return the numbers of a sparse tensor, or of a dense one."""
    return tf.sparse.to_dense(x).numpy() if isinstance(x, tf.SparseTensor) else np.asarray(x)


def dense_layer(**config):
    """Return a layer whose results are sums."""
    return keras.layers.Dense(2, kernel_initializer="ones", **config)


def functional(is_sparse):
    """Return a model of one layer."""
    x = keras.Input((4,), sparse=is_sparse)
    return keras.Model(x, dense_layer()(x))


def sequential():
    """Return a model that expects sparse matrices."""
    return keras.Sequential([keras.Input((4,), sparse=True), dense_layer()])


@pytest.mark.parametrize("call", [
    lambda: functional(True)(sparse()), lambda: functional(False)(sparse()), lambda: sequential()(sparse()),
    lambda: keras.Sequential([dense_layer()])(sparse()), lambda: dense_layer()(sparse()),
    lambda: functional(True).predict(sparse(), verbose=0),
    lambda: functional(True).predict(sparse(), verbose=0, batch_size=2)])
def test_dense_of_sparse(call):
    """A sparse matrix times a kernel is dense, in whatever kind of model."""
    np.testing.assert_array_equal(np.asarray(call()), [[3.0, 3.0], [0.0, 0.0], [3.0, 3.0]])


def test_dense_of_sparse_has_gradients():
    """Gradients reach the kernel."""
    layer = dense_layer(activation="relu")
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(sparse()))
    np.testing.assert_array_equal(tape.gradient(total, layer.kernel), [[1.0, 1.0], [3.0, 3.0], [2.0, 2.0], [0.0, 0.0]])


def scipy_matrix():
    """Return SciPy's form of the matrix, its values in no order."""
    coo = pytest.importorskip("scipy.sparse").coo_matrix
    return coo((np.array([3.0, 2.0, 1.0], "float32"), ([2, 0, 0], [1, 2, 0])), shape=(3, 4))


@pytest.mark.parametrize("data", [sparse, scipy_matrix])
def test_fit_of_sparse(data):
    """Losses of two epochs, and of the model after them, are the genuine ones."""
    model = sequential()
    model.compile("sgd", "mse")
    history = model.fit(data(), np.ones((3, 2), "float32"), epochs=2, verbose=0, batch_size=3, shuffle=False).history
    np.testing.assert_allclose(history["loss"], [3.0, 2.8578484058380127], 1e-6)
    np.testing.assert_allclose(model.evaluate(data(), np.ones((3, 2)), verbose=0), 2.7245638370513916, 1e-6)


def test_fit_of_sparse_batches():
    """Batches of a pipeline, of which the last is smaller; and rows of an array in the order of a shuffle."""
    model = sequential()
    model.compile("sgd", "mse")
    batches = tf.data.Dataset.from_tensor_slices((sparse(), np.ones((3, 2), "float32"))).batch(2)
    losses = model.fit(batches, epochs=2, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, [2.9933414459228516, 2.6546733379364014], 1e-6)
    from dragon.vm.shared.sparse.math import take_rows
    taken = take_rows(sparse(), np.array([2, 0, 0, 1]))
    np.testing.assert_array_equal(dense_of(taken), TABLE[[2, 0, 0, 1]])
    assert taken.indices.numpy().tolist() == [[0, 1], [1, 0], [1, 2], [2, 0], [2, 2]]


@each("function, expected, stays", [
    (lambda ops: ops.add(sparse(), sparse()), TABLE * 2, True),
    (lambda ops: ops.add(sparse(), 1.0), TABLE + 1, False),
    (lambda ops: ops.multiply(sparse(), sparse()), TABLE ** 2, True),
    (lambda ops: ops.multiply(sparse(), np.array([1.0, 2.0, 3.0, 4.0], "float32")), TABLE * [1, 2, 3, 4], True),
    (lambda ops: ops.divide(sparse(), 2), TABLE / 2, True),
    (lambda ops: ops.maximum(sparse(), ops.negative(sparse())), TABLE, True),
    (lambda ops: ops.sum(sparse(), axis=1), [3.0, 0.0, 3.0], True),
    (lambda ops: ops.sum(sparse(), axis=0, keepdims=True), [[1.0, 3.0, 2.0, 0.0]], True),
    (lambda ops: ops.mean(sparse(), axis=1), [0.75, 0.0, 0.75], True),
    (lambda ops: ops.max(sparse(), axis=1), [2.0, 0.0, 3.0], False),
    (lambda ops: ops.exp(sparse()), np.exp(TABLE), False),
    (lambda ops: ops.sqrt(sparse()), np.sqrt(TABLE), True),
    (lambda ops: ops.cast(sparse(), "float16"), TABLE.astype("float16"), True),
    (lambda ops: ops.matmul(sparse(), np.eye(4, dtype="float32")), TABLE, False),
    (lambda ops: ops.matmul(np.ones((1, 3), "float32"), sparse()), TABLE.sum(0, keepdims=True), False),
    (lambda ops: ops.transpose(sparse()), TABLE.T, True),
    (lambda ops: ops.reshape(sparse(), (4, 3)), TABLE.reshape(4, 3), True),
    (lambda ops: ops.expand_dims(sparse(), 1), TABLE[:, None], True),
    (lambda ops: ops.squeeze(ops.expand_dims(sparse(), 0), 0), TABLE, True),
    (lambda ops: ops.expand_dims(sparse(), (0, -1)), TABLE[None, :, :, None], True),
    (lambda ops: ops.concatenate(xs=[sparse(), sparse()]), np.concatenate([TABLE, TABLE]), True),
    (lambda ops: ops.sum(x=sparse(), axis=1), [3.0, 0.0, 3.0], True),
    (lambda ops: ops.multiply(x1=sparse(), x2=2.0), TABLE * 2, True),
    (lambda ops: ops.concatenate([sparse(), sparse()], -1), np.concatenate([TABLE, TABLE], -1), True),
    (lambda ops: ops.convert_to_tensor(sparse(), sparse=False), TABLE, False),
    (lambda ops: ops.convert_to_numpy(sparse()), TABLE, False)])
def test_functions_of_sparse(function, expected, stays):
    """Functions give what they give of the dense matrix, and stay sparse where zeros stay zeros."""
    found = function(keras.ops)
    assert isinstance(found, tf.SparseTensor) == stays
    np.testing.assert_allclose(dense_of(found), expected, 1e-6)


@pytest.mark.parametrize("call, error, message", [
    (lambda ops: ops.transpose(sparse(), (1, 1)), ValueError, "valid permutation"),
    (lambda ops: ops.sum(sparse(), axis=2), ValueError, "out of bounds"),
    (lambda ops: ops.max(tf.ragged.constant(ROWS), axis=1, initial=0), NotImplementedError, "ragged .* and initial")])
def test_what_does_not_fit(call, error, message):
    """Errors say what came."""
    with pytest.raises(error, match=message):
        call(keras.ops)


def test_merging_sparse():
    """Layers that merge tensors merge sparse ones."""
    layers = keras.layers
    for layer, expected in ((layers.Add(), TABLE * 2), (layers.Multiply(), TABLE ** 2), (layers.Average(), TABLE),
                            (layers.Subtract(), TABLE * 0), (layers.Maximum(), TABLE),
                            (layers.Concatenate(), np.concatenate([TABLE, TABLE], -1))):
        np.testing.assert_array_equal(dense_of(layer([sparse(), sparse()])), expected)
    np.testing.assert_array_equal(dense_of(layers.Flatten()(sparse())), TABLE)


def test_symbolic_kinds():
    """Symbolic tensors say of which kind results are."""
    x = keras.Input((4,), sparse=True)
    assert x.sparse and keras.ops.sum(x, axis=1).sparse and not dense_layer()(x).sparse
    rows = keras.Input((None,), ragged=True, dtype="int32")
    assert rows.ragged and keras.layers.Embedding(10, 3)(rows).ragged
    with pytest.raises(ValueError, match="cannot have `sparse=True` and `ragged=True` at the same time"):
        keras.Input((None,), sparse=True, ragged=True)


def test_saved_model_of_sparse(tmp_path):
    """A file keeps that a model takes sparse matrices."""
    model = functional(True)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.input.sparse
    np.testing.assert_array_equal(loaded(sparse()), model(sparse()))


def test_models_of_ragged():
    """Embeddings, means and functions of rows that differ in length."""
    rows = tf.ragged.constant(ROWS)
    x = keras.Input((None,), ragged=True, dtype="int32")
    table = np.arange(20, dtype="float32").reshape(10, 2)
    made = keras.layers.Embedding(10, 2, embeddings_initializer=lambda *_, **__: table)(x)
    means = keras.Model(x, keras.layers.GlobalAveragePooling1D()(made))
    np.testing.assert_allclose(means(rows), [table[row].mean(0) for row in ROWS])
    found = keras.Model(x, made)(rows)
    assert isinstance(found, tf.RaggedTensor) and found.to_list() == [table[row].tolist() for row in ROWS]
    vectors = keras.Input((None, 2), ragged=True)
    doubled = keras.Model(vectors, keras.layers.Lambda(lambda v: v * 2)(vectors))(deep())
    assert doubled.to_list() == [[[2.0, 4.0], [6.0, 8.0]], [[10.0, 12.0]]]
    assert keras.layers.Rescaling(2.0)(deep()).to_list() == doubled.to_list()
    np.testing.assert_array_equal(keras.ops.sum(deep(), axis=1), [[4.0, 6.0], [5.0, 6.0]])
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(rows), [[1, 2, 0], [3, 0, 0], [4, 5, 6]])
    assert keras.ops.is_tensor(rows) and keras.ops.is_tensor(sparse())
    with pytest.raises(NotImplementedError, match="keras.ops.sort: got a ragged tensor"):
        keras.ops.sort(rows)


def test_fit_of_ragged():
    """A model of rows that differ in length is trained; the loss is the genuine one."""
    model = keras.Sequential([
        keras.Input((None,), ragged=True, dtype="int32"), keras.layers.Embedding(10, 3, embeddings_initializer="ones"),
        keras.layers.Lambda(lambda x: tf.reduce_mean(x, axis=1)), dense_layer()])
    model.compile("sgd", "mse")
    rows = tf.ragged.constant(ROWS)
    assert model.fit(rows, np.ones((3, 1)), verbose=0, batch_size=3).history["loss"] == [4.0]
    assert model.predict(rows, verbose=0, batch_size=2).shape == (3, 2)
    through = keras.Sequential([keras.layers.Embedding(10, 1)])
    assert through.predict(rows, verbose=0, batch_size=2).row_lengths().numpy().tolist() == [2, 1, 3]


def test_tokens_of_ragged():
    """Lookups and bins of rows, also as counts of all categories."""
    words = tf.ragged.constant([["a", "b"], ["c"]])
    lookup = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")
    np.testing.assert_array_equal(lookup(words), [[0, 1, 1], [1, 0, 0]])
    assert keras.layers.StringLookup(vocabulary=["a", "b"])(words).to_list() == [[1, 2], [0]]
    bins = keras.layers.Discretization(bin_boundaries=[1.0, 2.0])
    assert bins(tf.ragged.constant([[1.0, 2.5], [0.0]])).to_list() == [[1, 2], [0]]
