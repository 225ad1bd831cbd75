"""Who hands out sizes while a program is exported, and remembers how every number came about."""
import sys
from typing import Any, NamedTuple

from dragon import _C
from dragon.core.capture.lines import user_line


TEXTS = ("__repr__", "__str__", "__format__")  # a letter that tells of a size decides nothing by it


class Decision(NamedTuple):
    """What the program decided by sizes: that `a` relation `b` held, or that it did not."""

    relation: str  # "eq", "lt" or "le"
    a: int
    b: int
    held: bool
    place: str


class Origin(NamedTuple):
    """How a number came about."""

    how: str  # "constant", "size", "numel", "item", or an operation
    parts: tuple  # the constant; (node, axis); (node,); or the numbers of the operands
    value: Any


class Clerk(_C.Scribe):
    """Hands out numbers that follow sizes; decisions are noted while the program itself asks, not an operator."""

    def __init__(self):
        super().__init__()
        self.origins, self.decisions, self.busy = {}, [], 0
        self.recent = []  # of the decisions, those since the last call of an operator
        self.unknowns = None

    def constant(self, number):
        """Return which number a constant is."""
        known = super().constant(number)
        self.origins.setdefault(known, Origin("constant", (), number))
        return known

    def combine(self, how, a, b):
        """Return (number, its value) of an operation on two numbers."""
        number, value = super().combine(how, a, b)
        self.origins.setdefault(number, Origin(how, (a,) if how in ("real", "whole") else (a, b), value))
        return number, value

    def decide(self, how, a, b):
        """Note what a comparison says, and return it."""
        held = super().decide(how, a, b)
        if not self.busy:
            decision = Decision(how, a, b, held, user_line() or "")
            self.recent.append(decision)
            if not any(decision[:4] == other[:4] for other in self.decisions):
                self.decisions.append(decision)
        return held

    def fix(self, number):
        """Note that a number is what it is."""
        value = self.origins[number].value if number in self.origins else None
        super().fix(number)
        asker = sys._getframe(2).f_code.co_name
        if not self.busy and value is not None and asker not in TEXTS:
            self.decisions.append(Decision("eq", number, self.constant(value), True, user_line() or ""))

    def learn(self, tensor, node):
        """Remember whose sizes the numbers are that a tensor's shape has."""
        for axis, size in enumerate(tensor.shape):
            if hasattr(type(size), "_combined"):
                self.origins.setdefault(size.number, Origin("size", (node, axis), size.value))

    def learn_number(self, size, how, node):
        """Remember that a number is what a node tells of a tensor."""
        if hasattr(type(size), "_combined"):
            self.origins.setdefault(size.number, Origin(how, (node,), size.value))
