"""Symbolic sizes of a program that is exported, and how every number follows from them."""
import sys
from typing import Any, NamedTuple

from dragon import _C
from dragon.core.capture import sizes
from dragon.core.capture.source_lines import user_line
from dragon.core.scopes import contextmanager
from dragon.core.warnings import is_users
from dragon.vm.torch.core.exporting.errors import ExportError

TEXTS = ("__repr__", "__str__", "__format__")  # a letter that tells of a size decides nothing by it


def _is_program(frame):
    """Return whether a program asks, as far as Python's own code and that of sizes stands between."""
    while frame is not None and frame.f_code.co_filename in (sizes.__file__, __file__):
        frame = frame.f_back
    return frame is not None and is_users(frame.f_code.co_filename)


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


class ShapeEnv(_C.Scribe):
    """Hands out numbers that follow sizes; decisions are noted while the program itself asks, not an operator."""

    def __init__(self):
        super().__init__()
        self.origins, self.decisions, self.busy = {}, [], 0
        self.recent = []  # of the decisions, those since the last call of an operator
        self.unknowns = None
        self._hears_all = False  # while a program runs unheard: decisions of the functions that it calls come as well

    @contextmanager
    def told_by_program(self):
        """Note, within a `with` block, what the program itself decides, and nothing of what functions here do."""
        self._hears_all = True
        try:
            yield
        finally:
            self._hears_all = False

    def _counts(self, *numbers):
        """Return whether a decision on numbers is the program's own."""
        if self.busy or self._hears_all and not _is_program(sys._getframe(2)):
            return False
        if self._hears_all and not all(map(self._is_known, numbers)):
            raise ExportError("torch.export: the program asks for gradients, or maps over slices, and decides by the "
                              f"size of a tensor that it computed (at {user_line()}); expected sizes of arguments")
        return True

    def _is_known(self, number):
        origin = self.origins.get(number)
        return origin is not None and (origin.how in ("constant", "size", "numel", "item")
                                       or all(map(self._is_known, origin.parts)))

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
        if self._counts(a, b):
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
        if value is not None and asker not in TEXTS and self._counts(number):
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
