"""Results of captured calls that are objects: new ones from each call, and those that were there before as they are."""
import functools
import types
import warnings

import pytest

import dragon
from dragon.core.capture.function import function
from dragon.core.capture.objects import reaches_tensors
from dragon.core.capture.structure import Template
from dragon.vm import torch


class Layer:
    def __init__(self, keys=None):
        self.keys, self.kind = keys, Layer


class Cache:
    def __init__(self, *layers):
        self.layers, self.spare, self.table = list(layers), Layer(), {"first": layers[0]}
        self.length = 3


class Slots:
    __slots__ = ("value", "empty")

    def __init__(self, value):
        self.value = value


class Both(Slots):
    __slots__ = ("__hidden", "__dict__")

    def __init__(self, value, more):
        super().__init__(value)
        self.more, self.__hidden = more, value * 2

    def hidden(self):
        return self.__hidden


class Picky(Exception):
    def __new__(cls, value):
        return super().__new__(cls, value)

    def __init__(self, value):
        self.value = value


def make_cache(x):
    return x + 1, Cache(Layer(x * 2), Layer(x * 3))


def test_objects_are_made_anew():
    captured = function(make_cache)
    found = []
    for number in range(4):
        x = torch.full((2,), float(number))
        y, cache = captured(x)
        assert torch.equal(y, x + 1) and cache.length == 3 and cache.layers[0].kind is Layer
        assert torch.equal(cache.layers[0].keys, x * 2) and torch.equal(cache.layers[1].keys, x * 3)
        assert cache.table["first"] is cache.layers[0] and cache.spare.keys is None
        cache.spare.keys = x  # of this result, and of no other
        found.append(cache)
    assert len(captured.variants) == 1 and captured.variants[0].calls == 3
    assert len({id(cache) for cache in found} | {id(cache.layers) for cache in found}) == 8


def test_their_tensors_have_gradients():
    x = torch.ones(3, requires_grad=True)
    captured = torch.compile(make_cache, fullgraph=True)
    for _ in range(3):
        x.grad = None
        captured(x)[1].layers[1].keys.sum().backward()
        assert x.grad.tolist() == [3.0] * 3


def test_slots_and_circles():
    def make(x):
        both = Both(x + 1, [x + 2])
        both.itself = both
        return both
    captured = function(make)
    for number in range(3):
        made = captured(torch.full((2,), float(number)))
        assert made.itself is made and type(made) is Both and not hasattr(made, "empty")
        assert made.hidden().tolist() == [2 * number + 2.0] * 2
        assert made.value.tolist() == [number + 1.0] * 2 and made.more[0].tolist() == [number + 2.0] * 2
    assert len(captured.variants) == 1


def test_what_was_there_before_is_returned_itself():
    known = Layer(torch.ones(2))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(2))
            self.known = known

        def forward(self, x):
            return x * self.scale, self, self.known, types.SimpleNamespace(y=x, net=self)

    net = Net()
    captured = function(net)
    for _ in range(3):
        y, itself, layer, space = captured(torch.ones(2))
        assert itself is net and layer is known and space.net is net
    assert len(captured.variants) == 1


@pytest.mark.parametrize("make, says", [
    (lambda x: (lambda: x), "tensors in a function"), (lambda x: {x}, "tensors in a set"),
    (lambda x: functools.partial(torch.add, x), "tensors in a partial"), (lambda x: iter([x]), "a list_iterator"),
    (lambda x: zip([1], [2]), "a zip"), (lambda x: Layer((y for y in [x])), "a generator"),
    (lambda x: Layer(x).__init__, "tensors in a method"),
    (Picky, "a Picky, which cannot be made without its arguments")])
def test_what_cannot_be_made_again_is_no_graph(make, says):
    captured = function(make)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [captured(torch.ones(2)) for _ in range(2)]
    assert results[0] is not results[1] and f"the result holds {says}" in str(caught[0].message)
    with pytest.raises(RuntimeError, match=says):
        dragon.function(make, strict=True)(torch.ones(2))


def test_functions_without_tensors_are_results():
    captured = function(lambda x: (x + 1, len, Layer.__init__, Layer))
    for _ in range(2):
        assert captured(torch.ones(2))[1:] == (len, Layer.__init__, Layer)
    assert len(captured.variants) == 1


def test_templates():
    x = torch.ones(2)
    cache = Cache(Layer(x), Layer(x))
    assert len(Template(cache, merge=False, known=()).tensors) == 2 and len(Template(cache, known=()).tensors) == 1
    assert Template(cache, known=(), whole=(Cache,)).tensors == [] == Template(cache, known={id(cache)}).tensors
    assert Template(cache).tensors == []  # without a word on what is known, only what an object holds itself
    other = Template(Cache(Layer(x + 1), Layer(x + 2)), merge=False, known=())
    assert other.signature() == Template(cache, merge=False, known=()).signature()
    assert other.signature() != Template(Cache(Layer(x + 1)), merge=False, known=()).signature()
    assert reaches_tensors(cache) and not reaches_tensors(cache, {id(x), *map(id, cache.layers), id(cache.table)})


class Entries(dict):
    """Entries that are attributes as well, as the results of some libraries' models are."""

    def __init__(self, **entries):
        super().__init__(entries)
        self.__dict__.update(entries)


def test_an_entry_and_its_attribute_are_one_object():
    captured = function(lambda x: Entries(scores=x + 1, layers=(x * 2, x * 3), named=[x * 4]))
    for length in (2, 3, 4, 4):
        found = captured(torch.ones(length))
        assert found["layers"] is found.layers and found["named"] is found.named and found["scores"] is found.scores
        assert len(found.layers) == 2 and torch.equal(found.named[0], torch.full((length,), 4.0))
    assert len(captured.variants) == 1
