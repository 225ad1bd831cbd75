"""Every reader of files, given damaged ones: the promised errors or an object, no crash, no hang, no great memory.

`make hunt-files` reads 200000 of them.
"""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("h5py")
WORKER = pathlib.Path(__file__).with_name("mutations_worker.py")
COUNT = int(os.environ.get("DRAGON_MUTATIONS", "0"))
SEED = os.environ.get("DRAGON_MUTATIONS_SEED", "0")


def run(tmp_path, count):
    """Run the worker; what it tells are faults."""
    command = [sys.executable, str(WORKER), "--seed", SEED, "--count", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"),
                          cwd=tmp_path, timeout=280 + COUNT // 10)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.long("three thousand damaged files are read by every reader in turn")
def test_few_mutations(tmp_path):
    run(tmp_path, 3000)


@pytest.mark.slow
@pytest.mark.timeout(300 + COUNT // 10)
@pytest.mark.skipif(not COUNT, reason="DRAGON_MUTATIONS tells how many")
def test_many_mutations(tmp_path):
    run(tmp_path, COUNT)
