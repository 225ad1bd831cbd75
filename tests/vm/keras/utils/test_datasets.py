"""keras.datasets read small files of the genuine ones' forms as genuine Keras does."""
import gzip
import importlib
import os
import pickle
import struct

import numpy as np
import pytest

import dragon.vm.keras as keras
from dragon.vm.keras.datasets import cifar, sources
from harness import genuine

RANDOM = np.random.RandomState(0)


def ragged(count):
    made = np.empty(count, dtype=object)
    made[:] = [RANDOM.randint(1, 40, RANDOM.randint(3, 12)).tolist() for _ in range(count)]
    return made


def write_files(folder):
    """Write a file of each data set's form."""
    pictures = {f"x_{part}": RANDOM.randint(0, 255, (4, 28, 28)).astype("uint8") for part in ("train", "test")}
    np.savez(folder / "mnist.npz", **pictures, y_train=np.arange(4), y_test=np.arange(4))
    np.savez(folder / "imdb.npz", x_train=ragged(9), x_test=ragged(7), y_train=np.arange(9) % 2,
             y_test=np.arange(7) % 2)
    np.savez(folder / "reuters.npz", x=ragged(20), y=np.arange(20))
    for name in ("boston", "california"):
        np.savez(folder / f"{name}_housing.npz", x=RANDOM.rand(10, 3), y=RANDOM.rand(10))
    for part in ("train", "t10k"):
        with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2i", 2049, 3) + bytes([1, 2, 3]))
        with gzip.open(folder / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4i", 2051, 3, 28, 28) + RANDOM.bytes(3 * 784))
    batches = {f"cifar-10-batches-py/{name}": 10000
               for name in [*[f"data_batch_{i}" for i in range(1, 6)], "test_batch"]}
    for name, count in {**batches, "cifar-100-python/train": 6, "cifar-100-python/test": 4}.items():
        os.makedirs(folder / os.path.dirname(name), exist_ok=True)
        labels = (np.arange(count) % 10).tolist()
        batch = {b"data": np.full((count, 3072), 7, "uint8"), b"labels": labels, b"fine_labels": labels,
                 b"coarse_labels": labels}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of such files."""
    made = tmp_path_factory.mktemp("datasets")
    write_files(made)
    return made


CALLS = [("mnist", {}), ("fashion_mnist", {}), ("cifar10", {}), ("cifar100", {}),
         ("cifar100", {"label_mode": "coarse"}), ("imdb", {}), ("imdb", {"num_words": 20, "skip_top": 3, "maxlen": 9}),
         ("imdb", {"oov_char": None, "num_words": 9}),
         ("reuters", {}), ("reuters", {"test_split": 0.4, "start_char": None}), ("boston_housing", {}),
         ("california_housing", {"version": "small", "test_split": 0.3, "seed": 3})]


@pytest.mark.parametrize("name, options", CALLS, ids=str)
def test_load_data(folder, monkeypatch, name, options):
    def find(fname=None, origin=None, extract=False, **_):
        return str(folder) if extract else str(folder / os.path.basename(fname))
    monkeypatch.setattr(sources, "get_file", find)
    there = importlib.import_module(f"keras.src.datasets.{name}") if genuine.keras else None
    monkeypatch.setattr(there, "get_file", find)
    for own, other in zip(getattr(keras.datasets, name).load_data(**options), there.load_data(**options)):
        for found, wanted in zip(own, other):
            assert found.shape == wanted.shape and found.dtype == wanted.dtype
            assert found.tolist() == wanted.tolist() if found.dtype == object else np.array_equal(found, wanted)


def test_pickles_run_nothing(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, ("true",)
    (tmp_path / "bad").write_bytes(pickle.dumps({b"data": Evil()}))
    with pytest.raises(pickle.UnpicklingError, match="Refusing to read"), open(tmp_path / "bad", "rb") as file:
        cifar.ArrayUnpickler(file).load()


def test_names():
    ours, theirs = ({name for name in dir(found.datasets) if name[0] != "_"} for found in (keras, genuine.keras))
    assert ours - theirs == {"cifar", "sources", "words"} and not theirs - ours  # files that several of them share
    for name in ("image", "sequence"):
        here, there = (getattr(module.preprocessing, name) for module in (keras, genuine.keras))
        assert [item for item in dir(there) if item[0] != "_" and not hasattr(here, item)] == []
