"""Trees beside PyTorch's: leaves, structures as text and JSON, paths, errors."""
import collections

import pytest

torch = pytest.importorskip("torch")
import torch.utils._pytree as theirs  # noqa: E402

from dragon.vm import torch as dragon_torch  # noqa: E402
from dragon.vm.torch.utils import _pytree as mine  # noqa: E402
from harness.subresults import each  # noqa: E402

Pair = collections.namedtuple("Pair", "a b")
TREES = {
    "leaf": 1, "none": None, "nothing": [], "list": [1, [2, 3]], "tuple": (1, (), (2,)),
    "dict": {"b": 1, "a": {"c": [2]}}, "ordered": collections.OrderedDict(b=1, a=2),
    "default": collections.defaultdict(list, x=[1], y=[]), "named": Pair(1, [2, 3]),
    "deque": collections.deque([1, [2]], maxlen=5), "mixed": {"a": [Pair(1, (2,)), None], 3: "text"},
}


@each("name", TREES)
def test_trees(name):
    tree = TREES[name]
    (leaves, spec), (their_leaves, their_spec) = mine.tree_flatten(tree), theirs.tree_flatten(tree)
    assert leaves == their_leaves and repr(spec) == repr(their_spec)
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (
        their_spec.num_leaves, their_spec.num_nodes, their_spec.num_children)
    back = mine.tree_unflatten(leaves, spec)
    assert back == tree and type(back) is type(tree)
    assert mine.tree_map(str, tree) == theirs.tree_map(str, tree)
    assert mine.tree_map(lambda x, y: (x, y), tree, tree) == theirs.tree_map(lambda x, y: (x, y), tree, tree)
    paths, their_paths = mine.tree_flatten_with_path(tree)[0], theirs.tree_flatten_with_path(tree)[0]
    assert [(mine.keystr(path), leaf) for path, leaf in paths] == [(theirs.keystr(p), leaf) for p, leaf in their_paths]
    assert all(mine.key_get(tree, path) is leaf for path, leaf in paths)
    if name not in ("named", "mixed"):
        assert mine.treespec_dumps(spec) == theirs.treespec_dumps(their_spec)
        assert mine.treespec_loads(mine.treespec_dumps(spec)) == spec
    assert mine.tree_structure(tree) == spec and hash(mine.tree_structure(tree)) == hash(spec)
    assert isinstance(spec, mine.LeafSpec) == isinstance(their_spec, theirs.LeafSpec)


CALLS = [
    lambda p: p.tree_map_only(int, str, [1, 2.5, {"a": 3}]),
    lambda p: p.tree_all(bool, [1, [0]]), lambda p: p.tree_any(bool, [1, [0]]),
    lambda p: p.tree_all_only(int, bool, [1, 0.0]), lambda p: p.tree_any_only(float, bool, [1, 0.0]),
    lambda p: p.tree_leaves({"a": [1, 2]}, is_leaf=lambda x: isinstance(x, list)),
    lambda p: p.arg_tree_leaves(1, [2], a=3),
    lambda p: p._broadcast_to_and_flatten([0, 1], p.tree_structure([5, [6, 7]])),
    lambda p: p._broadcast_to_and_flatten([0], p.tree_structure([5, [6, 7]])),
    lambda p: p.tree_map_with_path(lambda path, x: (p.keystr(path), x), {"a": [1, Pair(2, 3)]}),
    lambda p: p.tree_structure({"a": 1, "b": 2}).flatten_up_to({"b": [1], "a": 2}),
    lambda p: [p.tree_is_leaf(1), p.tree_is_leaf([]), p.tree_is_leaf(None)],
    lambda p: [p.is_namedtuple(Pair), p.is_namedtuple_instance((1,)), p.is_structseq((1,))],
    lambda p: p.treespec_tuple([p.treespec_leaf()]), lambda p: p.treespec_dict(a=p.treespec_leaf()),
    lambda p: p.tree_unflatten([1], p.tree_structure([1, 2])),
    lambda p: p.tree_map(max, [1], [1, 2]), lambda p: p.tree_map(max, [1], (1,)),
    lambda p: p.tree_map(max, {"a": 1}, {"b": 1}), lambda p: p.treespec_loads("[2, null]"),
    lambda p: p.tree_unflatten([1], None),
]


@each("place", range(len(CALLS)))
def test_calls(place):
    answers = []
    for module in (mine, theirs):
        try:
            answers.append(repr(CALLS[place](module)))
        except Exception as error:
            answers.append(type(error))
    assert answers[0] == answers[1]


def test_own_classes():
    import dataclasses

    @dataclasses.dataclass
    class Point:
        x: int
        y: int = None

    class Box:
        def __init__(self, *items):
            self.items = items

    class Fixed:
        def __eq__(self, other):
            return isinstance(other, Fixed)

        def __hash__(self):
            return 1

    for module in (mine, theirs):
        module.register_constant(Fixed)
        assert module.is_constant_class(Fixed) and not module.is_constant_class(dict)
        assert module.tree_leaves([Fixed(), 1]) == [1] and module.tree_map(str, [Fixed(), 1]) == [Fixed(), "1"]
        module.register_dataclass(Point)
        assert module.tree_map(lambda x: x + 1, [Point(1, 2), Point(3)]) == [Point(2, 3), Point(4)]
        module.register_pytree_node(Box, lambda box: (list(box.items), None), lambda items, _: Box(*items))
        assert module.tree_leaves(Box(1, [2])) == [1, 2]
        with pytest.raises(ValueError):
            module.register_pytree_node(Box, None, None)
        with pytest.raises(ValueError, match="flatten_with_keys"):
            module.tree_leaves_with_path(Box(1))


def test_results_with_names_are_trees():
    from dragon.vm import torch as dt
    for t, p in ((dt, mine), (torch, theirs)):
        doubled = p.tree_map(lambda x: x * 2, t.max(t.tensor([[1., 3.], [2., 0.]]), dim=1))
        assert doubled.values.tolist() == [6, 4] and p.is_structseq(doubled)


@pytest.mark.parametrize("sizes", [(), (3,), (2, 3)])
def test_sizes_are_trees(sizes):
    (leaves, spec), (their_leaves, their_spec) = (
        trees.tree_flatten({"a": room.Size(sizes)}) for trees, room in ((mine, dragon_torch), (theirs, torch)))
    assert leaves == their_leaves and repr(spec) == repr(their_spec)
    assert mine.treespec_dumps(spec) == theirs.treespec_dumps(their_spec)
    back, their_back = mine.tree_unflatten(leaves, spec)["a"], theirs.tree_unflatten(leaves, their_spec)["a"]
    assert back == their_back == sizes and type(back) is type(their_back)
    assert mine.tree_map(str, dragon_torch.Size(sizes)) == theirs.tree_map(str, torch.Size(sizes))
