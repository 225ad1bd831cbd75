"""The parts of trees of Python containers: classes, how they are flattened, and the steps of a path."""
import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from importlib import import_module
from typing import Any

from dragon.vm.torch.core.size import Size

NodeDef = namedtuple("NodeDef", "type flatten_fn unflatten_fn flatten_with_keys_fn")
SUPPORTED_NODES = {}
# Of a class: the name that JSON knows it by, and functions of its context to and from JSON.
SUPPORTED_SERIALIZED_TYPES, SERIALIZED_TYPE_TO_PYTHON_TYPE = {}, {}
CONSTANT_CLASSES = set()
BUILTIN_TYPES = frozenset((tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque))


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
    """The rest that a tree's structure keeps of an object without leaves."""

    value: Any


def register_constant(cls):
    """Teach trees a class of constants: they are part of the structure and no leaves."""
    CONSTANT_CLASSES.add(cls)
    register_pytree_node(cls, lambda value: ([], ConstantNode(value)), lambda values, context: context.value,
                         flatten_with_keys_fn=lambda value: ([], ConstantNode(value)))


def is_constant_class(cls):
    """Return whether a class was given to `register_constant`."""
    return cls in CONSTANT_CLASSES


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
    """Teach trees Python's own containers, and sizes, which come back as tuples."""
    def add(cls, flatten, unflatten, keyed, name):
        register_pytree_node(cls, flatten, unflatten, serialized_type_name=name,
                             flatten_with_keys_fn=lambda value: (keyed(value), flatten(value)[1]))
    add(tuple, _tuple_flatten, lambda values, context: tuple(values), _with_indices, "builtins.tuple")
    add(Size, _tuple_flatten, lambda values, context: tuple(values), _with_indices, "torch.Size")
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
        lambda data: [getattr(import_module(data["default_factory_module"]), data["default_factory_name"]),
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
