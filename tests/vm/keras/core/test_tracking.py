"""Containers in attributes of layers: what is in them belongs to the layer, whatever kind of container it is."""
import collections
import pickle

import pytest

from dragon.vm import keras
from dragon.vm.keras.core.tracking import TrackedSet


class Holder(keras.layers.Layer):
    """A layer with parts in a container."""

    def __init__(self, container):
        super().__init__()
        self.parts = container


class Row(list):
    """A user's own kind of list."""


@pytest.mark.parametrize("make", [
    lambda dense: [dense], lambda dense: {"a": dense}, lambda dense: collections.OrderedDict(a=dense),
    lambda dense: collections.defaultdict(list, a=dense), lambda dense: Row([dense]), lambda dense: {dense}], ids=[
        "list", "dict", "OrderedDict", "defaultdict", "own list", "set"])
def test_parts_belong_to_the_layer(make):
    dense = keras.layers.Dense(2)
    holder = Holder(make(dense))
    assert holder._layers == [dense]
    dense.build((None, 3))
    assert len(holder.weights) == 2


def test_an_ordered_dict_stays_one():
    first, second = keras.layers.Dense(1), keras.layers.Dense(2)
    holder = Holder(collections.OrderedDict(b=first))
    holder.parts["a"] = second
    assert list(holder.parts) == ["b", "a"] and isinstance(holder.parts, collections.OrderedDict)
    assert holder._layers == [first, second]
    holder.parts.move_to_end("b")
    assert holder.parts.popitem() == ("b", first)
    assert list(holder.parts) == ["a"] and holder._layers == [second]
    holder.parts["b"] = first
    assert holder.parts.popitem(last=False) == ("a", second)
    assert list(holder.parts) == ["b"] and holder._layers == [first]
    copy = pickle.loads(pickle.dumps(Holder(collections.OrderedDict(b=1, a=2)).parts))
    assert type(copy) is collections.OrderedDict and list(copy) == ["b", "a"]


def test_a_container_is_not_tracked_twice():
    holder = Holder([keras.layers.Dense(1)])
    parts = holder.parts
    holder.parts = parts
    assert holder.parts is parts and len(holder._layers) == 1


def test_tracked_sets_are_nested_and_plain_sets_are_leaves():
    assert keras.tree.flatten(TrackedSet({1})) == [1]
    assert keras.tree.flatten({1}) == [{1}]
    assert keras.tree.map_structure(lambda x: x + 1, TrackedSet({1, 2})) == {2, 3}
