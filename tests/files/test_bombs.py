"""Small files that claim to hold much, or nest deeply, are refused, and cost neither the process nor its memory."""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("h5py")
pytest.importorskip("PIL")
WORKER = pathlib.Path(__file__).with_name("bomb_readers.py")


@pytest.mark.long("every reader of files is given files that would grow without bound")
def test_bombs_are_refused(tmp_path):
    """One process for all: its children share what it has imported."""
    done = subprocess.run([sys.executable, str(WORKER)], capture_output=True, text=True, cwd=tmp_path, timeout=280,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout[-4000:] + done.stderr[-2000:]
