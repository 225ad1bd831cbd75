"""Trees of Python containers, flattened to leaves and rebuilt: `torch.utils._pytree`."""
import functools
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from dragon.vm.torch.core.containers import (  # noqa: F401
    BUILTIN_TYPES, SERIALIZED_TYPE_TO_PYTHON_TYPE, SUPPORTED_NODES, SUPPORTED_SERIALIZED_TYPES, ConstantNode,
    GetAttrKey, KeyEntry, MappingKey, NodeDef, SequenceKey, _defaultdict_flatten, _defaultdict_unflatten,
    _deregister_pytree_node, _dict_flatten, _dict_flatten_with_keys, _dict_unflatten, _get_node_type,
    _is_namedtuple_instance, _list_flatten, _node_of, _ordereddict_unflatten, _private_register_pytree_node,
    _register_pytree_node, _tuple_flatten, is_constant_class, is_namedtuple, is_namedtuple_class,
    is_namedtuple_instance, is_structseq, is_structseq_class, is_structseq_instance, key_get, keystr,
    register_constant, register_dataclass, register_pytree_node)

Context = PyTree = Any


# --- structures

class TreeSpec:
    """A tree's structure: its class, context and children's structures.

    Parameters
    ----------
    type : type
        The container's class; None for a leaf.
    context : Any
        What its flattening gave beside the children.
    children_specs : list[TreeSpec]
        Of the children.

    """

    __slots__ = ("type", "context", "children_specs", "num_nodes", "num_leaves", "num_children")

    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, list(children_specs)
        self.num_children = len(self.children_specs)
        self.num_nodes = 1 + sum(spec.num_nodes for spec in self.children_specs)
        self.num_leaves = 1 if type is None else sum(spec.num_leaves for spec in self.children_specs)

    _children = property(lambda self: self.children_specs)
    _context = property(lambda self: self.context)

    def is_leaf(self):
        """Return whether this is a leaf's structure."""
        return self.type is None

    def children(self):
        """Return the children's structures."""
        return list(self.children_specs)

    def child(self, index):
        """Return one child's structure."""
        return self.children_specs[index]

    def flatten_up_to(self, tree):
        """Return the parts of a tree that stand where this structure has leaves."""
        if self.type is None:
            return [tree]
        kind = _get_node_type(tree)
        both_dicts = kind in (dict, OrderedDict, defaultdict) and self.type in (dict, OrderedDict, defaultdict)
        if kind is not self.type and not both_dicts:
            raise ValueError(f"tree: got a node of type {kind}, expected {self.type}")
        if both_dicts:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"tree: got the keys {list(tree)}, expected {list(keys)}")
            children = [tree[key] for key in keys]
        else:
            children, context = _node_of(kind).flatten_fn(tree)
            if len(children) != self.num_children:
                raise ValueError(f"tree: got {len(children)} children, expected {self.num_children}")
            if context != self.context and kind is not deque:
                raise ValueError(f"tree: got a node of context {context}, expected {self.context}")
        return [part for child, spec in zip(children, self.children_specs) for part in spec.flatten_up_to(child)]

    def unflatten(self, leaves):
        """Return a tree of this structure."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"treespec.unflatten: got {len(leaves)} leaves, expected {self.num_leaves}; the "
                             f"structure is {self}")
        return self._build(iter(leaves))

    def _build(self, leaves):
        if self.type is None:
            return next(leaves)
        return _node_of(self.type).unflatten_fn([spec._build(leaves) for spec in self.children_specs], self.context)

    def __eq__(self, other):
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)

    def __hash__(self):
        return hash((self.type, repr(self.context), tuple(self.children_specs)))

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        prefix = f"TreeSpec({self.type.__name__}, {self.context}, ["
        inner = ",\n".join((" " * (indent + 2) if place else "") + spec.__repr__(indent + 2)
                           for place, spec in enumerate(self.children_specs))
        return f"{prefix}{inner}])"


PyTreeSpec = TreeSpec


class _LeafMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, TreeSpec) and instance.type is None


class LeafSpec(TreeSpec, metaclass=_LeafMeta):
    """The structure of a leaf."""

    __slots__ = ()

    def __new__(cls):
        return treespec_leaf()


_LEAF = TreeSpec(None, None, [])


def treespec_leaf():
    """Return the structure of a leaf."""
    return _LEAF


def treespec_tuple(iterable=(), /):
    """Return the structure of a tuple of structures."""
    return TreeSpec(tuple, None, iterable)


def treespec_dict(mapping=(), /, **kwargs):
    """Return the structure of a dict of structures."""
    entries = dict(mapping, **kwargs)
    return TreeSpec(dict, list(entries), entries.values())


# --- walks

def _is_leaf(tree, is_leaf=None):
    return is_leaf is not None and is_leaf(tree) or _node_of(_get_node_type(tree)) is None


tree_is_leaf = _is_leaf


def _flatten(tree, leaves, is_leaf):
    """Append a tree's leaves to a list and return its structure."""
    kind = _get_node_type(tree)
    node = _node_of(kind)
    if node is None or is_leaf is not None and is_leaf(tree):
        leaves.append(tree)
        return _LEAF
    children, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_flatten(tree, is_leaf=None):
    """Return (leaves, structure)."""
    leaves = []
    return leaves, _flatten(tree, leaves, is_leaf)


def tree_unflatten(leaves, treespec):
    """Return a tree from leaves and a structure."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten: got {type(treespec).__name__}, expected a TreeSpec")
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """Yield a tree's leaves."""
    if _is_leaf(tree, is_leaf):
        yield tree
        return
    for child in _node_of(_get_node_type(tree)).flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree, is_leaf=None):
    """Return a tree's leaves."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    """Return a tree's structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """Return a tree with a function of each leaf, and of what stands there in further trees."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Call a function on each leaf and return the tree."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]), maxlen=0)
    return tree


def map_only(type_or_types_or_pred, /):
    """Return a decorator that leaves objects of other types as they are."""
    wanted = type_or_types_or_pred
    is_wanted = wanted if callable(wanted) and not isinstance(wanted, type) else lambda x: isinstance(x, wanted)

    def decorate(function):
        @functools.wraps(function)
        def apply(value):
            return function(value) if is_wanted(value) else value
        return apply
    return decorate


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """Return a tree with a function of each leaf of some types."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """Call a function on each leaf of some types and return the tree."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Return whether a condition holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Return whether a condition holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Return whether a condition holds for all leaves of some types."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Return whether a condition holds for a leaf of some types."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def arg_tree_leaves(*args, **kwargs):
    """Return the leaves of all arguments."""
    return tree_leaves((args, kwargs))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """Return as many leaves as a structure has, repeating those of a shallower tree; None if they don't fit."""
    if _is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) is not treespec.type:
        return None
    children, context = _node_of(treespec.type).flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    parts = [_broadcast_to_and_flatten(child, spec, is_leaf) for child, spec in zip(children, treespec.children_specs)]
    return None if None in parts else [leaf for part in parts for leaf in part]


# --- walks with paths

def _generate_key_paths(key_path, tree, is_leaf=None):
    """Yield (path, leaf)."""
    if _is_leaf(tree, is_leaf):
        yield key_path, tree
        return
    kind = _get_node_type(tree)
    keyed = _node_of(kind).flatten_with_keys_fn
    if keyed is None:
        raise ValueError(f"tree: got a node of type {kind} without flatten_with_keys_fn, expected one for paths")
    for key, child in keyed(tree)[0]:
        yield from _generate_key_paths((*key_path, key), child, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """Return [(path, leaf)]."""
    return list(_generate_key_paths((), tree, is_leaf))


def tree_flatten_with_path(tree, is_leaf=None):
    """Return ([(path, leaf)], structure)."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """Return a tree with a function of each path and leaf."""
    leaves, spec = tree_flatten_with_path(tree, is_leaf)
    paths, values = [path for path, _ in leaves], [leaf for _, leaf in leaves]
    return spec.unflatten(map(func, paths, values, *[spec.flatten_up_to(rest) for rest in rests]))


# --- structures as JSON

def _to_json(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    if spec.type not in SUPPORTED_SERIALIZED_TYPES:
        raise NotImplementedError(f"treespec_dumps: got {spec.type}, expected a class that was registered")
    name, dump, _ = SUPPORTED_SERIALIZED_TYPES[spec.type]
    if spec.type is namedtuple:
        raise NotImplementedError(f"treespec_dumps: got the named tuple {spec.context}, expected other containers")
    return {"type": name, "context": json.dumps(spec.context) if dump is None else dump(spec.context),
            "children_spec": [_to_json(child) for child in spec.children_specs]}


def _from_json(data):
    if data["type"] is None:
        return _LEAF
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE.get(data["type"])
    if cls is None:
        raise NotImplementedError(f"treespec_loads: got {data['type']!r}, expected a class that was registered")
    read = SUPPORTED_SERIALIZED_TYPES[cls][2] or json.loads
    return TreeSpec(cls, read(data["context"]), [_from_json(part) for part in data["children_spec"]])


def treespec_dumps(treespec, protocol=None):
    """Return a structure as JSON."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"treespec_dumps: got {type(treespec).__name__}, expected a TreeSpec")
    if protocol not in (None, 1):
        raise ValueError(f"treespec_dumps: got protocol {protocol}, expected 1")
    return json.dumps([1, _to_json(treespec)])


def treespec_loads(serialized):
    """Return a structure from JSON."""
    protocol, data = json.loads(serialized)
    if protocol != 1:
        raise ValueError(f"treespec_loads: got protocol {protocol}, expected 1")
    return _from_json(data)


def treespec_pprint(treespec):
    """Return a structure as text, over several lines."""
    return repr(treespec)


pytree_to_str, str_to_pytree = treespec_dumps, treespec_loads
