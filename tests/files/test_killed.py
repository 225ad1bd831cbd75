"""Every writer killed at random moments, and on full disks: a file holds its old content or the new, nothing else.

`make hunt-files` kills each writer a hundred times, and mounts small disks where that is allowed.
"""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("h5py")
pytest.importorskip("onnx")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from writers import COMPOSED  # noqa: E402  (the path must be set before)

WORKER = pathlib.Path(__file__).with_name("kill_worker.py")
KILLS = int(os.environ.get("DRAGON_KILLS", "0"))
SEED = os.environ.get("DRAGON_KILLS_SEED", "0")


def run(tmp_path, *options):
    """Run the worker; what it tells are faults."""
    done = subprocess.run([sys.executable, str(WORKER), "--seed", SEED, *options], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1"), cwd=tmp_path, timeout=KILLS * 60 + 280)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr[-2000:]


@pytest.mark.long("writers of every format are killed in processes of their own")
def test_few_kills(tmp_path):
    """Those that are a single call of `write` die as `torch.save` does."""
    run(tmp_path, "--kills", "1", "torch.save", "torch.export.save", *COMPOSED)


@pytest.mark.slow
@pytest.mark.timeout(KILLS * 60 + 300)
@pytest.mark.skipif(not KILLS, reason="DRAGON_KILLS tells how many")
def test_many_kills(tmp_path):
    run(tmp_path, "--kills", str(KILLS), "--mounted")
