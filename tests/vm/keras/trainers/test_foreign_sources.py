"""Sources that other packages make, and batches as other programs take them."""
import importlib

import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from dragon.vm.keras.trainers.data_adapters import get_data_adapter
from harness.subresults import each


def trained(x, y, **options):
    """Return what a small model learns."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model.fit(x, y, epochs=2, verbose=0, **options).history, model


@each("form", ["coo", "csr", "csc"])
@each("options", [{}, {"validation_split": 0.2}, {"shuffle": False, "batch_size": 7}], ids=str)
def test_sparse_matrices_train_as_dense_ones_do(form, options):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    x = scipy_sparse.random(50, 20, 0.2, format=form, random_state=np.random.RandomState(0), dtype="float64")
    y = np.asarray(x.sum(1))
    (sparse, model), (dense, other) = trained(x, y, **options), trained(x.toarray(), y, **options)
    assert sparse == dense
    np.testing.assert_array_equal(model.predict(x, verbose=0), other.predict(x.toarray(), verbose=0))
    assert model.evaluate(x, y, verbose=0) == other.evaluate(x.toarray(), y, verbose=0)
    assert model.train_on_batch(x, y) == other.train_on_batch(x.toarray(), y)


def test_batches_as_datasets_and_arrays():
    adapters = importlib.import_module("dragon.vm.keras.src.trainers.data_adapters.array_data_adapter")
    adapter = adapters.ArrayDataAdapter(np.ones((34, 4)), y=np.ones((34, 2), "int32"), batch_size=16)
    dataset = adapter.get_tf_dataset()
    assert isinstance(dataset, tf.data.Dataset) and int(dataset.cardinality()) == 3
    assert dataset.element_spec == (tf.TensorSpec((None, 4), tf.float32), tf.TensorSpec((None, 2), tf.int32))
    for _ in range(2):
        assert [tuple(x.shape) for x, _ in dataset] == [(16, 4), (16, 4), (2, 4)]
    assert (adapter.has_partial_batch, adapter.partial_batch_size) == (True, 2)
    assert [type(x) for x, _ in adapter.get_numpy_iterator()] == [np.ndarray] * 3


def test_a_generator_loses_no_batch_to_its_spec():
    dataset = get_data_adapter((np.full((2, 3), number, "float32"),) for number in range(3)).get_tf_dataset()
    assert dataset.element_spec == (tf.TensorSpec((None, 3), tf.float32),)
    assert [float(x[0, 0]) for x, in dataset] == [0, 1, 2]


def test_a_source_without_batches_has_no_spec():
    dataset = get_data_adapter(batch for batch in ()).get_tf_dataset()
    with pytest.raises(ValueError, match="got a source without batches"):
        dataset.element_spec


@pytest.mark.parametrize("drop, found", [(False, (True, 4)), (True, (False, None))])
def test_the_last_batch_of_a_loader(drop, found):
    data = importlib.import_module("dragon.vm.torch").utils.data
    adapter = get_data_adapter(data.DataLoader(range(20), 8, drop_last=drop))
    assert (adapter.has_partial_batch, adapter.partial_batch_size) == found


def test_grain():
    grain = pytest.importorskip("grain")
    rows = grain.MapDataset.source(np.arange(40, dtype="float32").reshape(20, 2) / 40)
    dataset = rows.map(lambda row: (row, row.sum(keepdims=True))).batch(8)
    adapter = get_data_adapter(dataset)
    assert [tuple(x.shape) for x, _ in adapter] == [(8, 2), (8, 2), (4, 2)] and adapter.batch_size == 8
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(dataset, epochs=2, verbose=0)
    assert model.predict(rows.batch(5), verbose=0).shape == (20, 1)
    with pytest.raises(ValueError, match="grain.Dataset and grain.DataLoader"):
        model.fit(dataset, np.zeros(20))


def test_sparse_tensors_train_as_dense_ones_do():
    dense = np.where(np.random.RandomState(0).rand(50, 20) < 0.2, 1.0, 0.0).astype("float32")
    sparse = tf.sparse.from_dense(dense)
    y = dense.sum(1, keepdims=True)
    (one, model), (other, _) = trained(sparse, y), trained(dense, y)
    assert one == other and model.predict(sparse, verbose=0).shape == (50, 1)
    data = tf.data.Dataset.from_tensor_slices((sparse, y)).batch(10)
    assert model.evaluate(data, verbose=0) == pytest.approx(model.evaluate(dense, y, batch_size=10, verbose=0))
