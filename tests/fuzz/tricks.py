"""Objects made to hurt: they raise when used, lie about themselves, hold themselves or change while they are read."""
import numpy


class Spite(Exception):
    """What the objects of this file raise: the caller's own error, which may come through."""


class Nasty:
    """An object whose every use raises."""

    def __index__(self):
        raise Spite("index")

    def __float__(self):
        raise Spite("float")

    def __len__(self):
        raise Spite("len")

    def __iter__(self):
        raise Spite("iter")

    def __eq__(self, other):
        raise Spite("eq")

    def __hash__(self):
        raise Spite("hash")

    def __bool__(self):
        raise Spite("bool")

    def __repr__(self):
        return "Nasty()"


class Silent(Nasty):
    """An object that cannot even be shown."""

    def __repr__(self):
        raise Spite("repr")


class Liar:
    """A sequence whose length is not how many items it gives."""

    def __init__(self, length, items):
        self.length, self.items = length, items

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.items[index]

    def __repr__(self):
        return f"Liar({self.length}, {self.items})"


class Clearing:
    """An index that empties the list it stands in while that is being read."""

    def __init__(self, home):
        self.home = home

    def __index__(self):
        self.home.clear()
        return 1

    def __float__(self):
        self.home.clear()
        return 1.0

    def __repr__(self):
        return "Clearing()"


class Ranging:
    """An index that is another number each time it is asked."""

    def __init__(self):
        self.count = -1

    def __index__(self):
        self.count = -7 * self.count
        return self.count

    def __repr__(self):
        return "Ranging()"


class Array:
    """An object with NumPy's protocol that answers nonsense."""

    def __init__(self, answer):
        self.answer = answer

    def __array__(self, dtype=None, copy=None):
        if self.answer is None:
            raise Spite("array")
        return self.answer

    def __repr__(self):
        return f"Array({self.answer!r})"


class Guest:
    """An object that claims to answer PyTorch's functions."""

    def __init__(self, answers):
        self.answers = answers

    def __repr__(self):
        return f"Guest({self.answers})"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise Spite("torch_function")


class Text(str):
    """A string of a class of its own, whose comparisons raise."""

    def __eq__(self, other):
        raise Spite("eq")

    __hash__ = str.__hash__


def clearing(count):
    """Return a list that empties itself while it is read."""
    home = [1, 2]
    home[count:count] = [Clearing(home)]
    return home


def nested():
    """Return a list that holds itself."""
    home = [1]
    home.append(home)
    return home


def deep():
    """Return a list nested deeper than Python's stack."""
    home = []
    for _ in range(3000):
        home = [home]
    return home


def raising(*args, **kwargs):
    """Raise whatever is given."""
    raise Spite("called")


def identity(*args, **kwargs):
    """Return the first argument."""
    return args[0] if args else None


tricks = (
    Nasty, Silent, lambda: [Nasty()], lambda: {"a": Nasty()}, lambda: {1: 2, "b": None}, nested, deep,
    lambda: Liar(3, [1]), lambda: Liar(2**62, [1, 2]), lambda: Liar(-1, [1]), lambda: Liar(0, [1, 2]),
    lambda: clearing(0), lambda: clearing(1), lambda: clearing(2), Ranging, lambda: [Ranging(), Ranging()],
    lambda: Array(None), lambda: Array(3), lambda: Array(numpy.zeros(2)), lambda: Array([1, 2]), lambda: Guest(True),
    lambda: raising, lambda: identity, lambda: (lambda: None), lambda: Text("mean"), lambda: "\ud800",
    lambda: 10**5000, lambda: [10**5000], lambda: iter([1, 2]), lambda: (n for n in (1, 2)), lambda: iter([]),
    lambda: numpy.float16(1), lambda: numpy.int64(-1), lambda: numpy.bool_(True), lambda: numpy.longdouble(1),
    lambda: numpy.asfortranarray(numpy.ones((2, 3))), lambda: numpy.zeros((0, 2**40)), lambda: numpy.zeros(3, "S5"),
    lambda: numpy.zeros(2, "m8[s]"), lambda: numpy.ma.masked_array([1, 2], [True, False]),
    lambda: numpy.zeros(2, "uint64"), lambda: numpy.zeros(2, "clongdouble"), lambda: numpy.zeros(2, "O"),
    lambda: numpy.frombuffer(b"\0" * 9, "f4", 2, 1), lambda: numpy.array(None), lambda: memoryview(b"abc"),
    lambda: bytearray(3), lambda: [numpy.zeros(2), numpy.zeros(3)], lambda: [[1, 2], [3]], lambda: frozenset({1}),
    lambda: type("Empty", (), {})(), lambda: type("Sub", (int,), {})(2), lambda: complex("nan"), lambda: NotImplemented)
