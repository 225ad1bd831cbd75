"""Some of the programs that `tests/fuzz/autograph.py` grows: one graph each, equal to plain Python."""
import pytest
from fuzz.autograph import Grower, compare

from dragon.vm import tensorflow as tf


@pytest.mark.parametrize("seed", range(12))
def test_programs(seed):
    assert compare(Grower(seed).text(), tf) == (None, None)
