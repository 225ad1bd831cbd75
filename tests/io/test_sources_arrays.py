"""Rows of arrays in files, and folders of pictures."""
import os
import pickle

import numpy as np
import pytest

from dragon.io import DataError
from dragon.io.sources import NumPyArray, PictureFolder, RawArray


@pytest.mark.parametrize("dtype", ["f4", ">i2", "u1", "c8", "?", "S3", "U2", "M8[s]", [("a", "f4"), ("b", "i2")]])
@pytest.mark.parametrize("shape", [(5,), (5, 2, 3), (0, 3), (5, 0)])
def test_rows_of_arrays_are_numpys(tmp_path, dtype, shape):
    array = np.zeros(shape, dtype)
    if not isinstance(dtype, list):
        array[...] = np.arange(array.size).reshape(shape) % 2
    np.save(tmp_path / "a.npy", array)
    array.tofile(tmp_path / "a.raw")
    source = NumPyArray(tmp_path / "a.npy")
    rows = [array[number:number + 1].tobytes() for number in range(shape[0])]
    assert len(source) == shape[0]
    for found, row in zip(source, rows):
        assert found.dtype == array.dtype and found.shape == shape[1:] and found.tobytes() == row
        assert found.flags.writeable
    if array.size:
        raw = RawArray(tmp_path / "a.raw", array.dtype, shape[1:])
        assert len(raw) == 5 and [row.tobytes() for row in raw] == rows
        assert [row.tobytes() for row in pickle.loads(pickle.dumps(raw)).read([4, 0])] == [rows[4], rows[0]]


def test_several_files_and_what_stands_before_numbers(tmp_path):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.arange(6).reshape(3, 2) + ord(name))
    source = NumPyArray(str(tmp_path / "*.npy"))
    assert source[4].tolist() == [100, 101] and source.chunks() == [range(3), range(3, 6)]
    (tmp_path / "a.raw").write_bytes(b"head" + np.arange(4, dtype="<i2").tobytes())
    assert [row.tolist() for row in RawArray(tmp_path / "a.raw", "<i2", (2,), 4)] == [[0, 1], [2, 3]]


def test_what_cannot_be_read_by_rows_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(np.zeros((3, 4))))
    with pytest.raises(DataError, match="Fortran's order"):
        NumPyArray(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(DataError, match="dtype object"):
        NumPyArray(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.float32(1))
    with pytest.raises(DataError, match="without axes"):
        NumPyArray(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.zeros((100, 10)))
    whole = (tmp_path / "a.npy").read_bytes()
    source = NumPyArray(tmp_path / "a.npy")
    for data, letter in ((whole[:-1], "for an array"), (whole[:50], "no .npy file"), (b"", "no .npy file"),
                         (b"PK\3\4" + whole, "no .npy file"), (whole.replace(b"(100, 10)", b"(10000000, 1000000000)"),
                                                               "for an array|no .npy"),
                         (whole.replace(b"(100, 10)", b"(-10, 10)"), "for an array|no .npy"),
                         (whole.replace(b"), }", b"(((("), "no .npy file"),
                         (whole.replace(b"<f8", b"|O8"), "no .npy|dtype")):
        (tmp_path / "a.npy").write_bytes(data)
        with pytest.raises(DataError, match=letter):
            NumPyArray(tmp_path / "a.npy")
    assert source[99].shape == (10,)
    os.truncate(tmp_path / "a.npy", 200)
    with pytest.raises(DataError, match="fewer bytes"):
        source[99]
    (tmp_path / "a.raw").write_bytes(bytes(7))
    with pytest.raises(DataError, match="got 7 bytes, expected rows of 4"):
        RawArray(tmp_path / "a.raw", "f4")
    for words in ({"dtype": "O"}, {"dtype": "f4", "shape": (0,)}, {"dtype": "f4", "offset": -1}):
        with pytest.raises(ValueError, match="RawArray: got"):
            RawArray(tmp_path / "a.raw", **words)


def make_folder(root):
    """Make a folder of three classes and return it."""
    for name in ("dog/b.JPG", "dog/a.png", "cat/deep/er/c.jpeg", "cat/note.txt", "ant/x.webp", "top.jpg", "empty/y.md"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return root


def test_folders_are_classes(tmp_path):
    source = PictureFolder(make_folder(tmp_path))
    assert source.classes == ["ant", "cat", "dog"]
    assert [(sample["label"], sample["image"].decode()) for sample in source] == [
        (0, "ant/x.webp"), (1, "cat/deep/er/c.jpeg"), (2, "dog/a.png"), (2, "dog/b.JPG")]
    assert source[-1]["path"] == str(tmp_path / "dog/b.JPG") and "b.JPG" in source.describe(3)
    chosen = PictureFolder(tmp_path, classes=["dog", "ant"], extensions=[".JPG", ".webp"])
    assert [sample["label"] for sample in chosen] == [1, 0]
    loose = PictureFolder(tmp_path, labels=False)
    assert len(loose) == 5 and loose[0] == {"image": b"top.jpg", "label": None, "path": str(tmp_path / "top.jpg")}
    assert list(pickle.loads(pickle.dumps(source))) == list(source)


def test_folders_are_those_of_torchvision(tmp_path):
    from dragon.vm import torchvision
    theirs = torchvision.datasets.DatasetFolder(make_folder(tmp_path), lambda path: path, (".jpg", ".jpeg", ".png"),
                                                allow_empty=True)
    ours = PictureFolder(tmp_path, extensions=(".jpg", ".jpeg", ".png"), classes=theirs.classes[1:3])
    assert [(path, theirs.classes[label]) for path, label in theirs.samples] == [
        (path, ours.classes[label]) for path, label in ours.samples]


def test_folders_without_pictures_are_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="without pictures in folders of classes"):
        PictureFolder(tmp_path)
    make_folder(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"classes \['bird'\]"):
        PictureFolder(tmp_path, classes=["dog", "bird"])
    with pytest.raises(NotADirectoryError):
        PictureFolder(tmp_path / "top.jpg")
    source = PictureFolder(tmp_path)
    os.remove(tmp_path / "dog/a.png")
    with pytest.raises(FileNotFoundError):
        source[2]
