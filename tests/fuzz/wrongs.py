"""Wrong objects for every place of every binding: Python's, NumPy's, and the engine's own where another is expected."""
import numpy

import dragon
from dragon import _C

import engine_objects
import tricks


class Shrinking(list):
    """A list that loses an item whenever one of its items is asked for a number."""


class Losing:
    """An item that takes itself and its neighbours out of the list that is read."""

    def __init__(self, home):
        self.home = home

    def _lose(self):
        del self.home[:]
        return 1

    def __index__(self):
        return self._lose()

    def __float__(self):
        return float(self._lose())

    def __bool__(self):
        return bool(self._lose())

    def __len__(self):
        return self._lose()

    def __hash__(self):
        return self._lose()

    def __eq__(self, other):
        return bool(self._lose())

    def __repr__(self):
        return "Losing()"


class Fresh:
    """A sequence whose items live only while they are being asked for."""

    def __init__(self, make, count=3):
        self.make, self.count = make, count

    def __len__(self):
        return self.count

    def __getitem__(self, place):
        if not isinstance(place, int) or place >= self.count:
            raise IndexError(place)
        return self.make()

    def __repr__(self):
        return f"Fresh({self.count})"


class Fickle:
    """A sequence that answers otherwise each time."""

    def __init__(self):
        self.asked = 0

    def __len__(self):
        self.asked += 1
        return self.asked

    def __getitem__(self, place):
        self.asked += 1
        if place > 5:
            raise IndexError(place)
        return engine_objects.tensor() if self.asked % 2 else None

    def __repr__(self):
        return "Fickle()"


class Answering:
    """An object with the names that bindings ask for, and nonsense behind them."""

    type, index, name, symbol, scribe, number, rank, size = "cpu", 10**30, None, -5, None, 10**9, -1, "many"

    def __dlpack__(self, **kwargs):
        return self

    def __array__(self, *args, **kwargs):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __repr__(self):
        return "Answering()"


class Real(float):
    """A float that claims to be a symbol of a trace."""

    symbol = 10**9


def losing(kind=list):
    """Return a list, alone or in a tuple, of items that empty it."""
    home = Shrinking([engine_objects.tensor()])
    home[:0] = [Losing(home), Losing(home)]
    home.append(engine_objects.tensor())
    return home if kind is list else kind([home])


def consumed():
    """Return a DLPack capsule that somebody has taken."""
    capsule = _C.to_dlpack(engine_objects.tensor())
    _C.from_dlpack(capsule, dragon.Tensor)
    return capsule


def foreign():
    """Return a capsule of another library's."""
    import datetime
    return datetime.datetime_CAPI if hasattr(datetime, "datetime_CAPI") else numpy.core._multiarray_umath._ARRAY_API


def deep_tuple():
    """Return a tuple nested as deep as Python itself can still hash it."""
    made = ()
    for _ in range(8000):
        made = (made,)
    return made


def recursive_dict():
    """Return a dictionary that holds itself."""
    made = {}
    made["a"] = made
    return made


def spiteful_class():
    """Return a class whose own class raises whatever is asked of it."""
    class Meta(type):
        def __instancecheck__(cls, other):
            raise tricks.Spite("instancecheck")

        def __eq__(cls, other):
            raise tricks.Spite("eq")

        __hash__ = type.__hash__
    return Meta("Spiteful", (), {})


def bare(name):
    """Return an object of a class of the module's that was made without being begun."""
    cls = getattr(_C, name)
    return cls.__new__(cls)


def parts():
    """Return a tensor made of others."""
    x = engine_objects.tensor()
    return _C.make_of_parts("strange", [x, x], [3])


PLAIN = [None, 0, -1, True, 2**31, 2**63, -2**63, 2**70, float("nan"), -1e30, float("inf"), 2j, "", "text", "\ud800",
         "\0", b"", b"bytes", (), (1, 2, 3), ("a", None), range(3), Ellipsis, NotImplemented, slice(None), object,
         dragon.Tensor,
         _C.Tensor, _C.Graph, int, type, len, numpy]
MADE = [
    list, dict, lambda: [None], lambda: [1, "a"], recursive_dict, tricks.nested, tricks.deep, deep_tuple,
    lambda: bytearray(8), lambda: memoryview(b"abc"), lambda: iter([1]), lambda: (n for n in (1, 2)), object,
    tricks.Nasty, tricks.Silent, lambda: [tricks.Nasty()], lambda: tricks.Liar(2**62, [1, 2]),
    lambda: tricks.Liar(-1, [1]), lambda: tricks.Liar(3, [engine_objects.tensor()]), lambda: tricks.clearing(0),
    lambda: tricks.clearing(1),
    tricks.Ranging, losing, lambda: losing(tuple), Fickle, Answering, lambda: Real(2.5), lambda: Losing([1, 2]),
    lambda: Fresh(engine_objects.tensor), lambda: Fresh(object), lambda: Fresh(lambda: (1, [2])), spiteful_class,
    lambda: Fresh(lambda: b"abc" * 100), lambda: tricks.raising, lambda: tricks.identity,
    lambda: tricks.Text("mean"), lambda: tricks.Guest(True), lambda: type("Sub", (int,), {})(2), lambda: 10**5000,
    lambda: lambda *a, **k: engine_objects.tensor(1), lambda: lambda *a, **k: [engine_objects.tensor(0)] * 9,
    lambda: lambda *a, **k: None, lambda: lambda *a, **k: 3, lambda: lambda *a, **k: [None, 3, "x"],
    # NumPy's arrays and numbers of each kind
    *[lambda kind=kind: numpy.zeros(2, kind) for kind in (
        "f4", "f8", "i1", "u8", "?", ">f4", "c16", "f2", "O", "S5", "U3", "M8[s]", "m8[s]", "f4,i4", "g", "V7")],
    lambda: numpy.array(3), lambda: numpy.zeros((0, 2**40)), lambda: numpy.ones((2, 3)).T, lambda: numpy.ones(4)[::-1],
    lambda: numpy.broadcast_to(numpy.float32(1), (2**20, 2**20)), lambda: numpy.float32(1), lambda: numpy.int64(-1),
    # capsules
    lambda: _C.to_dlpack(engine_objects.tensor()), consumed, foreign,
    lambda: _C.to_dlpack(engine_objects.tensor(), (1, 0)),
    # tensors
    engine_objects.tensor, lambda: engine_objects.tensor(0), lambda: engine_objects.tensor(1, True), parts,
    lambda: engine_objects.tensor(4, True) * 2, lambda: dragon.tensor(1.0, "float32", "meta"),
    lambda: dragon.ops.expand(dragon.tensor(1.0, "float64", "meta"), (2**29, 2**29)),
    lambda: [engine_objects.tensor(), None], lambda: type("Mine", (dragon.Tensor,), {})([1.0]),
    lambda: _C.phantom_like(engine_objects.tensor(), (3,)),
]


def wrongs():
    """Return [thunk] of wrong objects, each made anew."""
    names = [name for name in sorted(vars(_C)) if isinstance(getattr(_C, name), type)]
    found = [lambda value=value: value for value in PLAIN] + MADE
    found += [thunk for _, thunk in engine_objects.other_objects()]
    return found + [lambda name=name: bare(name) for name in names if makes_bare(name)]


def makes_bare(name):
    """Return whether a class of the module's makes objects without arguments and without beginning them."""
    try:
        bare(name)
    except TypeError:
        return False
    return not issubclass(getattr(_C, name), BaseException)
