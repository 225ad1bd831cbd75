"""Sizes that may be others another time: numbers that know how they came about, and tell what is decided by them."""
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.settings import captures
from dragon.core.python_operators import ARITHMETIC, BITWISE


class _Number:
    """A number of a call that is being written down.

    It takes part in arithmetic as an int or float does, and the results are such numbers, too. Comparisons are noted,
    since the program goes on by what they say; whoever needs an ordinary number gets one, which is noted as well.

    Parameters
    ----------
    scribe : _C.Scribe
        Who writes the call down.
    number : int
        Which of its numbers this is.
    value : Union[int, float]
        What it is now.

    """

    __slots__ = ("scribe", "number", "value")

    def __init__(self, scribe, number, value):
        self.scribe, self.number, self.value = scribe, number, value

    def _fixed(self):
        """Return the ordinary number, which it must be from now on."""
        fixed = getattr(captures()[-1], "fixed", None) if captures() else None
        if fixed is not None:
            fixed.setdefault(self.number, user_line())
        self.scribe.fix(self.number)
        return self.value

    def _known(self, other):
        """Return which number another operand is, or None where it is no number at all."""
        if isinstance(other, _Number):
            return other.number if other.scribe is self.scribe else self.scribe.constant(other.value)
        plain = type(other) in (int, float, bool)
        return self.scribe.constant(other) if plain else None

    def _combined(self, how, a, b):
        number, value = self.scribe.combine(how, a, b)
        return (Quantity if isinstance(value, float) else Size)(self.scribe, number, value)

    def _compared(self, how, a, b):
        return self.scribe.decide(how, a, b)

    def __neg__(self):
        return self._combined("sub", self.scribe.constant(0), self.number)

    def __pos__(self):
        return self

    def __abs__(self):
        return -self if self < 0 else self

    def __bool__(self):
        return not self._compared("eq", self.number, self.scribe.constant(0))

    def __hash__(self):
        return hash(self._fixed())

    def __repr__(self):
        return repr(self._fixed())

    def __str__(self):
        return str(self._fixed())

    def __format__(self, form):
        return format(self._fixed(), form)

    def __int__(self):
        return int(self._fixed())

    def __float__(self):
        return float(self._fixed())

    def __complex__(self):
        return complex(self._fixed())

    def __reduce__(self):
        value = self._fixed()
        return type(value), (value,)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __getattr__(self, name):
        if name in _Number.__slots__ or not hasattr(self.__class__, name):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        return getattr(self._fixed(), name)


def _make_arithmetic(name):
    def forward(self, other):
        known = self._known(other)
        return NotImplemented if known is None else self._combined(name, self.number, known)

    def backward(self, other):
        known = self._known(other)
        return NotImplemented if known is None else self._combined(name, known, self.number)
    return forward, backward


def _make_comparison(how, swapped, negated):
    def compare(self, other):
        known = self._known(other)
        if known is None:
            return NotImplemented
        first, second = (known, self.number) if swapped else (self.number, known)
        return self._compared(how, first, second) != negated
    return compare


for _name in ARITHMETIC:
    _forward, _backward = _make_arithmetic(_name)
    setattr(_Number, f"__{_name}__", _forward)
    setattr(_Number, f"__r{_name}__", _backward)
_COMPARISONS = (("eq", "eq", False, False), ("ne", "eq", False, True), ("lt", "lt", False, False),
                ("gt", "lt", True, False), ("le", "le", False, False), ("ge", "le", True, False))
for _name, _how, _swapped, _negated in _COMPARISONS:
    setattr(_Number, f"__{_name}__", _make_comparison(_how, _swapped, _negated))


def _make_fixed(name):
    """Return a method that an ordinary number answers."""
    def answer(self, *others):
        return getattr(self._fixed(), name)(*(other._fixed() if isinstance(other, _Number) else other
                                              for other in others))
    return answer


class Size(_Number):
    """A whole number that follows sizes; whoever asks for its class is told that it is an int."""

    __slots__ = ()
    __class__ = property(lambda self: int)

    def __index__(self):
        return self._fixed()

    def __trunc__(self):
        return self

    __floor__ = __ceil__ = __trunc__

    def __round__(self, digits=None):
        return self if digits is None or digits >= 0 else round(self._fixed(), digits)


class Quantity(_Number):
    """A real number that follows sizes; whoever asks for its class is told that it is a float."""

    __slots__ = ()
    __class__ = property(lambda self: float)

    def __int__(self):
        return self.__trunc__()._fixed()

    def __trunc__(self):
        return self._combined("whole", self.number, -1)

    def __floor__(self):
        return (self // 1).__trunc__()

    def __ceil__(self):
        return -(-self // 1).__trunc__()


def is_followed(value):
    """Return whether a value is a number of a call that is being written down."""
    return type(value) is Size or type(value) is Quantity


def as_whole(number):
    """Return a number as an int, and one that follows sizes as it is."""
    return number if type(number) is Size else int(number)


for _name in BITWISE:
    setattr(Size, f"__{_name}__", _make_fixed(f"__{_name}__"))
    setattr(Size, f"__r{_name}__", _make_fixed(f"__r{_name}__"))
Size.__invert__ = _make_fixed("__invert__")
Quantity.__round__ = _make_fixed("__round__")
