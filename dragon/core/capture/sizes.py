"""Sizes that follow a batch: whole numbers that know how, and for which batches the program decides as it did."""
import math

BATCH = 10007  # of rehearsals: a prime, larger than what programs use


class Watch:
    """For which sizes of the batch all decisions are those of the rehearsal.

    Parameters
    ----------
    fixed : set
        Sizes that do not follow the batch.

    """

    def __init__(self, fixed):
        self.fixed = fixed
        self.low, self.high = 2, 1 << 62
        self.escaped = False

    def __call__(self, value):
        """Return an int of the engine as a `Size`, if it follows the batch; -1 - length: somebody asks for `len`."""
        if value < 0:
            if self._follows(-1 - value):
                self.escaped = True
            return value
        if not self._follows(value):
            return value
        slope = (value + BATCH // 2) // BATCH
        return Size(self, slope, value - slope * BATCH)

    def _follows(self, value):
        return value >= BATCH // 2 and value not in self.fixed

    def decide(self, slope, offset):
        """Note that the sign of slope * batch + offset has decided something."""
        if slope == 0:
            return
        root = -offset / slope
        if root < BATCH:
            self.low = max(self.low, math.floor(root) + 1)
        elif root > BATCH:
            self.high = min(self.high, math.ceil(root) - 1)
        else:
            self.escaped = True


class Size(int):
    """slope * batch + offset."""

    def __new__(cls, watch, slope, offset):
        self = int.__new__(cls, slope * BATCH + offset)
        self.watch, self.slope, self.offset = watch, slope, offset
        return self

    def _with(self, slope, offset):
        return Size(self.watch, slope, offset) if slope else offset

    def _combine(self, other, sign):
        if isinstance(other, Size):
            return self._with(self.slope + sign * other.slope, self.offset + sign * other.offset)
        return self._with(self.slope, self.offset + sign * other) if isinstance(other, int) else self._lose(other)

    def _lose(self, *_):
        self.watch.escaped = True
        return NotImplemented

    def __add__(self, other):
        return self._combine(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._combine(other, -1)

    def __neg__(self):
        return self._with(-self.slope, -self.offset)

    def __rsub__(self, other):
        return (-self)._combine(other, 1)

    def __mul__(self, other):
        if isinstance(other, int) and not isinstance(other, Size):
            return self._with(self.slope * other, self.offset * other)
        self.watch.escaped = True
        return int(int.__mul__(self, other)) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, other):
        if isinstance(other, int) and not isinstance(other, Size) and other and self.slope % other == 0:
            return self._with(self.slope // other, self.offset // other)
        if isinstance(other, Size) and self.slope % other.slope == 0 and (
                self.offset == self.slope // other.slope * other.offset):
            return self.slope // other.slope
        self.watch.escaped = True
        return int.__floordiv__(self, other)

    def __mod__(self, other):
        if isinstance(other, int) and not isinstance(other, Size) and other and self.slope % other == 0:
            return self.offset % other
        self.watch.escaped = True
        return int.__mod__(self, other)

    def __divmod__(self, other):
        return self // other, self % other

    def __hash__(self):
        self.watch.escaped = True
        return int.__hash__(self)

    def __bool__(self):
        self.watch.decide(self.slope, self.offset)
        return int.__bool__(self)

    def __pos__(self):
        return self


def _comparison(name):
    plain = getattr(int, name)

    def compare(self, other):
        if not isinstance(other, int):
            return self._lose()
        self.watch.decide(self.slope - getattr(other, "slope", 0),
                          self.offset - (other.offset if isinstance(other, Size) else other))
        return plain(self, other)
    return compare


def _escaping(name):
    plain = getattr(int, name)

    def escape(self, *args):
        self.watch.escaped = True
        return plain(self, *args)
    return escape


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Size, f"__{_name}__", _comparison(f"__{_name}__"))
for _name in """truediv rtruediv rfloordiv rmod rdivmod pow rpow abs float round and rand or ror xor rxor lshift rlshift
                rshift rrshift invert int trunc floor ceil format repr""".split():
    setattr(Size, f"__{_name}__", _escaping(f"__{_name}__"))
