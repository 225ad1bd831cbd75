"""The size of a ragged dim: a number that nobody knows, which equals itself alone."""
import itertools
import weakref

_numbers = itertools.count(1)


class NestedInt:
    """The lengths of the samples as one size; PyTorch's nested int.

    Parameters
    ----------
    number : int
        Which lengths it stands for.
    factor : int, optional, default=1
        How many times these.

    """

    __slots__ = ("number", "factor")

    def __init__(self, number, factor=1):
        self.number, self.factor = number, factor

    def __repr__(self):
        return f"j{self.number}" if self.factor == 1 else f"{self.factor}*j{self.number}"

    def __eq__(self, other):
        return isinstance(other, NestedInt) and (self.number, self.factor) == (other.number, other.factor)

    def __hash__(self):
        return hash((NestedInt, self.number, self.factor))

    def __mul__(self, other):
        if isinstance(other, NestedInt) or not hasattr(other, "__index__"):
            raise ValueError(f"mul: got {other!r} beside the ragged size {self!r}, expected an integer")
        return NestedInt(self.number, self.factor * other.__index__())

    __rmul__ = __mul__

    def __ge__(self, other):
        if isinstance(other, NestedInt) and other.number == self.number:
            return self.factor >= other.factor
        if not isinstance(other, NestedInt) and other <= 2:  # as PyTorch takes it, which specializes for 0 and 1
            return True
        raise ValueError(f"ge: relation is indeterminate: got {self!r} and {other!r}, expected sizes of one ragged dim")

    def __le__(self, other):
        if isinstance(other, NestedInt):
            return other >= self
        if other < 2:
            return False
        raise ValueError(f"le: relation is indeterminate: got {self!r} and {other!r}, expected sizes of one ragged dim")

    def __lt__(self, other):
        return not self >= other

    def __gt__(self, other):
        return not self <= other


_SIZES = {}  # by the identity of offsets or lengths, as long as these live


def size_of(lengths, known=None):
    """Return the ragged size that a tensor of offsets or lengths stands for: the same for the same object."""
    key = id(lengths)
    if key not in _SIZES:
        _SIZES[key] = NestedInt(next(_numbers)) if known is None else known
        weakref.finalize(lengths, _SIZES.pop, key).atexit = False
    return _SIZES[key]
