"""Trees of Python containers, flattened to leaves and rebuilt: `torch.utils._pytree`."""
import dataclasses
import functools
import importlib
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from dragon.vm.torch.core.missing import module_getattr

NodeDef = namedtuple("NodeDef", "type flatten_fn unflatten_fn flatten_with_keys_fn")
SUPPORTED_NODES = {}
# Of a class: the name that JSON knows it by, and functions of its context to and from JSON.
SUPPORTED_SERIALIZED_TYPES, SERIALIZED_TYPE_TO_PYTHON_TYPE = {}, {}
BUILTIN_TYPES = frozenset((tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque))
Context = PyTree = Any


# --- keys: the way from a tree's root to a leaf

class KeyEntry:
    """One step of a path: compared and hashed by what it holds."""

    def get(self, parent):
        """Return the child that the step leads to."""
        raise NotImplementedError(f"{type(self).__name__}: got no get, expected one")


@dataclasses.dataclass(frozen=True)
class SequenceKey(KeyEntry):
    """The step to an item of a sequence."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, parent):
        """Return the item."""
        return parent[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey(KeyEntry):
    """The step to a value of a mapping."""

    key: Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, parent):
        """Return the value."""
        return parent[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey(KeyEntry):
    """The step to an attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, parent):
        """Return the attribute."""
        return getattr(parent, self.name)


def keystr(kp):
    """Return a path as text."""
    return "".join(str(key) for key in kp)


def key_get(obj, kp):
    """Return what a path leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj


# --- classes of containers

def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                         from_dumpable_context=None, flatten_with_keys_fn=None):
    """Teach trees a container: from it to (children, context) and back."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"register_pytree_node: got {cls}, which is registered already")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"register_pytree_node: got one of to_dumpable_context and from_dumpable_context for {cls}, "
                         "expected both or none")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    name = serialized_type_name or f"{cls.__module__}.{cls.__qualname__}"
    SUPPORTED_SERIALIZED_TYPES[cls] = name, to_dumpable_context, from_dumpable_context
    SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def _register_pytree_node(cls, flatten_fn, unflatten_fn, to_str_fn=None, maybe_from_str_fn=None, **options):
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


_private_register_pytree_node = _register_pytree_node


def _deregister_pytree_node(cls):
    del SUPPORTED_NODES[cls]
    del SERIALIZED_TYPE_TO_PYTHON_TYPE[SUPPORTED_SERIALIZED_TYPES.pop(cls)[0]]


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Teach trees a dataclass, whose fields are the children."""
    if field_names is None:
        field_names = [field.name for field in dataclasses.fields(cls)
                       if field.init and field.name not in (drop_field_names or ())]

    def flatten(value):
        kept = [name for name in field_names if getattr(value, name) is not None]
        absent = [name for name in field_names if getattr(value, name) is None]
        return [getattr(value, name) for name in kept], [kept, absent]

    def unflatten(values, context):
        return cls(**dict(zip(context[0], values)), **dict.fromkeys(context[1]))

    def flatten_with_keys(value):
        values, context = flatten(value)
        return [(MappingKey(name), entry) for name, entry in zip(context[0], values)], context
    register_pytree_node(cls, flatten, unflatten, serialized_type_name=serialized_type_name,
                         flatten_with_keys_fn=flatten_with_keys)


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """What a tree's structure keeps of an object that has no leaves."""

    value: Any


def register_constant(cls):
    """Teach trees a class of constants: they are part of the structure and no leaves."""
    register_pytree_node(cls, lambda value: ([], ConstantNode(value)), lambda values, context: context.value,
                         flatten_with_keys_fn=lambda value: ([], ConstantNode(value)))


def is_constant_class(cls):
    """Return whether a class was given to `register_constant`."""
    node = SUPPORTED_NODES.get(cls)
    return node is not None and node.unflatten_fn.__code__.co_name == "<lambda>" and cls not in BUILTIN_TYPES


def is_namedtuple_class(cls):
    """Return whether a class is one of `collections.namedtuple`."""
    return (isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)
            and callable(getattr(cls, "_make", None)) and callable(getattr(cls, "_asdict", None)))


def is_namedtuple_instance(obj):
    """Return whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj):
    """Return whether an object or class is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def is_structseq_class(cls):
    """Return whether a class is a structure sequence, as `torch.return_types.max`."""
    return isinstance(cls, type) and issubclass(cls, tuple) and all(
        isinstance(getattr(cls, name, None), int) for name in ("n_sequence_fields", "n_fields", "n_unnamed_fields"))


def is_structseq_instance(obj):
    """Return whether an object is a structure sequence."""
    return is_structseq_class(type(obj))


def is_structseq(obj):
    """Return whether an object or class is a structure sequence."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def _with_indices(value):
    return [(SequenceKey(index), entry) for index, entry in enumerate(value)]


def _with_keys(value):
    return [(MappingKey(key), entry) for key, entry in value.items()]


def _tuple_flatten(d):
    return list(d), None


def _list_flatten(d):
    return d, None


def _dict_flatten(d):
    return list(d.values()), list(d.keys())


def _dict_unflatten(values, context):
    return dict(zip(context, values))


def _dict_flatten_with_keys(d):
    return _with_keys(d), list(d.keys())


def _ordereddict_unflatten(values, context):
    return OrderedDict(zip(context, values))


def _defaultdict_flatten(d):
    return list(d.values()), [d.default_factory, list(d.keys())]


def _defaultdict_unflatten(values, context):
    return defaultdict(context[0], zip(context[1], values))


def _register():
    """Teach trees Python's own containers."""
    def add(cls, flatten, unflatten, keyed, name):
        register_pytree_node(cls, flatten, unflatten, serialized_type_name=name,
                             flatten_with_keys_fn=lambda value: (keyed(value), flatten(value)[1]))
    add(tuple, _tuple_flatten, lambda values, context: tuple(values), _with_indices, "builtins.tuple")
    add(list, _list_flatten, lambda values, context: list(values), _with_indices, "builtins.list")
    add(dict, _dict_flatten, _dict_unflatten, _with_keys, "builtins.dict")
    add(OrderedDict, _dict_flatten, _ordereddict_unflatten, _with_keys, "collections.OrderedDict")
    add(defaultdict, _defaultdict_flatten, _defaultdict_unflatten, _with_keys, "collections.defaultdict")
    add(deque, lambda value: (list(value), value.maxlen), lambda values, context: deque(values, maxlen=context),
        _with_indices, "collections.deque")
    add(namedtuple, lambda value: (list(value), type(value)), lambda values, context: context(*values),
        lambda value: [(GetAttrKey(name), entry) for name, entry in zip(value._fields, value)],
        "collections.namedtuple")
    SUPPORTED_SERIALIZED_TYPES[defaultdict] = (
        "collections.defaultdict",
        lambda context: {"default_factory_module": context[0].__module__,
                         "default_factory_name": context[0].__qualname__, "dict_context": context[1]},
        lambda data: [getattr(importlib.import_module(data["default_factory_module"]), data["default_factory_name"]),
                      data["dict_context"]])


_register()


def _get_node_type(tree):
    """Return the class that says how an object is flattened."""
    kind = type(tree)
    if kind not in SUPPORTED_NODES and is_namedtuple_class(kind):
        return namedtuple
    return kind


def _node_of(kind):
    """Return how a class is flattened, or None for a class of leaves."""
    node = SUPPORTED_NODES.get(kind)
    if node is None and is_structseq_class(kind):
        node = NodeDef(kind, _tuple_flatten, lambda values, context: kind(tuple(values)),
                       lambda value: (_with_indices(value), None))
    return node


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
__getattr__ = module_getattr("torch.utils._pytree", globals())
