"""Graphs of scripts: values, nodes, blocks, functions, as text and to walk through."""
from dragon.vm.torch.core.scripting.types import NONE, TupleType


class Value:
    """What a node gives: a type, and a name to show it by."""

    __slots__ = "type", "node", "hint", "name"

    def __init__(self, type, node=None, hint=None):
        self.type, self.node, self.hint, self.name = type, node, hint, None

    def debugName(self):
        """Return the name that the graph's text has."""
        return self.name or self.hint or "?"


class Node:
    """One step.

    Parameters
    ----------
    kind : str
        "aten::add", say.
    inputs : Sequence[Value]
        What it takes.
    schema : Schema, optional
        Of an operator.
    place : Place, optional
        In the source.
    **attributes : Any
        What is known beforehand.

    """

    def __init__(self, kind, inputs=(), schema=None, place=None, **attributes):
        self.kind_, self.inputs_, self.schema, self.place = kind, list(inputs), schema, place
        self.attributes = attributes
        self.outputs_, self.blocks_ = [], []

    def add(self, type, hint=None):
        """Return a new output."""
        value = Value(type, self, hint)
        self.outputs_.append(value)
        return value

    def block(self):
        """Return a new block."""
        block = Block(self)
        self.blocks_.append(block)
        return block

    def kind(self):
        """Return the operator's name."""
        return self.kind_

    def inputs(self):
        """Return an iterator over what it takes."""
        return iter(self.inputs_)

    def outputs(self):
        """Return an iterator over what it gives."""
        return iter(self.outputs_)

    def output(self):
        """Return what it gives."""
        return self.outputs_[0]

    def blocks(self):
        """Return an iterator over its blocks."""
        return iter(self.blocks_)

    def sourceRange(self):
        """Return where it stands in the source."""
        return str(self.place or "")


class Block:
    """Steps in order, with what comes in and goes out."""

    def __init__(self, owner=None):
        self.owner, self.inputs_, self.outputs_, self.steps = owner, [], [], []

    def take(self, type, hint=None):
        """Return a new input."""
        value = Value(type, None, hint)
        self.inputs_.append(value)
        return value

    def append(self, node):
        """Put a step at the end."""
        self.steps.append(node)
        return node

    def inputs(self):
        """Return an iterator over what comes in."""
        return iter(self.inputs_)

    def outputs(self):
        """Return an iterator over what goes out."""
        return iter(self.outputs_)

    def nodes(self):
        """Return an iterator over the steps."""
        return iter(self.steps)

    def walk(self):
        """Yield all steps, those of inner blocks too."""
        for node in self.steps:
            yield node
            for block in node.blocks_:
                yield from block.walk()


class Graph(Block):
    """The outermost block of a function."""

    def findNode(self, kind, recurse=True):
        """Return the first step of a kind, or None."""
        return next(iter(self.findAllNodes(kind, recurse)), None)

    def findAllNodes(self, kind, recurse=True):
        """Return all steps of a kind."""
        return [node for node in (self.walk() if recurse else self.steps) if node.kind_ == kind]

    def __str__(self):
        return write_graph(self)

    __repr__ = __str__

    def str(self):
        """Return the text."""
        return write_graph(self)


def write_graph(graph):
    """Return a graph as text."""
    used, lines = set(), []

    def name(value):
        if value.name is None or value.name not in used:
            base = hint = value.hint if value.hint and value.hint.isidentifier() else None
            count = 0
            while base is None or base in used:
                count += 1
                base = f"{hint}.{count}" if hint else str(count + len(used))
            value.name = base
            used.add(base)
        return "%" + value.name

    def told(value):
        return f"{name(value)} : {value.type}"

    def write(block, indent):
        for node in block.steps:
            outputs = ", ".join(map(told, node.outputs_))
            shown = {key: item for key, item in node.attributes.items() if key in ("name", "value")}
            inner = ", ".join(f"{key}={write_value(item)}" for key, item in shown.items())
            marks = f"[{inner}]" if shown else ""
            takes = ", ".join(map(name, node.inputs_))
            lines.append(f"{indent}{outputs + ' = ' if outputs else ''}{node.kind_}{marks}({takes})")
            for number, part in enumerate(node.blocks_):
                lines.append(f"{indent}  block{number}({', '.join(map(told, part.inputs_))}):")
                write(part, indent + "    ")
                lines.append(f"{indent}    -> ({', '.join(map(name, part.outputs_))})")

    for value in graph.inputs_:
        value.name = None
    for node in graph.walk():
        for value in (*node.outputs_, *(item for block in node.blocks_ for item in block.inputs_)):
            value.name = None
    head = ",\n      ".join(map(told, graph.inputs_))
    write(graph, "  ")
    lines.append(f"  return ({', '.join(map(name, graph.outputs_))})")
    return "\n".join([f"graph({head}):", *lines]) + "\n"


def write_value(value):
    """Return a constant as graphs show it."""
    if isinstance(value, str):
        import json
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(write_value, value)) + "]"
    return "<Tensor>" if hasattr(value, "requires_grad") else str(value)


class Argument:
    """One argument of a schema."""

    __slots__ = "name", "type", "default", "keyword", "size"

    def __init__(self, name, type, default=..., keyword=False, size=None):
        self.name, self.type, self.default, self.keyword, self.size = name, type, default, keyword, size

    @property
    def has_default(self):
        """Return whether it may be left out."""
        return self.default is not ...

    def has_default_value(self):
        """Return whether it may be left out."""
        return self.default is not ...

    default_value = property(lambda self: None if self.default is ... else self.default)
    kwarg_only = property(lambda self: self.keyword)

    def __str__(self):
        end = "" if self.default is ... else "=" + write_value(self.default)
        return f"{self.type} {self.name}{end}"


class Schema:
    """What a function takes and gives.

    Parameters
    ----------
    name : str
        "aten::add" or the function's.
    overload : str
        "Tensor", say; empty for the one without.
    arguments : Sequence[Argument]
        What it takes.
    result : Type
        What it gives.
    many : bool, optional
        Whether any number of further arguments may follow.
    results : Sequence[Type], optional
        Where it gives several.
    writes : bool, optional
        Whether it writes to an argument.
    plain : Schema, optional
        The one whose result this one writes into its last argument, `out`.

    """

    def __init__(self, name, overload, arguments, result, many=False, results=None, writes=False, plain=None):
        self.name, self.overload_name, self.arguments, self.result = name, overload, list(arguments), result
        self.many, self.results, self.writes, self.plain = many, results, writes, plain

    @property
    def returns(self):
        """Return the results, one argument each."""
        kinds = self.results if self.results is not None else [self.result]
        return [Argument("", kind) for kind in kinds]

    def __str__(self):
        parts, star = [], False
        for argument in self.arguments:
            if argument.keyword and not star:
                parts.append("*")
                star = True
            parts.append(str(argument))
        if self.many:
            parts.append("...")
        if self.results is not None:
            told = f"({', '.join(map(str, self.results))})"
        else:
            told = f"({self.result})" if isinstance(self.result, TupleType) or self.result != NONE else "NoneType"
        name = self.name + (f".{self.overload_name}" if self.overload_name else "")
        return f"{name}({', '.join(parts)}) -> {told}"

    __repr__ = __str__
