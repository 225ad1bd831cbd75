"""Whichever file of ragged and sparse tensors is read first, dense functions learn of them."""
import pathlib
import subprocess
import sys
import tempfile

import pytest

import dragon.vm.shared

HOME = pathlib.Path(dragon.vm.shared.__path__[0])
FILES = sorted(f"{folder}.{path.stem}" for folder in ("ragged", "sparse") for path in (HOME / folder).glob("[a-z]*.py"))
SCRIPT = """
import dragon.vm.shared.{}
from dragon.vm import tensorflow as tf
rows = tf.ragged.constant([[-1], [2, -3]])
print(tf.abs(rows).to_list(), tf.concat([rows, rows], 0).nrows().numpy(), tf.reduce_sum(rows, 1).numpy().tolist())
"""


@pytest.mark.parametrize("name", FILES)
def test_any_file_may_come_first(name):
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(name)], capture_output=True, text=True, timeout=300,
                          cwd=tempfile.gettempdir())
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[[1], [2, 3]] 4 [-1, -1]"
