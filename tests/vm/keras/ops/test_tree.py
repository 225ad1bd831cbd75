"""keras.tree beside genuine Keras: results and kinds of errors."""
import collections

import dragon.vm.keras as keras
from harness import genuine
from harness.subresults import each

Point = collections.namedtuple("Point", "x y")
NESTED = {"b": [1, (2, None)], "a": Point(3, {"z": 4, "y": []})}
CALLS = {
    "flatten": lambda t: t.flatten(NESTED),
    "flatten_with_path": lambda t: t.flatten_with_path(NESTED),
    "map_structure": lambda t: t.map_structure(lambda x: x if x is None else x + 1, NESTED),
    "map_structure of two": lambda t: t.map_structure(lambda x, y: (x, y), NESTED, NESTED),
    "map_structure past None": lambda t: t.map_structure(lambda x: 2 * x, [1, None], none_is_leaf=False),
    "pack_sequence_as": lambda t: t.pack_sequence_as(NESTED, [1, 2, 3, 4, 5]),
    "is_nested": lambda t: [t.is_nested(NESTED), t.is_nested(3)],
    "lists_to_tuples": lambda t: t.lists_to_tuples(NESTED),
    "map_shape_structure": lambda t: t.map_shape_structure(tuple, {"a": (1, 2), "b": [(3, None)]}),
    "map_structure_up_to": lambda t: t.map_structure_up_to(
        {"a": 0, "b": 0}, lambda x, y: (x, y), {"a": [1], "b": 2}, {"a": [3], "b": 4}),
    "traverse": lambda t: t.traverse(lambda x: None if isinstance(x, list) else x, NESTED),
    "traverse upwards": lambda t: t.traverse(lambda x: 2 * x if isinstance(x, int) else None, NESTED, top_down=False),
    "traverse to None": lambda t: t.traverse(lambda x: t.MAP_TO_NONE if isinstance(x, int) else None, NESTED),
    "assert_same_structure": lambda t: t.assert_same_structure(NESTED, NESTED),
    "another kind": lambda t: t.assert_same_structure([1], (1,)),
    "another length": lambda t: t.assert_same_structure([1], [1, 2]),
    "other keys": lambda t: t.assert_same_structure({"a": 1}, {"b": 1}),
    "other paths": lambda t: t.assert_same_paths({"a": 1}, {"b": 1}),
    "too few": lambda t: t.pack_sequence_as([1, 2], [1]),
    "no sequence": lambda t: t.pack_sequence_as([1], 5),
    "no function": lambda t: t.map_structure("x", [1]),
    "no structure": lambda t: t.map_structure(lambda: 0),
    "unequal": lambda t: t.map_structure(lambda x, y: x, [1], [1, 2]),
}


def outcome(call, tree):
    """Return a call's result, or the kind of its error."""
    try:
        return call(tree)
    except Exception as error:  # noqa: B902: kinds of errors are compared
        return type(error)


@each("name", CALLS)
def test_calls(name):
    assert outcome(CALLS[name], keras.tree) == outcome(CALLS[name], genuine.keras.tree)


def test_names():
    assert [name for name in dir(genuine.keras.tree) if name[0] != "_" and not hasattr(keras.tree, name)] == []
