"""Counts of instructions by function, as profilers of native code write them down: to be added, compared and sifted."""
import collections
from typing import NamedTuple

from dragon.vm.torch._tensor_str import PRINT_OPTS

_SHOWN = 9  # rows at each end of a long table
_NARROWEST = 40


class FunctionCount(NamedTuple):
    """How often a function did something."""

    count: int
    function: str


class FunctionCounts:
    """Counts of functions, the largest first where they were computed.

    Parameters
    ----------
    _data : Sequence[FunctionCount]
        The counts.
    inclusive : bool
        Whether a function's count has those of what it calls in it.
    truncate_rows : bool, optional, default=True
        Whether a long table is shown in part.

    """

    def __init__(self, _data, inclusive, truncate_rows=True, _linewidth=None):
        self._data, self.inclusive, self.truncate_rows, self._linewidth = _data, inclusive, truncate_rows, _linewidth

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)

    def __getitem__(self, item):
        found = self._data[item]
        return found if isinstance(found, FunctionCount) else FunctionCounts(found, self.inclusive, False)

    def __repr__(self):
        wide = max((len(str(count)) + (count < 0) for count, _ in self), default=0)
        room = max((self._linewidth or PRINT_OPTS.linewidth) - wide - 4, _NARROWEST)
        lines = []
        for count, name in self:
            if len(name) > room:
                left = (room - 5) // 2
                name = f"{name[:left]} ... {name[-(room - left - 5):]}"
            lines.append(f"  {count:>{wide}}  {name}")
        if self.truncate_rows and len(lines) > 2 * _SHOWN:
            lines = [*lines[:_SHOWN], "...".rjust(wide + 2), *lines[-_SHOWN:]]
        if not self.inclusive:
            lines += ["", f"Total: {self.sum()}"]
        return "\n".join([object.__repr__(self), *lines])

    def _merge(self, other, factor):
        if self.inclusive != other.inclusive:
            raise AssertionError("Cannot merge inclusive and exclusive counts.")
        counts = collections.Counter()
        for counted, sign in ((self, 1), (other, factor)):
            for count, name in counted:
                counts[name] += sign * count
        return _sorted(counts, self.inclusive)

    def __add__(self, other):
        return self._merge(other, 1)

    def __sub__(self, other):
        return self._merge(other, -1)

    def __mul__(self, other):
        return _sorted({name: int(count * other) for count, name in self}, self.inclusive)

    def transform(self, map_fn):
        """Return the counts under names that a function makes of the names; those that become equal are added."""
        counts = collections.Counter()
        for count, name in self:
            counts[map_fn(name)] += count
        return _sorted(counts, self.inclusive)

    def filter(self, filter_fn):
        """Return the counts of functions whose names a function returns True for."""
        return FunctionCounts(tuple(each for each in self if filter_fn(each.function)), self.inclusive)

    def sum(self):
        """Return the sum of all counts."""
        return sum(count for count, _ in self)

    def denoise(self):
        """Return the counts without Python's look-ups of names, which differ from run to run."""
        return self.filter(lambda name: "dictobject.c:lookdict_unicode" not in name)


def _sorted(counts, inclusive):
    """Return counts other than 0, the largest first."""
    return FunctionCounts(tuple(sorted((FunctionCount(count, name) for name, count in counts.items() if count),
                                       reverse=True)), inclusive)
