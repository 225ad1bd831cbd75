"""Training whose processes are killed goes on as if nothing had been; `make hunt-ranks` plays many more rounds."""
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.long("processes that train are killed twelve times, and start anew")
def test_a_death_is_told_by_all_and_changes_no_loss(tmp_path):
    path = pathlib.Path(__file__).with_name("rank_kills.py")
    done = subprocess.run([sys.executable, str(path), "12", "--seed", "7"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("12 kills, 0 went wrong, left in shared memory: nothing\n")
