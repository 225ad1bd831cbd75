"""Damaged pictures in a process of their own: pixels or the promised error, whatever the damage."""
import ast
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("PIL")
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "fuzz" / "pictures.py"


def test_damaged_pictures_are_read_or_refused(tmp_path):
    done = subprocess.run([sys.executable, str(SCRIPT), "0", "400"], capture_output=True, text=True, cwd=tmp_path,
                          env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"), timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    ends = ast.literal_eval(done.stdout)
    assert set(ends) == {"read", "refused"} and min(ends.values()) > 200
