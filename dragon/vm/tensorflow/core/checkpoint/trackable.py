"""Objects as trees of named parts, and what a checkpoint says of such a tree."""
from dragon.core.module import Module as AnyModule
from dragon.core.wire import BYTES, VARINT, read_fields, write_field as field, write_varint
from dragon.vm.shared.tensors.tensor import Base, Tensor
from dragon.vm.tensorflow.core.module import Module

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


def is_variable(value):
    """Return whether something is a variable, of TensorFlow or Keras."""
    return isinstance(value, Base) and not isinstance(value, Tensor) or hasattr(value, "is_string_variable")


def is_trackable(value):
    """Return whether something is a variable, or an object of named parts."""
    return is_variable(value) or isinstance(value, (Module, AnyModule)) or hasattr(value, "_checkpoint_parts") or (
        not isinstance(value, type) and isinstance(getattr(value, "variables", None), (list, tuple)))


def _holds(value):
    """Return whether lists or dictionaries hold anything trackable."""
    parts = value.values() if isinstance(value, dict) else value
    return any(is_trackable(part) or isinstance(part, (dict, list, tuple)) and _holds(part) for part in parts)


def parts_of(value):
    """Return {name: part} of the trackable parts of an object."""
    if is_variable(value):
        return {}
    if isinstance(value, dict):
        named = {str(key): part for key, part in value.items()}
    elif isinstance(value, (list, tuple)):
        named = {str(index): part for index, part in enumerate(value)}
    elif hasattr(value, "_checkpoint_parts"):
        named = value._checkpoint_parts()
    elif isinstance(value, Module):
        named = {name: part for name, part in vars(value).items() if name not in ("_name", "_scope")}
    elif isinstance(value, AnyModule):
        named = {**value._parameters, **value._buffers, **value._modules}
    else:
        named = {"variables": list(value.variables)}
    return {name: part for name, part in named.items()
            if is_trackable(part) or isinstance(part, (dict, list, tuple)) and _holds(part)}


def escape(name):
    """Return a name as keys have it: slashes and dots at the beginning are doubled."""
    return name.replace(".", "..").replace("/", ".S") if "/" in name or name.startswith(".") else name


class Node:
    """An object of a checkpoint: its parts by name, the key of its numbers, and the keys of all that it saves."""

    def __init__(self):
        self.children, self.key, self.attributes = {}, None, {}


def walk(root):
    """Return the trackable objects below a root, each once: [(object, {name: number of a part}, key)].

    Objects come in the order of TensorFlow: those near the root first; a key tells the shortest way.
    """
    order, numbers, paths = [root], {id(root): 0}, [""]
    edges, held = [], []
    for number, value in enumerate(order):
        mine = {}
        for name, part in parts_of(value).items():
            if id(part) not in numbers:
                numbers[id(part)] = len(order)
                order.append(part)
                held.append(part)
                paths.append(f"{paths[number]}/{escape(name)}".lstrip("/"))
            mine[name] = numbers[id(part)]
        edges.append(mine)
    return [(value, mine, path + SUFFIX if is_variable(value) else None)
            for value, mine, path in zip(order, edges, paths)]


def write_graph(objects):
    """Return the description of objects as a message."""
    out = bytearray()
    for value, parts, key in objects:
        node = bytearray()
        for name, number in parts.items():
            child = field(1, VARINT, write_varint(number)) if number else b""
            node += field(1, BYTES, child + field(2, BYTES, name.encode()))
        if key is not None:
            name = getattr(value, "_name", None) or "Variable"
            node += field(2, BYTES, field(1, BYTES, b"VARIABLE_VALUE") + field(2, BYTES, str(name).encode())
                          + field(3, BYTES, key.encode()))
        node += field(5, BYTES, field(1, VARINT, b"\1"))
        out += field(1, BYTES, bytes(node))
    return bytes(out)


def read_graph(message):
    """Return the root of the objects that a message describes."""
    nodes = read_nodes(message)
    return nodes[0] if nodes else Node()


def read_nodes(message):
    """Return all objects that a message describes, in its order."""
    described, nodes = [value for number, _, value in read_fields(message) if number == 1], []
    nodes = [Node() for _ in described]
    for node, text in zip(nodes, described):
        for number, _, value in read_fields(text):
            if number == 1:
                parts = {key: part for key, _, part in read_fields(value)}
                node.children[bytes(parts.get(2, b"")).decode()] = nodes[parts.get(1, 0)]
            elif number == 2:
                parts = {key: part for key, _, part in read_fields(value)}
                name, key = bytes(parts.get(1, b"")).decode(), bytes(parts.get(3, b"")).decode()
                node.attributes[name] = key
                if name == "VARIABLE_VALUE":
                    node.key = key
    return nodes
