"""What the system says of files that cannot be written or read, beside what the genuine guests make of it."""
import pickle

import pytest

from dragon.vm import tensorflow as our_tensorflow
from dragon.vm import torch as our_torch

PLACES = {"in no folder": "none/x", "a folder": "folder", "behind a file": "file/x"}


def tensors(torch):
    return {"a": torch.ones(3)}


def module(torch):
    return torch.nn.Linear(2, 2)


def variables(tf):
    made = tf.Module()
    made.v = tf.Variable(1.0)
    return made


TORCH = {
    "torch.save": lambda torch, path: torch.save(tensors(torch), path),
    "torch.load": lambda torch, path: torch.load(path),
    "torch.jit.save": lambda torch, path: torch.jit.save(torch.jit.script(module(torch)), path),
    "torch.jit.load": lambda torch, path: torch.jit.load(path),
    "torch.export.save": lambda torch, path: torch.export.save(
        torch.export.export(module(torch), (torch.ones(1, 2),)), path),
    "torch.export.load": lambda torch, path: torch.export.load(path),
}
TENSORFLOW = {
    "tf.io.read_file": lambda tf, path: tf.io.read_file(path),
    "tf.io.TFRecordWriter": lambda tf, path: tf.io.TFRecordWriter(path).close(),
    "tf.data.TFRecordDataset": lambda tf, path: list(tf.data.TFRecordDataset(path)),
    "tf.io.gfile.GFile": lambda tf, path: tf.io.gfile.GFile(path).read(),
}


def kind_of(call, side, path):
    """Return the classes of what a call raises."""
    with pytest.raises(Exception) as caught:
        call(side, path)
    return [kind.__name__ for kind in type(caught.value).__mro__]


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a folder and a file."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"bytes")
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", (*TORCH, *TENSORFLOW))
def test_as_genuine(name, place, folder):
    guest, calls, ours = (("torch", TORCH, our_torch) if name in TORCH else
                          ("tensorflow", TENSORFLOW, our_tensorflow))
    theirs = pytest.importorskip(guest)
    path = str(folder / PLACES[place])
    expected = kind_of(calls[name], theirs, path)[0]
    assert expected in kind_of(calls[name], ours, path)
    assert sorted(one.name for one in folder.iterdir()) == ["file", "folder"]


def test_folders_that_cannot_be_made(folder):
    for side in (our_tensorflow, pytest.importorskip("tensorflow")):
        for call in (lambda path: side.saved_model.save(variables(side), path),
                     lambda path: side.train.Checkpoint(v=side.Variable(1.0)).write(path)):
            with pytest.raises(side.errors.OpError):
                call(str(folder / "file" / "x"))


def test_what_the_system_said_stays(folder):
    with pytest.raises(OSError, match="Is a directory") as caught:
        our_torch.save([1], str(folder / "folder"))
    assert isinstance(caught.value, RuntimeError) and caught.value.errno == 21
    assert pickle.loads(pickle.dumps(caught.value)).errno == 21
