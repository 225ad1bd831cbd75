"""`dragon stubs` writes packages under the guests' names, and touches nothing that it has not written."""
import ast
import json
import os
import pathlib
import subprocess
import sys

import pytest

import dragon

ROOT = str(pathlib.Path(dragon.__file__).resolve().parents[1])


def run(folder, *words):
    """Run the command in a folder, on the Dragon that is tested."""
    environment = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.run([sys.executable, "-m", "dragon", "stubs", *words], cwd=folder, capture_output=True, text=True,
                          env=environment, timeout=300)


def test_writes_every_guest_where_pyright_looks(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.split(": ")[0] for line in done.stdout.splitlines()] == [
        f"typings/{guest}" for guest in ("keras", "tensorflow", "torch", "torchvision")]
    typings = tmp_path / "typings"
    for path in typings.rglob("*.pyi"):
        ast.parse(path.read_text(encoding="utf-8"))
    assert "from dragon.vm.torch.nn import Conv2d as Conv2d" in (typings / "torch/nn/__init__.pyi").read_text()
    assert "from . import nn as nn" in (typings / "torch/__init__.pyi").read_text()
    # Parts of a guest that are another one's modules, and modules that stand for what is absent.
    assert "from . import keras as keras" in (typings / "tensorflow/__init__.pyi").read_text()
    layers = (typings / "tensorflow/keras/layers/__init__.pyi").read_text()
    assert "from dragon.vm.keras.layers import Dense as Dense" in layers
    assert "def async_execution" in (typings / "torch/distributed/rpc/functions.pyi").read_text()
    assert not (typings / "torch/core").exists()


def test_writes_again_and_takes_away_what_is_gone(tmp_path):
    assert run(tmp_path, "here", "--only", "torchvision").returncode == 0
    stale = tmp_path / "here/torchvision/gone.pyi"
    stale.write_text("")
    assert run(tmp_path, "here", "--only", "torchvision").returncode == 0
    assert not stale.exists()
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["torchvision"]
    told = json.loads(run(tmp_path, "here", "--only", "torchvision", "--json").stdout)
    assert told["folder"] == "here" and told["stubs"]["torchvision"] > 10


def test_leaves_alone_what_it_has_not_written(tmp_path):
    (tmp_path / "typings/torch").mkdir(parents=True)
    (tmp_path / "typings/torch/__init__.pyi").write_text("mine: int\n")
    done = run(tmp_path, "--only", "torch")
    assert done.returncode == 2
    assert done.stderr == ("dragon stubs: got typings/torch, which this command has not written, expected a folder "
                           "without it\n")
    assert (tmp_path / "typings/torch/__init__.pyi").read_text() == "mine: int\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_says_where_it_may_not_write(tmp_path):
    tmp_path.chmod(0o500)
    done = run(tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("dragon stubs: ") and "Permission denied" in done.stderr


def test_says_where_a_file_is_in_the_way(tmp_path):
    (tmp_path / "typings").write_text("")
    done = run(tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("dragon stubs: ") and "typings" in done.stderr


def test_help_has_examples_and_a_wrong_word_ends_with_2(tmp_path):
    done = run(tmp_path, "--help")
    assert done.returncode == 0 and "dragon stubs --only torch" in done.stdout
    assert run(tmp_path, "--only", "numpy").returncode == 2
