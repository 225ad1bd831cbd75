"""Figures as people read them: `torch.utils.benchmark`."""
import enum
import math

from dragon.core.scopes import contextmanager
from dragon.vm import torch

ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


class Language(enum.Enum):
    """What statements are written in; only Python is timed."""

    PYTHON = 0
    CPP = 1


def select_unit(t):
    """Return (unit, seconds in it) in which a time is a number from 1 to 1000."""
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(int(math.log10(t) // 3) if t > 0 else 0, "s")
    return unit, {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def unit_to_english(u):
    """Return a unit's name."""
    return ENGLISH[u]


def trim_sigfig(x, n):
    """Return a number with so many figures that count: 3.14159 with two is 3.1."""
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    if x == 0:
        return 0.0
    scale = 10.0 ** (math.ceil(math.log10(abs(x))) - n)
    return float(torch.tensor(torch.tensor(x / scale).round() * scale))


def ordered_unique(elements):
    """Return elements without those that have come before."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n):
    """Have operators use so many threads within a `with` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
