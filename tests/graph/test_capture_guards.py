"""What a captured graph takes for granted: each kind of change is noticed, and nothing else is."""
import collections
import dataclasses
import gc
import re
import types
import weakref

import numpy as np
import pytest

from dragon.core.capture.function import function
from dragon.core.capture.guards import Guards
from dragon.vm import torch
from dragon.vm.torch import nn

SCALE = 2
TABLE = {"a": [1, 2]}


@dataclasses.dataclass
class Batch:
    x: object
    y: object = None


class Config:
    def __init__(self):
        self.width, self.names, self.inner = 3, ["a", "b"], types.SimpleNamespace(depth=1)
        self.unused = 0


class Net(nn.Module):
    factor = 1.5

    def __init__(self):
        super().__init__()
        self.config = Config()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.BatchNorm1d(3)])
        self.table = np.arange(3)
        self.register_buffer("offset", torch.zeros(3))
        self.mode, self.unread = "a", 0

    def forward(self, x, scale=2):
        for layer in self.layers:
            x = layer(x)
        if self.mode == "a":
            x = x * self.factor * self.config.width * self.config.inner.depth * len(self.config.names)
        return helper(x, *self.table) * scale + self.offset


def helper(x, *numbers):
    return x * SCALE * TABLE["a"][0] + sum(numbers)


def closure():
    factor = 3

    def scaled(x):
        return x * factor

    def change():
        nonlocal factor
        factor = 4
    return scaled, change


def attribute(path, value):
    """Return a change of an attribute somewhere below a net."""
    *way, last = path.split(".")

    def change(net):
        for name in way:
            net = net[int(name)] if name.isdigit() else getattr(net, name)
        setattr(net, last, value() if callable(value) else value)
    return change


def in_globals(name, value):
    def change(net):
        globals()[name] = value
    return change


# What is done to the net, and what the report says; None where nothing may be noticed.
CHANGES = {
    "training": (lambda net: net.layers[1].eval(), r"layers.*\['1'\].*training: was True, now False"),
    "all in evaluation": (lambda net: net.eval(), "training: was True, now False"),
    "plain attribute": (attribute("mode", "b"), "mode: was 'a', now 'b'"),
    "attribute that no code names": (attribute("unread", 1), None),
    "nested config": (attribute("config.inner.depth", 2), "config.inner.depth: was 1, now 2"),
    "config's unused part": (attribute("config.unused", 5), None),
    "same value again": (attribute("config.width", 3), None),
    "equal but another type": (attribute("config.width", 3.0), "config.width: was 3, now 3.0"),
    "list length": (lambda net: net.config.names.append("c"), "config.names: had 2 entries, now 3"),
    "list entry": (lambda net: net.config.names.__setitem__(0, "z"), r"config.names\[0\]: was 'a', now 'z'"),
    "parameter replaced": (attribute("layers.0.weight", lambda: nn.Parameter(torch.ones(3, 3))), "weight.*another"),
    "parameter written": (lambda net: nn.init.zeros_(net.layers[0].weight), None),
    "parameter frozen": (lambda net: net.layers[0].weight.requires_grad_(False), "requires_grad was True, now False"),
    "parameter's memory replaced": (lambda net: setattr(net.layers[0].weight, "data", torch.ones(3, 3)), None),
    "buffer replaced": (attribute("offset", lambda: torch.ones(3)), r"offset.*another"),
    "module replaced": (lambda net: net.layers.__setitem__(0, nn.Linear(3, 3)), r"\['0'\]: was Linear, now another"),
    "module added": (lambda net: net.layers.append(nn.ReLU()), "had 2 entries, now with new '2'"),
    "module's option": (attribute("layers.1.momentum", 0.5), "momentum: was 0.1, now 0.5"),
    "hook added": (lambda net: net.layers[0].register_forward_hook(lambda *_: None), "_forward_hooks: had 0 entries"),
    "class attribute": (lambda net: setattr(Net, "factor", 2.5), "factor: was 1.5, now 2.5"),
    "instance before class": (attribute("factor", 9.0), "factor: was missing, now 9.0"),
    "method replaced": (lambda net: setattr(net, "forward", lambda x: x), "forward: was missing"),
    "array's numbers": (lambda net: net.table.__setitem__(0, 7), "table"),
    "global": (in_globals("SCALE", 5), "global SCALE: was 2, now 5"),
    "global dictionary": (lambda net: TABLE["a"].__setitem__(0, 3), r"TABLE\['a'\]\[0\]: was 1, now 3"),
    "global function": (in_globals("helper", lambda x, *n: x), "global helper"),
    "function's default": (lambda net: setattr(Net.forward, "__defaults__", (3,)), r"__defaults__: was \(2,\), now"),
    "builtin hidden": (in_globals("sum", lambda numbers: 0), "global sum: was missing"),
}


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    before = dict(SCALE=SCALE, helper=helper)
    yield
    globals().update(before)
    globals().pop("sum", None)
    TABLE["a"][:] = [1, 2]
    Net.factor, Net.forward.__defaults__ = 1.5, (2,)


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_what_is_reached(name):
    change, said = CHANGES[name]
    net, x = Net(), torch.ones(2, 3)
    guards = Guards(net, (x,), {}, "self")
    assert guards.check((x,), {}) == [x] and not guards.changes() and guards.refusal is None
    change(net)
    if said is None:
        assert guards.check((x,), {}) is not None, guards.failure((x,), {})
    else:
        assert guards.check((x,), {}) is None and guards.changes()
        assert re.search(said, guards.failure((x,), {})), guards.failure((x,), {})


X = torch.ones(2, 3)
ARGUMENTS = {
    "shape": ((X,), (torch.ones(3, 3),), r"args\[0\]: shape was \(2, 3\), now \(3, 3\)"),
    "dtype": ((X,), (X.double(),), "dtype was float32, now float64"),
    "device": ((X,), (torch.ones(2, 3, device="meta"),), "device was cpu, now meta"),
    "strides": ((X,), (torch.ones(3, 2).t(),), r"strides were \(3, 1\), now \(1, 2\)"),
    "requires_grad": ((X,), (torch.ones(2, 3, requires_grad=True),), "requires_grad was False, now True"),
    "class": ((X,), (nn.Parameter(X, requires_grad=False),), "class was"),
    "other numbers": ((X,), (torch.zeros(2, 3),), None),
    "None": ((X, None), (X, X), r"args\[1\]: was None, now"),
    "tensor gone": ((X, X), (X, None), r"args\[1\]: was a tensor, now NoneType"),
    "scalar": ((X, 2), (X, 3), r"args\[1\]: was 2, now 3"),
    "same scalar": ((X, 2.5), (X, 2.5), None),
    "int or float": ((X, 2), (X, 2.0), "was 2, now 2.0"),
    "bool or int": ((X, 1), (X, True), "was 1, now True"),
    "negative zero": ((X, 0.0), (X, -0.0), "was 0.0, now -0.0"),
    "string": ((X, "a"), (X, "b"), "was 'a', now 'b'"),
    "dtype object": ((X, torch.float32), (X, torch.float16), "float16"),
    "list length": (([X, X],), ([X],), r"args\[0\]: had 2 entries, now 1"),
    "list of equal form": (([X],), ([torch.zeros(2, 3)],), None),
    "list or tuple": (([X],), ((X,),), "was list, now tuple"),
    "dict key": (({"a": X},), ({"b": X},), "had key 'a', now 'b'"),
    "dict entry": (({"a": X, "n": 1},), ({"a": X, "n": 2},), r"args\[0\]\['n'\]: was 1, now 2"),
    "dict order": (({"a": X, "b": 1},), ({"b": 1, "a": X},), "had key"),
    "dataclass field": ((Batch(X, 1),), (Batch(X, 2),), r"args\[0\].y: was 1, now 2"),
    "fresh dataclass": ((Batch(X),), (Batch(torch.zeros(2, 3)),), None),
    "number of arguments": ((X,), (X, X), "were 1 and 0 by name, now 2 and 0"),
    "same tensor twice": ((X, torch.ones(2, 3)), (X, X), "share memory"),
    "view of another": ((X, torch.ones(3)), (X, X[0]), "share memory"),
    "size": ((X, torch.Size([1])), (X, torch.Size([2])), "was"),
    "slice": ((X, slice(1)), (X, slice(2)), "was"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_changes_of_arguments(name):
    before, after, said = ARGUMENTS[name]
    guards = Guards(helper, before, {})
    assert guards.check(before, {}) is not None
    tensors = guards.check(after, {})
    if said is None:
        assert tensors is not None
    else:
        assert tensors is None and re.search(said, guards.failure(after, {})), guards.failure(after, {})


def test_arguments_by_name():
    guards = Guards(helper, (), {"x": X, "scale": 2})
    assert guards.check((), {"scale": 2, "x": X}) == [X]
    assert guards.check((), {"x": X, "scale": 3}) is None
    assert guards.failure((), {"x": X, "scale": 3}) == "scale: was 2, now 3"
    assert guards.check((), {"x": X}) is None


def test_closures():
    scaled, change = closure()
    guards = Guards(scaled, (X,), {})
    change()
    assert guards.check((X,), {}) is None and "closure factor: was 3, now 4" in guards.failure((X,), {})


SWITCHES = {
    "grad mode": (torch.no_grad, "grad mode was True, now False"),
    "autocast": (lambda: torch.autocast("cpu", dtype=torch.bfloat16), "autocast was off, now bfloat16"),
    "device": (lambda: torch.device("meta"), "default device"),
    "inference mode": (torch.inference_mode, "grad mode|inference mode"),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_switches(name):
    context, said = SWITCHES[name]
    guards = Guards(helper, (X,), {})
    with context():
        assert guards.check((X,), {}) is None
        assert re.search(said, guards.failure((X,), {})), guards.failure((X,), {})
    assert guards.check((X,), {}) is not None


def test_default_dtype():
    guards = Guards(helper, (X,), {})
    torch.set_default_dtype(torch.float64)
    try:
        assert guards.check((X,), {}) is None and "default dtype was float32, now float64" in guards.failure((X,), {})
    finally:
        torch.set_default_dtype(torch.float32)


def test_containers_with_order_and_sets():
    holder = types.SimpleNamespace(names={"a"}, queue=collections.deque([1]), order=collections.OrderedDict(a=1, b=2))

    def function(x):
        return x * len(holder.names) * len(holder.queue) * sum(holder.order.values())
    guards = Guards(function, (X,), {})
    for change, undo in ((lambda: holder.names.add("b"), lambda: holder.names.discard("b")),
                         (lambda: holder.queue.append(1), holder.queue.pop),
                         (lambda: holder.order.update(b=3), lambda: holder.order.update(b=2))):
        assert guards.check((X,), {}) is not None
        change()
        assert guards.check((X,), {}) is None
        undo()


def test_side_effects_and_random_numbers_are_seen():
    net = Net()
    guards = Guards(net, (X,), {}, "self")
    net.config.width = 8
    net.config.names.append("c")
    assert sorted(map(str, guards.changes())) == ["self.config.names: had 2 entries, now 3",
                                                  "self.config.width: was 3, now 8"]
    assert guards.drawn() is None
    np.random.rand()
    assert guards.drawn() == "numpy.random"


def test_what_cannot_be_watched_is_refused():
    numbers = iter([])
    large = np.zeros(1 << 18)
    for refused in (lambda x: x * next(stream), lambda x: x + torch.as_tensor(large)):
        stream = (n for n in numbers)
        assert Guards(refused, (X,), {}).refusal


def test_wrong_places_are_refused():
    from dragon import _C
    with pytest.raises(TypeError, match="Guards.add"):
        _C.Guards().add(0, [1])
    with pytest.raises(ValueError, match="one per check"):
        _C.Guards().add(0, {}, ("a",), ())
    for args, kwargs in (([X], {}), (X, {}), (5, None), ((), [X]), ((), 5)):
        for ask in (_C.Guards().check, _C.Guards().check_arguments, lambda *both: _C.Guards().set_aliases(*both, ())):
            with pytest.raises(TypeError, match="Guards: got"):
                ask(args, kwargs)


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x, {"a": (x, 1)}], lambda x: Batch(x)],
                         ids=["tensor", "structure", "record"])
def test_arguments_are_not_kept(wrap):
    def call(given):
        x = given if isinstance(given, torch.Tensor) else given.x if isinstance(given, Batch) else given[1]["a"][0]
        return layer(x).sum()
    layer = nn.Linear(4, 2)
    graph = torch.compile(call)
    x = torch.randn(3, 4)
    seen = weakref.ref(x)
    graph(wrap(x)).backward()
    del x
    gc.collect()
    assert seen() is None
    assert torch.equal(graph(wrap(torch.ones(3, 4))), call(wrap(torch.ones(3, 4))))


PLACED = {
    "from the start": lambda x: x.as_strided((1, 3), (3, 1), 6) * 1,
    "a view from the start": lambda x: x.as_strided((1, 3), (3, 1), 6),
    "from the tensor": lambda x: x.as_strided((2, 3), (3, 1)) * 1,
    "around the tensor": lambda x: x.as_strided((4, 3), (3, 1)),
    "before the tensor": lambda x: x.as_strided((1, 3), (3, 1), 0) + 1,
    "from a row": lambda x: x[1].as_strided((2, 3), (3, 1)) + 1,
    "asked for": lambda x: x * x.storage_offset(),
    "asked for and used": lambda x: x.as_strided((2, 3), (3, 1), x.storage_offset() + 1).exp(),
}


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.parametrize("rows", [(2, 2, 1, 0, 4), (0, 0, 1, 4)])
def test_where_a_tensor_begins_in_its_memory(name, rows):
    """Views that count from there mean other elements in another tensor; views of the tensor itself do not."""
    data = torch.arange(24.0).reshape(8, 3)
    plain = PLACED[name]
    captured = function(plain)
    for row in rows:
        assert torch.equal(captured(data[row:row + 3]), plain(data[row:row + 3]))
    if name == "around the tensor":
        with pytest.raises(ValueError, match="within the memory"):
            captured(torch.ones(3, 3))
    if name == "from the tensor":
        assert len(captured.variants) == 1
