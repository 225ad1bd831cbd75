"""Calls of the system that fail, one or all from one on, while files are written: the old content stays, nothing else.

`make hunt-files` has every writer's fail. A library that is loaded before the system's makes them fail: a compiler is
needed.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("h5py")
pytest.importorskip("onnx")
HERE = pathlib.Path(__file__).resolve().parent
TRIES = int(os.environ.get("DRAGON_KILLS", "0"))
SEED = os.environ.get("DRAGON_KILLS_SEED", "0")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The library that makes calls fail."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no compiler of C")
    path = tmp_path_factory.mktemp("library") / "failing_calls.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(path), str(HERE / "failing_calls.c"), "-ldl"], check=True)
    return str(path)


def run(library, tmp_path, *options):
    """Run the worker; what it tells are faults."""
    done = subprocess.run([sys.executable, str(HERE / "failing_worker.py"), "--seed", SEED, *options],
                          capture_output=True, text=True, cwd=tmp_path, timeout=TRIES * 60 + 280,
                          env=dict(os.environ, OMP_NUM_THREADS="1", LD_PRELOAD=library))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr[-2000:]


def test_few_failing_calls(library, tmp_path):
    run(library, tmp_path, "--tries", "4", "torch.save", "torch.export.save", "keras, weights in several files",
        "tf.train.Checkpoint", "tf.saved_model.save")


@pytest.mark.slow
@pytest.mark.timeout(TRIES * 60 + 300)
@pytest.mark.skipif(not TRIES, reason="DRAGON_KILLS tells how many")
def test_many_failing_calls(library, tmp_path):
    run(library, tmp_path, "--tries", str(TRIES))
