"""Whichever file of ragged and sparse tensors is read first, dense functions learn of them."""
import pathlib
import tempfile

import pytest

import dragon.vm.shared
from harness import interpreter

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
    done = interpreter.run(["-c", SCRIPT.format(name)], tempfile.gettempdir(), timeout=300,
                           preload="import numpy, dragon.vm")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[[1], [2, 3]] 4 [-1, -1]"


CALLS = {"expand_dims": (0,), "reverse": ([0],), "squeeze": ([],), "tile": ([1, 2],), "split": (2,), "gather": ([1],),
         "size": (), "rank": (), "one_hot": (3,)}


@pytest.mark.parametrize("name", CALLS)
def test_functions_that_were_looked_up_before_the_first_one_was_made(name):
    """As in `tf.rank(tf.ragged.constant(...))`, the first line of a program."""
    from dragon.vm import tensorflow as tf
    rows = tf.ragged.constant([[1], [2, 0]])
    known = getattr(tf, name)
    while not getattr(known, "_knows_ragged", False):
        known = known.__wrapped__
    before, after = (call(rows, *CALLS[name]) for call in (known.__wrapped__, known))
    assert str(before) == str(after)
