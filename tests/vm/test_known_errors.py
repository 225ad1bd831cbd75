"""Wrong calls, and the classes and sentences that genuine frameworks answer with: recorded there, asked for here."""
import copy
import importlib
import io
import os
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

from dragon.vm import keras, tensorflow, torch

TABLES = pathlib.Path(__file__).parent / "known_errors"
PARTS = ("nn", "nn.functional", "utils.data", "utils.checkpoint", "fx", "distributions",
         "testing", "distributed", "export", "jit", "optim.swa_utils", "nn.utils.parametrize", "nn.utils.prune",
         "nn.utils.stateless")
GROUP = 40  # calls of one test


def read_table(name):
    """Return [(call, class, sentence)]; a call's lines are told as one, with \\n."""
    lines = (TABLES / name).read_text(encoding="utf-8").splitlines()
    rows = []
    for call, answer in zip(lines[::2], lines[1::2]):
        kind, _, sentence = answer.strip().partition(": ")
        rows.append((call.replace("\\n", "\n"), kind, sentence))
    return rows


ROWS = read_table("torch.txt")
OF_TENSORFLOW = read_table("tensorflow.txt")


def names_of(root):
    """Return the names that calls are written with, over a `torch` module, or TensorFlow's and Keras's."""
    if isinstance(root, dict):
        return {**root, "np": np}
    for part in PARTS:
        importlib.import_module(f"{root.__name__}.{part}")
    return {**vars(root.utils.data), "torch": root, "nn": root.nn, "F": root.nn.functional, "np": np, "io": io,
            "pickle": pickle, "copy": copy}


def answer(call, root):
    """Return the error that a call raises, or None."""
    if not isinstance(root, dict):
        root.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(call, names_of(root))
    except Exception as error:
        return error
    return None


def differences(rows, root):
    """Return what is wrong with the answers to calls, a line for each."""
    found = []
    if isinstance(root, dict):
        root["keras"].backend.clear_session()  # layers are counted from here, and errors tell their names
    for call, kind, sentence in rows:
        error = answer(call, root)
        if kind not in [known.__name__.lstrip("_") for known in type(error).__mro__]:
            found.append(f"{call}: raises {error!r}, expected {kind}: {sentence}")
        elif sentence not in str(error):
            found.append(f"{call}: says {error}, expected {sentence!r}")
    return found


@pytest.mark.parametrize("start", range(0, len(ROWS), GROUP))
def test_wrong_calls_are_answered_as_in_pytorch(start):
    assert not differences(ROWS[start:start + GROUP], torch)


@pytest.mark.parametrize("start", range(0, len(OF_TENSORFLOW), GROUP))
def test_wrong_calls_are_answered_as_in_tensorflow(start):
    assert not differences(OF_TENSORFLOW[start:start + GROUP], {"tf": tensorflow, "keras": keras})


@pytest.mark.slow
@pytest.mark.usefixtures("genuine_checks_arguments")
def test_the_table_is_what_genuine_pytorch_says():
    genuine = pytest.importorskip("torch")
    assert "dragon" not in genuine.__file__
    assert not differences(ROWS, genuine)


@pytest.mark.slow
@pytest.mark.long("genuine TensorFlow is asked for all errors of the table")
def test_the_table_is_what_genuine_tensorflow_says(tmp_path):
    """Its own kernels, in a process of theirs: those of oneDNN say other things, and end the process for some calls."""
    genuine = pytest.importorskip("tensorflow")
    assert "dragon" not in genuine.__file__
    code = ("import keras, tensorflow, test_known_errors\n"
            "names = {'tf': tensorflow, 'keras': keras}\n"
            "print(*test_known_errors.differences(test_known_errors.OF_TENSORFLOW, names), sep='\\n', end='')")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=280, cwd=tmp_path,
                          env=dict(os.environ, TF_ENABLE_ONEDNN_OPTS="0", PYTHONPATH=os.path.dirname(__file__)))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]


def test_engine_errors_stay_what_they_were():
    with pytest.raises(ValueError, match=r"^add: got shapes \(2,\) and \(3,\), expected shapes that broadcast"):
        torch.ones(2) + torch.ones(3)
    with pytest.raises(RuntimeError, match="size of tensor a .2. must match"):
        torch.ones(2) + torch.ones(3)


def test_an_error_that_is_two_things_travels():
    with pytest.raises(IndexError) as caught:
        torch.unbind(torch.tensor(1.0))
    twin = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(twin, IndexError) and isinstance(twin, ValueError) and str(twin) == str(caught.value)
    assert copy.copy(caught.value).args == caught.value.args


def test_a_sentence_is_told_once():
    with pytest.raises(ValueError) as caught:
        torch.ones(2) + torch.ones(3)
    again = type(caught.value)(str(caught.value))
    assert str(again) == str(caught.value)
