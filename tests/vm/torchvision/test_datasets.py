"""Data sets in local files beside genuine torchvision's, made small."""
import gzip
import hashlib
import pickle
import struct

import genuine
import numpy
import pytest
import torch
from compare import same, seeded

tv = genuine.load()
from PIL import Image  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import datasets, transforms  # noqa: E402

numbers = numpy.random.default_rng(0)
BOTH = (datasets, tv.datasets)


def write_idx(path, values):
    codes = {"uint8": 8, "int32": 12, "float32": 13, "int16": 11}
    path.parent.mkdir(parents=True, exist_ok=True)
    head = struct.pack(">HBB", 0, codes[str(values.dtype)], values.ndim)
    head += struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(head + values.astype(values.dtype.newbyteorder(">")).tobytes())


def equal_items(mine, theirs):
    assert len(mine) == len(theirs) and repr(mine) == repr(theirs)
    for index in range(len(theirs)):
        (image, target), (wanted_image, wanted_target) = mine[index], theirs[index]
        same(image, wanted_image)
        assert target == wanted_target and type(target) is type(wanted_target)


@pytest.mark.parametrize("name", ("MNIST", "FashionMNIST", "KMNIST"))
@pytest.mark.parametrize("train", (True, False))
def test_mnist(name, train, tmp_path):
    for part in ("train", "t10k"):
        write_idx(tmp_path / name / "raw" / f"{part}-images-idx3-ubyte",
                  numbers.integers(0, 256, (4, 28, 28)).astype("uint8"))
        write_idx(tmp_path / name / "raw" / f"{part}-labels-idx1-ubyte", numbers.integers(0, 10, 4).astype("uint8"))
    mine, theirs = (getattr(module, name)(str(tmp_path), train=train, download=True) for module in BOTH)
    equal_items(mine, theirs)
    same(mine.data, theirs.data)
    same(mine.targets, theirs.targets)
    assert mine.class_to_idx == theirs.class_to_idx


def test_emnist_and_qmnist(tmp_path):
    for part in ("train", "test"):
        raw = tmp_path / "EMNIST" / "raw"
        write_idx(raw / f"emnist-letters-{part}-images-idx3-ubyte",
                  numbers.integers(0, 256, (3, 28, 28)).astype("uint8"))
        write_idx(raw / f"emnist-letters-{part}-labels-idx1-ubyte", numbers.integers(0, 26, 3).astype("uint8"))
        raw = tmp_path / "QMNIST" / "raw"
        write_idx(raw / f"qmnist-{part}-images-idx3-ubyte", numbers.integers(0, 256, (3, 28, 28)).astype("uint8"))
        write_idx(raw / f"qmnist-{part}-labels-idx2-int", numbers.integers(0, 9, (3, 8)).astype("int32"))
    equal_items(*(module.EMNIST(tmp_path, "letters", train=False) for module in BOTH))
    equal_items(*(module.QMNIST(tmp_path, "train") for module in BOTH))
    with pytest.raises(ValueError):
        datasets.EMNIST(tmp_path, "nothing")


@pytest.mark.parametrize("dtype", ("uint8", "int16", "int32", "float32"))
def test_idx(dtype, tmp_path):
    write_idx(tmp_path / "a", (numbers.random((3, 4)) * 100).astype(dtype))
    theirs = tv.datasets.mnist.read_sn3_pascalvincent_tensor(tmp_path / "a")
    same(datasets.mnist.read_sn3_pascalvincent_tensor(tmp_path / "a"), theirs)


def write_pickle(path, value, sums):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(value, protocol=2))
    sums[path.name] = hashlib.md5(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name,key", (("CIFAR10", "labels"), ("CIFAR100", "fine_labels")))
def test_cifar(name, key, tmp_path, monkeypatch):
    sums, theirs = {}, getattr(tv.datasets, name)
    for file, _ in theirs.train_list + theirs.test_list:
        write_pickle(tmp_path / theirs.base_folder / file, {
            "data": numbers.integers(0, 256, (2, 3072)).astype("uint8"), key: [3, 1]}, sums)
    write_pickle(tmp_path / theirs.base_folder / theirs.meta["filename"], {theirs.meta["key"]: ["a", "b", "c", "d"]},
                 sums)
    for module in BOTH:
        kind = getattr(module, name)
        for field in ("train_list", "test_list"):
            monkeypatch.setattr(kind, field, [[file, sums[file]] for file, _ in getattr(kind, field)])
        monkeypatch.setattr(kind, "meta", {**kind.meta, "md5": sums[kind.meta["filename"]]})
    for train in (True, False):
        mine, wanted = (getattr(module, name)(tmp_path, train=train) for module in BOTH)
        equal_items(mine, wanted)
        assert mine.classes == wanted.classes and mine.targets == wanted.targets


def test_hostile_pickle_is_refused_by_name(tmp_path):
    class Hostile:
        def __reduce__(self):
            return print, ("never",)
    (tmp_path / "a").write_bytes(pickle.dumps({"data": Hostile()}))
    with pytest.raises(pickle.UnpicklingError, match="print"):
        datasets.utils.load_arrays(tmp_path / "a")


def test_folders(tmp_path):
    for name in ("dog", "cat"):
        (tmp_path / name / "deep").mkdir(parents=True)
        Image.fromarray(numbers.integers(0, 256, (5, 6, 3)).astype("uint8")).save(tmp_path / name / "1.png")
        Image.fromarray(numbers.integers(0, 256, (5, 6)).astype("uint8")).save(tmp_path / name / "deep" / "2.bmp")
        (tmp_path / name / "3.txt").write_text("no image")
    mine, theirs = (module.ImageFolder(str(tmp_path)) for module in BOTH)
    equal_items(mine, theirs)
    assert mine.samples == theirs.samples and mine.class_to_idx == theirs.class_to_idx
    (tmp_path / "empty").mkdir()
    for module in BOTH:
        with pytest.raises(FileNotFoundError):
            module.ImageFolder(str(tmp_path))
        assert len(module.ImageFolder(str(tmp_path), allow_empty=True)) == 4
        with pytest.raises(ValueError):
            module.folder.make_dataset(str(tmp_path))
    batches = dt.utils.data.DataLoader(
        datasets.ImageFolder(str(tmp_path), transforms.ToTensor(), allow_empty=True), batch_size=2, shuffle=True)
    wanted = torch.utils.data.DataLoader(
        tv.datasets.ImageFolder(str(tmp_path), tv.transforms.ToTensor(), allow_empty=True), batch_size=2, shuffle=True)
    for (images, targets), (right, right_targets) in zip(seeded(1, list, batches), seeded(1, list, wanted)):
        same(images, right)
        same(targets, right_targets)


def test_fake_data():
    def make(module, T):
        return module.FakeData(3, (3, 5, 6), 4, transform=T.ToTensor(), random_offset=7)
    mine, theirs = make(datasets, transforms), make(tv.datasets, tv.transforms)
    assert repr(mine) == repr(theirs)
    for index in range(3):
        (image, target), (wanted, wanted_target) = mine[index], theirs[index]
        # Noise is equal to a few ulp, and a pixel is cut off to a byte.
        assert numpy.mean(image.numpy() != wanted.numpy()) < 0.02 and target == wanted_target
    with pytest.raises(IndexError):
        mine[3]


def test_stl10(tmp_path, monkeypatch):
    folder = tmp_path / "stl10_binary"
    folder.mkdir()
    for file, count in (("train_X.bin", 3), ("test_X.bin", 2), ("unlabeled_X.bin", 2)):
        (folder / file).write_bytes(numbers.integers(0, 256, (count, 3, 96, 96)).astype("uint8").tobytes())
    (folder / "train_y.bin").write_bytes(bytes([1, 3, 2]))
    (folder / "test_y.bin").write_bytes(bytes([10, 4]))
    (folder / "fold_indices.txt").write_text("0 2\n1\n")
    for module in BOTH:
        for field in ("train_list", "test_list"):
            monkeypatch.setattr(module.STL10, field, [[file, None] for file, _ in getattr(module.STL10, field)])
    for options in ({}, {"split": "test"}, {"split": "train+unlabeled"}, {"split": "unlabeled"}, {"folds": 0}):
        equal_items(*(module.STL10(str(tmp_path), **options) for module in BOTH))


def test_svhn(tmp_path, monkeypatch):
    savemat = pytest.importorskip("scipy.io").savemat
    savemat(tmp_path / "train_32x32.mat", {"X": numbers.integers(0, 256, (32, 32, 3, 4)).astype("uint8"),
                                           "y": numpy.array([[10], [1], [2], [9]], "uint8")})
    for module in BOTH:
        monkeypatch.setitem(module.SVHN.split_list, "train", ["", "train_32x32.mat", None])
    equal_items(*(module.SVHN(str(tmp_path)) for module in BOTH))


def test_what_is_not_there(tmp_path):
    for call in (lambda: datasets.MNIST(tmp_path), lambda: datasets.CIFAR10(tmp_path), lambda: datasets.STL10(tmp_path),
                 lambda: datasets.SVHN(tmp_path)):
        with pytest.raises(RuntimeError, match="not found"):
            call()
    with pytest.raises(RuntimeError, match="put the file at"):
        datasets.utils.download_url("http://127.0.0.1:9/a.gz", tmp_path)
    with pytest.raises(ValueError):
        datasets.VisionDataset(transforms=len, transform=len)


def test_archives(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"hello"))
    assert open(datasets.utils.extract_archive(tmp_path / "a.txt.gz")).read() == "hello"
    assert datasets.utils.check_integrity(tmp_path / "a.txt", hashlib.md5(b"hello").hexdigest())
    with pytest.raises(RuntimeError, match="Known suffixes"):
        datasets.utils.extract_archive(tmp_path / "a.txt")


@pytest.mark.parametrize("name", ("cifar.CIFAR10", "stl10.STL10"))
def test_suites_put_their_own_check_in_the_place_of_ours(name, monkeypatch):
    """As torchvision's does in the modules of all data sets that have one."""
    asked = []
    room, _, kind = name.partition(".")
    module = getattr(datasets, room)
    monkeypatch.setattr(module, "check_integrity", lambda path, md5=None: not asked.append(path))
    made = object.__new__(getattr(module, kind))
    made.root = "nowhere"
    assert made._check_integrity() and len(asked) == len(made.train_list + made.test_list)
