"""Batches of data of all kinds: what is in them, in which order, and how often."""
import os
import signal

import numpy
import pytest

from dragon.io import Iterator, Reader, WorkerDied
from dragon.vm.keras.trainers.data_adapters import get_data_adapter
from dragon.vm.keras.trainers.data_adapters.arrays import split_arrays
from dragon.vm.keras.trainers.data_adapters.convert import to_tensor
from dragon.vm.keras.trainers.data_adapters.data import (
    class_weight_to_sample_weights, pack_x_y_sample_weight, unpack_x_y_sample_weight)
from dragon.vm.keras.trainers.data_adapters.py_dataset import PyDataset
from dragon.vm.keras.trainers.epochs import EpochIterator
from dragon.vm.shared import seed
from harness import genuine

X = numpy.arange(20, dtype="float64").reshape(10, 2)
Y = numpy.arange(10)


def rows_of(iterator):
    """Return the first inputs of each batch of an epoch."""
    return [(first, last, [batch_rows(batch) for batch in together]) for first, last, together in iterator]


def batch_rows(batch):
    """Return a batch's first column."""
    return numpy.asarray(unpack_x_y_sample_weight(batch)[0])[:, 0].tolist()


def test_arrays_become_tensors_of_the_default_float():
    x, y = next(iter(get_data_adapter(X, Y, batch_size=4)))
    assert x.dtype.name == "float32" and y.dtype.name == "int64" and tuple(x.shape) == (4, 2)


ARRAYS = [X[:, ::2], numpy.asfortranarray(X), X[::-1], X.astype("float32"), numpy.zeros((0, 2)), X > 3,
          X.astype("uint8"), X.astype("float16"), X.astype(">f4"), numpy.broadcast_to(X[:1], (4, 2))]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.strides}")
def test_arrays_of_all_layouts(array):
    x = to_tensor(array, to_floatx=True)
    assert x.dtype.name == ("float32" if array.dtype.kind == "f" else array.dtype.name) and x.is_contiguous()
    numpy.testing.assert_allclose(x.numpy(), array, rtol=1e-3)


def test_structures_are_kept_and_lists_become_tuples():
    x, y, weight = next(iter(get_data_adapter({"a": X, "b": [X, X]}, [Y, Y], [Y, Y], batch_size=3)))
    assert list(x) == ["a", "b"] and isinstance(x["b"], tuple) and isinstance(y, tuple) and len(weight) == 2


@pytest.mark.parametrize("shuffle", [True, "batch"])
def test_shuffling_keeps_samples_together(shuffle, monkeypatch):
    # With a global seed, which another test may have set, all epochs come in one order, as in genuine Keras.
    monkeypatch.setattr(seed._state, "seed", None)
    adapter = get_data_adapter(X, Y, batch_size=4, shuffle=shuffle)
    epochs = [[(numpy.asarray(x)[:, 0].tolist(), y.numpy().tolist()) for x, y in adapter] for _ in range(3)]
    for batches in epochs:
        assert all([2.0 * number for number in y] == x for x, y in batches)
        assert sorted(number for _, y in batches for number in y) == Y.tolist()
        if shuffle == "batch":
            assert sorted(batches[0][1]) == [0, 1, 2, 3]
    assert epochs[0] != epochs[1] or epochs[1] != epochs[2]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": numpy.arange(4.0), "b": numpy.arange(4)})
    x, y = next(iter(get_data_adapter(frame, frame["b"])))
    assert tuple(x.shape) == (4, 2) and tuple(y.shape) == (4, 1)


def test_sparse_matrices_are_sparse_tensors():
    sparse = pytest.importorskip("scipy.sparse")
    x, _ = next(iter(get_data_adapter(sparse.csr_matrix(X.astype("float64")), Y)))
    assert type(x).__name__ == "SparseTensor" and x.dtype.name == "float32" and tuple(x.shape) == X.shape


class Batches(PyDataset):
    """Ten samples in batches of four; notes the ends of epochs."""

    def __init__(self, **options):
        super().__init__(**options)
        self.notes = []

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return X[4 * index:4 * index + 4], Y[4 * index:4 * index + 4]

    def on_epoch_end(self):
        self.notes.append("end")


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"workers": 2, "use_multiprocessing": True},
                                     {"workers": 2, "max_queue_size": 1}], ids=str)
def test_py_dataset(options):
    data = Batches(**options)
    iterator = EpochIterator(x=data)
    assert iterator.num_batches == 3
    expected = [(i, i, [X[4 * i:4 * i + 4, 0].tolist()]) for i in range(3)]
    assert rows_of(iterator) == expected and rows_of(iterator) == expected
    assert data.notes == ["end"] * 2


def test_py_dataset_shuffles_batches():
    seen = {tuple(rows[2][0][0] for rows in rows_of(EpochIterator(x=Batches(), shuffle=True))) for _ in range(20)}
    assert len(seen) > 1


@pytest.mark.parametrize("processes", [False, True])
def test_errors_of_workers_come_through(processes):
    class Failing(Batches):
        def __getitem__(self, index):
            raise KeyError("nothing there")

    with pytest.raises(KeyError, match="nothing there"):
        rows_of(EpochIterator(x=Failing(workers=2, use_multiprocessing=processes)))


class Others(Batches):
    """Batches that tell who made them, and that are made while others wait."""

    def __getitem__(self, index):
        assert index < 3
        return numpy.full((4, 5), os.getpid(), "float64"), Y[:4]


def test_batches_of_processes():
    data = Others(workers=2, use_multiprocessing=True, max_queue_size=0)
    makers = {int(x[0, 0]) for _, _, steps in EpochIterator(x=data) for x, _ in steps}
    assert makers and os.getpid() not in makers


def test_a_killed_maker_of_batches_is_named():
    class Killed(Batches):
        def __getitem__(self, index):
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerDied, match="Killed worker .*SIGKILL"):
        rows_of(EpochIterator(x=Killed(workers=1, use_multiprocessing=True)))


def test_what_changes_between_epochs_reaches_the_processes():
    class Growing(Batches):
        epoch = 0

        def __getitem__(self, index):
            return X[4 * index:4 * index + 4] + 100 * self.epoch, Y[4 * index:4 * index + 4]

        def on_epoch_begin(self):
            self.epoch += 1

    iterator = EpochIterator(x=Growing(workers=2, use_multiprocessing=True))
    first, second = [rows_of(iterator)[0][2][0][0] for _ in range(2)]
    assert second - first == 100


def test_generators_go_on_in_the_next_epoch():
    iterator = EpochIterator(x=((X[i:i + 2], Y[i:i + 2]) for i in range(0, 10, 2)), steps_per_epoch=2)
    assert [rows[2][0][0] for rows in rows_of(iterator)] == [0, 4]
    assert [rows[2][0][0] for rows in rows_of(iterator)] == [8, 12]
    with pytest.warns(UserWarning, match="ran out of data"):
        assert [rows[2][0][0] for rows in rows_of(iterator)] == [16]


def test_several_steps_at_once():
    rows = rows_of(EpochIterator(x=X, y=Y, batch_size=3, steps_per_execution=3))
    assert [(first, last, len(batches)) for first, last, batches in rows] == [(0, 2, 3), (3, 5, 1)]


def test_steps_per_epoch_cut_arrays():
    iterator = EpochIterator(x=X, y=Y, batch_size=3, steps_per_epoch=2)
    assert [rows[2][0][0] for rows in rows_of(iterator)] == [0, 6]


def test_data_loader():
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    adapter = get_data_adapter(torch.utils.data.DataLoader(data, batch_size=4))
    assert adapter.num_batches == 2 and [batch_rows(batch) for batch in adapter] == [[0, 2, 4, 6], [8, 10]]


def test_iterators_begin_a_new_epoch_each_time():
    samples = [(X[number], Y[number]) for number in range(10)]
    with Iterator(Reader(samples, shuffle=True, seed=1), None, 4, workers=2) as iterator:
        adapter = get_data_adapter(iterator)
        assert (adapter.batch_size, adapter.num_batches) == (4, 3)
        epochs = [[number for batch in adapter for number in numpy.asarray(batch[1]).tolist()] for _ in range(2)]
        assert epochs == [[sample[1] for sample in Reader(samples, True, seed=1, epoch=epoch)] for epoch in (0, 1)]
    assert get_data_adapter(Iterator(sample for sample in samples)).num_batches is None
    with pytest.raises(ValueError, match="When providing `x` as a dragon.io.Iterator, `y` should not be passed"):
        get_data_adapter(Iterator(samples), Y)


@pytest.mark.parametrize("y", [Y % 3, numpy.eye(3)[Y % 3], (Y % 3)[:, None]], ids=["flat", "one-hot", "column"])
def test_class_weights(y):
    got = class_weight_to_sample_weights(y, {0: 2.0, 2: 0.5})
    assert got.tolist() == [{0: 2.0, 1: 1.0, 2: 0.5}[number] for number in Y % 3]
    x, _, weight = next(iter(get_data_adapter(X, y, class_weight={0: 2.0, 2: 0.5})))
    assert weight.numpy().tolist() == got.tolist()


@pytest.mark.parametrize("data", [(X,), X, (X, Y), [X, Y], (X, Y, Y), {"a": X}], ids=lambda data: type(data).__name__)
def test_packing_is_the_genuine_one(data):
    utils = genuine.keras.utils
    got, expected = unpack_x_y_sample_weight(data), utils.unpack_x_y_sample_weight(data)
    assert len(got) == len(expected) and all(a is b for a, b in zip(got, expected))
    assert type(pack_x_y_sample_weight(*got)) is type(utils.pack_x_y_sample_weight(*expected))


def test_splitting():
    (x, y, weight), (val_x, val_y, _) = split_arrays((X, Y, None), 0.25)
    assert y.numpy().tolist() == Y[:7].tolist() and val_y.numpy().tolist() == Y[7:].tolist()
    assert tuple(x.shape) == (7, 2) and tuple(val_x.shape) == (3, 2) and weight is None


ERRORS = [
    ("Received:\n'x' sizes: 10\n'y' sizes: 9\n", lambda: get_data_adapter(X, Y[:9])),
    ("Received: x=3", lambda: get_data_adapter(3)),
    ("Received: class_weight=", lambda: get_data_adapter(X, Y, Y, class_weight={0: 1})),
    ("Received: 2 targets", lambda: get_data_adapter(X, [Y, Y], class_weight={0: 1})),
    ("Received: shape ", lambda: get_data_adapter(X, [Y, Y], X)),
    ("Received: y of type", lambda: get_data_adapter(Batches(), Y)),
    ("Received: class_weight=", lambda: get_data_adapter((batch for batch in ()), class_weight={0: 1})),
    ("Received: validation_split=1", lambda: split_arrays((X, Y), 1.0)),
    ("Received: \\(1, 2, 3, 4\\)", lambda: unpack_x_y_sample_weight((1, 2, 3, 4))),
]


@pytest.mark.parametrize("text, call", ERRORS, ids=[row[0] for row in ERRORS])
def test_errors_end_in_what_was_received(text, call):
    with pytest.raises(ValueError, match=text):
        call()
