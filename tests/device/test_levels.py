"""Levels of processors give the same numbers within written bounds; `make hunt-levels` tries all operators."""
import os
import subprocess
import sys

import numpy
import pytest

from harness import level_bounds
from harness.tools import load

levels = load("tests/fuzz/levels.py")
SHORT = "^(exp|rows_matmul|matmul|sum|softmax|gaussian_blur|scaled_dot_product_attention|sort|lerp)$"


def ask(level):
    """Import Dragon at a level, and compute something."""
    code = "import dragon; from dragon.core import config; dragon.ops.exp(dragon.ones((9,))); print(config.cpu_level())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=os.sep,
                          env={**os.environ, "DRAGON_CPU_LEVEL": level})


def test_a_level_that_the_processor_lacks_is_refused():
    beyond = [level for level, why in levels.list_levels()[1].items() if "no more than" in why]
    if not beyond:
        pytest.skip("this processor has all levels that there are")
    done = ask(beyond[0])
    assert done.returncode == 1 and f"got DRAGON_CPU_LEVEL={beyond[0]}, expected a level that this processor has" \
        in done.stderr


def test_levels_agree(tmp_path):
    found, left_out = levels.list_levels()
    if len(found) < 2:
        pytest.skip(f"this build has not two levels to compare: {left_out}")
    part = levels.hunt(["--dtypes", "first", "--only", SHORT, "--every", "1", "--start", "0"], found, tmp_path)
    assert len(part) > 40
    assert not [entry for entry in part if entry[-1]]


def judge(family, name, dtype, one, other, largest=1.0, count=1):
    """Return what is too far apart of two arrays."""
    return level_bounds.judge((family, name, dtype, "eager", ""), (largest, count), [(dtype, one)], [(dtype, other)])[2]


def test_bounds():
    one = numpy.array([1.0, -0.0, numpy.nan, numpy.inf, 1e-45], "float32")
    other = one.copy()
    assert judge("index", "take", "float32", one, other) is None
    other[0] = numpy.nextafter(one[0], 2, dtype="float32")
    assert "1 of 5 differ" in judge("index", "take", "float32", one, other)
    assert judge("math", "exp", "float32", one, other) is None
    assert judge("matmul", "mm", "float32", one + 7, other + 7, 8.0, 64) is None
    other[0] += 1e-5
    assert judge("math", "exp", "float32", one, other) and judge("matmul", "mm", "float32", one, other)
    for place, value in ((1, 0.0), (2, 1.0), (3, -numpy.inf), (4, 0.0)):  # signs, NaN, infinity, what is denormal
        wrong = one.copy()
        wrong[place] = value
        assert judge("array", "copy", "float32", one, wrong)
