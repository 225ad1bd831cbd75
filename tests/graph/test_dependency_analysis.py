"""What a capture looks at before a call: what the function can reach by name, and nothing of it by foreign code."""
import collections
import collections.abc
import itertools
import types
import warnings

import pytest

from dragon.core.capture import code_names
from dragon.core.capture.function import function
from dragon.core.capture.dependency_analysis import DependencyAnalysis
from dragon.vm import torch
from harness.subresults import each


class Forbidden:
    """Methods that a walk must not call: libraries import themselves in theirs."""

    def items(self):
        raise AssertionError("items")

    keys = values = copy = __iter__ = __contains__ = __getattr__ = lambda self, *args: Forbidden.items(self)


class Mapping(Forbidden, dict):
    pass


class Ordered(Forbidden, collections.OrderedDict):
    __iter__ = collections.OrderedDict.__iter__


class Sequence(Forbidden, list):
    pass


class Row(Forbidden, tuple):
    pass


class Names(Forbidden, set):
    pass


TABLES = [Mapping(scale=2.0), Ordered(scale=2.0), Sequence([2.0]), Row([2.0]), Names([2.0])]


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_containers_are_read_as_they_are(number):
    table = TABLES[number]
    reads = {dict: lambda: dict.__getitem__(table, "scale"), list: lambda: list.__getitem__(table, 0),
             tuple: lambda: tuple.__getitem__(table, 0), set: lambda: float(set.__len__(table)) * 2}
    read = next(way for kind, way in reads.items() if isinstance(table, kind))
    captured = function(lambda x: x * read())
    assert captured(torch.ones(2)).tolist() == captured(torch.ones(2)).tolist() == [2.0, 2.0]
    assert len(captured.variants) == 1
    if isinstance(table, dict):
        dict.__setitem__(table, "scale", 3.0)
        assert captured(torch.ones(2)).tolist() == [3.0, 3.0]
        dict.__setitem__(table, "scale", 2.0)


def test_arguments_and_results_are_read_as_they_are():
    captured = function(lambda table: Mapping(y=dict.__getitem__(table, "x") * 2))
    for _ in range(2):
        assert dict.__getitem__(captured(Mapping(x=torch.ones(2))), "y").tolist() == [2.0, 2.0]
    assert len(captured.variants) == 1


class Loading(collections.abc.Mapping):
    """A mapping that loads what it has when it is asked, and knows nothing else: no dictionary, no list."""

    scale = 2.0

    def __init__(self):
        self.places = {"model": "library.model"}

    def load(self, *_):
        raise AssertionError("loaded")

    __getitem__ = __iter__ = __len__ = __contains__ = __eq__ = __bool__ = __repr__ = keys = items = load
    __hash__ = None


class LoadingModule(types.ModuleType):
    scale = 2.0
    __getattr__ = __dir__ = Loading.load


class LoadingTable(dict):
    scale = 2.0
    __getitem__ = __iter__ = __len__ = __contains__ = __bool__ = __repr__ = get = keys = items = Loading.load


@pytest.mark.parametrize("make", [Loading, lambda: LoadingModule("loading"), lambda: LoadingTable(model=1)],
                         ids=["mapping", "module", "table"])
def test_what_loads_on_access_is_not_loaded(make):
    """Neither by the walk, wherever the thing stands, nor by reports on guards that hold or fail."""
    table = make()

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.factor = table, 1.0

        def forward(self, x):
            return x * type(self.table).scale * self.factor

    net = Net()
    for captured, args in ((function(lambda x: x * type(table).scale), ()), (function(net), ()),
                           (function(lambda x, thing: x * type(thing).scale), (table,))):
        for _ in range(2):
            assert captured(torch.ones(2), *args).tolist() == [2.0, 2.0]
        assert len(captured.variants) == 1 and "guards" in captured.explain()
    captured, net.factor = function(net), 3.0
    captured(torch.ones(2))
    net.table = make()
    assert captured(torch.ones(2)).tolist() == [6.0, 6.0]
    assert captured.retraces[0].startswith(f"self.table: was {'<' * (type(table) is not LoadingTable)}")
    if isinstance(table, dict):
        dict.__setitem__(net.table, "other", 2)
        assert captured(torch.ones(2)).tolist() == [6.0, 6.0]
        assert captured.retraces[1] == "self.table: had 1 entries, now with new 'other'"


COUNTER = itertools.count()


@pytest.mark.parametrize("takes", [False, True])
def test_a_counter_matters_where_a_number_is_taken(takes):
    def scale(x):
        return x * (1 + next(COUNTER) if takes else 1)
    captured = function(scale)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = captured(torch.ones(1)).item(), captured(torch.ones(1)).item()
    assert second - first == takes and len(captured.variants) == (not takes)
    assert not takes or "takes numbers from global COUNTER" in str(caught[0].message)


def lazy(name, count=300):
    """Return a module of many functions."""
    module = types.ModuleType(name)
    lines = [f"def part{i}(x):\n    return getattr(x, 'mul')({i})\n" for i in range(count)]
    exec("\n".join(lines), module.__dict__)
    module.__getattr__ = lambda name: (_ for _ in ()).throw(AssertionError(name))
    return module


def test_only_what_a_module_is_asked_for_is_walked():
    library = lazy("library")
    library.other = lazy("other")

    class Layer:
        kind = "part"

        def __init__(self):
            self.part, self.scale = 2.0, 3.0

        def __call__(self, x):  # a computed name: any attribute of an object, but not of a module
            return library.part7(x) * getattr(self, self.kind)

    layer = Layer()
    walk = DependencyAnalysis(layer, (torch.ones(2),), {})
    assert len(walk.places) < 40
    captured = function(layer)
    assert captured(torch.ones(2)).tolist() == [14.0, 14.0]
    layer.part = 3.0
    assert captured(torch.ones(2)).tolist() == [21.0, 21.0]
    library.part7 = lambda x: x
    assert captured(torch.ones(2)).tolist() == [3.0, 3.0]


def asking(thing, name, flag):
    """Return how `getattr` and its like are called."""
    return {
        "as it stands": lambda: getattr(thing, "a"), "with a default": lambda: getattr(thing, "a", None),
        "of a call": lambda: hasattr(thing.b(1, 2).c, "a"), "set": lambda: setattr(thing, "a", thing.b + 1),
        "within another": lambda: getattr(getattr(thing, "a"), "b", getattr(thing, "c")),
        "variable": lambda: getattr(thing, name), "sum": lambda: getattr(thing, "a" + name),
        "text": lambda: getattr(thing, f"a{name}"), "choice": lambda: getattr(thing, "a" if flag else "b"),
        "handed on": lambda: map(getattr, thing), "unpacked": lambda: getattr(*thing),
        "of an element": lambda: getattr(thing, ("a", "b")[flag]),
    }


@each("way", asking(None, None, None))
def test_names_given_as_they_stand_are_told_from_computed_ones(way):
    fixed = {"as it stands": {"a"}, "with a default": {"a"}, "of a call": {"a", "b", "c"}, "set": {"a", "b"},
             "within another": {"a", "b", "c"}}
    names = code_names.names_of(asking(None, None, None)[way].__code__)
    assert names.dynamic == (way not in fixed)
    assert not names.dynamic and names.attributes == fixed[way] or names.dynamic


def test_a_function_that_is_no_graph_is_left_alone_soon(monkeypatch):
    walks, start = [], DependencyAnalysis.__init__

    def count(self, *args, **kwargs):
        walks.append(self)
        start(self, *args, **kwargs)
    monkeypatch.setattr(DependencyAnalysis, "__init__", count)
    captured = function(lambda x: x * 2 if float(x.sum()) > 0 else x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in range(1, 9):
            assert captured(torch.ones(size)).tolist() == [2.0] * size
    assert len(walks) == 3 and "looks at a tensor's numbers" in captured.fallback
