"""Random tensor programs on the device: eagerly as on the CPU, and from plans, fused ones as well, as eagerly there.

`DRAGON_PROGRAMS="1000 500"` takes other seeds: from which one on, and how many.
"""
import importlib.util
import os
import re
import warnings

import pytest

from dragon.vm import torch
from graph import test_random_programs
from harness import captured
from harness.programs import REJECTED

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="programs are grown in genuine PyTorch")
PER_TEST = 8
FIRST, COUNT = map(int, os.environ.get("DRAGON_PROGRAMS", "0 48").split())
# The device's numbers are others than the CPU's. `empty_like` is none of these words.
DRAWS = re.compile("rand|dropout|bernoulli|normal_|uniform_|rrelu")
CLOSE = 1e-4  # of the largest number
LEVELS = {0: (0, 3), 1: (1,), 2: (2, 3), 3: (3,)}


def differs_from_cpu(program):
    """Return what eager calls on the device show that they do not on the CPU, or None."""
    wanted, slopes, _ = test_random_programs.run_eagerly(program, torch)
    with torch.device("cuda"):
        got, mine, _ = test_random_programs.run_eagerly(program, torch)
    if DRAWS.search(program.source):
        return None
    for call, (one, other) in enumerate(zip(got, wanted, strict=True)):
        # The last is the next random number.
        found = captured.difference(one[:-1], other[:-1], CLOSE)
        if found:
            return f"call {call}, beside the CPU: {found}"
    for call, (one, other) in enumerate(zip(mine, slopes, strict=True)):
        if (one is None) != (other is None):
            return f"call {call}, beside the CPU: gradients on one side only"
        found = one is not None and captured.difference(one, other, CLOSE)
        if found:
            return f"gradients of call {call}, beside the CPU: {found}"
    return None


def differs_as_plan(program, level):
    """Return what differs between eager calls on the device and plans there, or None."""
    with torch.device("cuda"):
        found = test_random_programs.check(program, level, test_random_programs.expect(program))
    return None if found == "eager" else found


def differs(seed):
    """Return what differs for one program, or None."""
    program = test_random_programs.grow(seed)
    try:
        test_random_programs.run_eagerly(program, torch)
    except REJECTED:  # what Dragon refuses and PyTorch allows is told by other tests
        return None
    try:
        found = differs_from_cpu(program)
        for level in LEVELS[seed % len(LEVELS)]:
            found = found or differs_as_plan(program, level)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return found and f"{found}\n{program}"


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, PER_TEST))
def test_programs_are_the_cpus(first, device):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [differs(seed) for seed in range(first, min(first + PER_TEST, FIRST + COUNT))]
    found = [words for words in found if words]
    assert not found, f"{len(found)} programs differ:\n" + "\n".join(found)
