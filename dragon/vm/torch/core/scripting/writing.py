"""Graphs of scripts written as code, in the dialect of PyTorch's archives."""
import enum
import keyword

from dragon.vm.torch.core.scripting.words import NUMBERS
from dragon.vm.torch.core.scripting.literals import is_identifier, number, quoted
from dragon.vm.torch.core.scripting.loops import MOST_TURNS
from dragon.vm.torch.core.scripting.types import (
    NONE, NOTHING, STRING, ClassType, DictType, EnumType, FutureType, InterfaceType, ListType, OptionalType,
    TupleType, UnionType)

TAKEN = {*keyword.kwlist, *NUMBERS, "torch", "ops", "CONSTANTS", "__torch__", "annotate", "uninitialized", "fork",
         "unchecked_cast", "isinstance", "getattr", "print", "range", "len", "int", "float", "bool", "str", "tuple",
         "list", "complex", "self_", "None", "self", "min", "max", "device", "dtype", "prim", "aten", "number",
         "Tensor",
         "as", "with", "dict", "any", "all", "abs", "rangelist", "wait", "interface", "super", "sorted", "ord", "chr"}
CASTS = {"aten::Int": "int", "aten::Float": "float", "aten::Bool": "bool", "aten::str": "str",
         "aten::Complex": "complex"}


class CodeWriter:
    """Write functions and classes, and note what they need.

    Attributes
    ----------
    constants : list
        Tensors, which the code calls CONSTANTS.c0 and so on.
    waiting : list
        Functions and types that the code names.

    """

    def __init__(self):
        self.constants, self.numbers, self.waiting = [], {}, []
        self.names, self.used = {}, {}

    # --- names

    def name_of(self, item, qualified):
        """Return the full name of a function or type, which no other has."""
        if id(item) not in self.names:
            count = self.used.get(qualified, 0)
            self.used[qualified] = count + 1
            room, _, name = qualified.rpartition(".")
            found = qualified if not count else f"{room}.___torch_mangle_{count + 1000}.{name}"
            self.names[id(item)] = found
            self.waiting.append(item)
        return self.names[id(item)]

    def tell(self, kind):
        """Return a type as an annotation."""
        if isinstance(kind, FutureType):  # a fork is made at once
            return self.tell(kind.element)
        if isinstance(kind, (ClassType, InterfaceType)):
            return self.name_of(kind, kind.qualified)
        if isinstance(kind, EnumType):
            return self.name_of(kind.made, kind.qualified) if self.keep(kind) else None
        if isinstance(kind, TupleType):
            if kind.qualified:
                return self.name_of(self.tuple_key(kind), kind.qualified)
            return f"Tuple[{', '.join(map(self.tell, kind.elements))}]" if kind.elements else "Tuple[()]"
        if isinstance(kind, ListType):
            return f"List[{self.tell(kind.element)}]"
        if isinstance(kind, DictType):
            return f"Dict[{self.tell(kind.index)}, {self.tell(kind.value)}]"
        if isinstance(kind, OptionalType):
            return f"Optional[{self.tell(kind.element)}]"
        if isinstance(kind, UnionType):
            return f"Union[{', '.join(map(self.tell, kind.options))}]"
        return kind.annotation()

    def keep(self, kind):
        """Remember an enumeration's type by its class."""
        self.kept = getattr(self, "kept", {})
        self.kept[id(kind.made)] = kind
        return True

    def tuple_key(self, kind):
        """Return one object for all types of a class of named tuples."""
        self.tuples = getattr(self, "tuples", {})
        return self.tuples.setdefault(kind.key(), kind)

    def constant_name(self, tensor):
        """Return the name of a tensor among the constants."""
        if id(tensor) not in self.numbers:
            self.numbers[id(tensor)] = len(self.constants)
            self.constants.append(tensor)
        return f"CONSTANTS.c{self.numbers[id(tensor)]}"

    def literal(self, value):
        """Return a constant as code."""
        if value is None or isinstance(value, bool):
            return str(value)
        if isinstance(value, enum.Enum):
            return f"{self.names.get(id(type(value)), '')}.{value.name}"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return number(value)
        if isinstance(value, complex):
            return f"torch.Complex({number(value.real)}, {number(value.imag)})"
        if isinstance(value, str):
            return quoted(value)
        if isinstance(value, (list, tuple)):
            inner = ", ".join(map(self.literal, value)) + ("," if len(value) == 1 and isinstance(value, tuple) else "")
            return f"[{inner}]" if isinstance(value, list) else f"({inner})"
        if hasattr(value, "requires_grad"):
            return self.constant_name(value)
        return f"torch.device({quoted(str(value))})"

    # --- functions

    def function(self, function, name=None, is_method=False):
        """Return the lines of a function."""
        function = function.ready()
        return FunctionWriter(self, function).lines(name or function.name, is_method)

    def class_lines(self, kind):
        """Return the lines of a class or module."""
        name = self.tell(kind).rpartition(".")[2]
        lines = [f"class {name}{'(Module)' if kind.is_module else ''}:"]
        if kind.is_module:
            for word, names in (("parameters", kind.parameters), ("buffers", kind.buffers)):
                lines.append(f"  __{word}__ = [{''.join(quoted(each) + ', ' for each in names)}]")
            for word, names in (("pre_hooks", kind.pre_hooks), ("hooks", kind.hooks)):
                if names:
                    lines.append(f"  __forward_{word}__ = [{''.join(quoted(each) + ', ' for each in names)}]")
        marked = False
        for each, inner in kind.attributes.items():
            told = self.tell(inner)
            if is_identifier(each):
                lines.append(f"  {each} : {told}")
            else:
                lines += [] if marked else ["  __annotations__ = []"]
                marked = True
                lines.append(f"  __annotations__[{quoted(each)}] = {told}")
        lines += self.constant_lines(kind)
        for each, function in (*kind.methods.items(), *kind.hook_methods.items()):
            if function.graph is not None:
                lines += ["  " + line for line in self.function(function, each, True)]
        return lines if len(lines) > 1 else [*lines, "  pass"]

    def constant_lines(self, kind):
        """Return the lines of a class's constants."""
        from dragon.vm.torch.core.scripting.codes import to_code
        from dragon.vm.torch.core.scripting.resolving import type_of_value
        found = []
        for name, value in kind.constants.items():
            value = to_code(tuple(value) if isinstance(value, list) else value)
            parts = value if isinstance(value, tuple) and value else [value]
            if value is None or all(isinstance(part, (bool, int, float, str)) for part in parts):
                if is_identifier(name):
                    told = self.tell(type_of_value(kind.unit, value))
                    found.append(f"  {name} : Final[{told}] = {self.literal(value)}")
        return found

    def enum_lines(self, kind):
        """Return the lines of an enumeration."""
        name = self.names[id(kind.made)].rpartition(".")[2]
        return [f"class {name}(Enum):", *(f"  {member.name} = {self.literal(member.value)}" for member in kind.made)]

    def tuple_lines(self, kind):
        """Return the lines of a class of named tuples."""
        name = self.tell(kind).rpartition(".")[2]
        first = len(kind.fields) - len(kind.defaults)
        ends = [""] * first + [f" = {self.literal(value)}" for value in kind.defaults]
        return [f"class {name}(NamedTuple):", *(f"  {field} : {self.tell(part)}{end}" for field, part, end in
                                                zip(kind.fields, kind.elements, ends))]

    def interface_lines(self, kind):
        """Return the lines of an interface."""
        name = self.tell(kind).rpartition(".")[2]
        lines = [f"class {name}({'ModuleInterface' if kind.is_module else 'Interface'}):"]
        for each, schema in kind.methods.items():
            taken = [f"{part.name}: {self.tell(part.type)}" for part in schema.arguments]
            lines += [f"  def {each}({', '.join(taken)}) -> {self.tell(schema.result)}:", "    pass"]
        return lines


class FunctionWriter:
    """Write the code of one function."""

    def __init__(self, writer, function):
        self.writer, self.owner = writer, function
        self.texts, self.taken, self.indent, self.found = {}, set(TAKEN), 1, []
        self.uses = {}
        for node in function.graph.walk():
            for value in (*node.inputs_, *(out for block in node.blocks_ for out in block.outputs_)):
                self.uses[id(value)] = self.uses.get(id(value), 0) + 1

    def lines(self, name, is_method):
        """Return the lines."""
        schema, graph = self.owner.schema, self.owner.graph
        taken = []
        for argument, value in zip(schema.arguments, graph.inputs_):
            self.texts[id(value)] = told = self.fresh(argument.name, exact=True)
            end = "" if argument.default is ... else "=" + self.default(argument)
            taken.append(f"{told}: {self.writer.tell(argument.type)}{end}")
        self.block(graph)
        self.put(f"return {self.text(graph.outputs_[0])}")
        head = f"def {name}({', '.join(taken)}) -> {self.writer.tell(schema.result)}:"
        return [head, *self.found]

    def default(self, argument):
        """Return a default as code."""
        value = argument.default
        if isinstance(value, int) and not isinstance(value, bool) and argument.type.name == "float":
            value = float(value)
        if isinstance(value, tuple) and isinstance(argument.type, ListType):
            value = list(value)
        return self.writer.literal(value)

    def fresh(self, hint, exact=False):
        """Return a name that no other value has."""
        hint = "".join(part if part.isalnum() or part == "_" else "_" for part in hint or "") or "_"
        hint = hint if not hint[0].isdigit() else "_" + hint
        if exact and (hint == "self" or hint not in self.taken):
            self.taken.add(hint)
            return hint
        hint = hint.rstrip("0123456789") or "_"
        name, count = hint if hint != "_" else "_0", 0
        while name in self.taken:
            name, count = f"{hint}{count}", count + 1
        self.taken.add(name)
        return name

    def put(self, line):
        """Add a line."""
        self.found.append("  " * self.indent + line)

    def text(self, value):
        """Return a value as code."""
        return self.texts[id(value)]

    def bind(self, value, hint=None):
        """Return the name of a value that is now made."""
        self.texts[id(value)] = name = self.fresh(hint or value.hint)
        return name

    def block(self, block):
        """Write the steps of a block."""
        start, depth = self.indent, 0
        for node in block.steps:
            if node.kind_ == "prim::Enter":
                self.put(f"with {self.text(node.inputs_[0])}:")
                self.indent += 1
                depth += 1
                self.texts.update((id(value), "None") for value in node.outputs_)
                self.empty_at = len(self.found)
            elif node.kind_ == "prim::Exit":
                if len(self.found) == getattr(self, "empty_at", -1):
                    self.put("pass")
                self.indent -= 1
                depth -= 1
            else:
                self.step(node)
        self.indent = start

    def step(self, node):
        """Write one step."""
        kind = node.kind_
        if kind == "prim::Constant":
            value = node.attributes["value"]
            if isinstance(value, enum.Enum):
                self.writer.tell(node.outputs_[0].type)
            from dragon.vm.torch.core.scripting.codes import to_code
            told = node.outputs_[0].type
            value = to_code(value)
            self.texts[id(node.outputs_[0])] = (f"torch.device({quoted(value)})" if isinstance(value, str)
                                                and told != STRING else self.writer.literal(value))
            return
        own = getattr(self, "do_" + kind.partition("::")[2], None) if kind.startswith("prim::") else None
        if own is not None:
            own(node)
            return
        expression = self.expression(node)
        if not node.outputs_:
            self.put(expression)
        elif len(node.outputs_) == 1:
            self.put(f"{self.bind(node.outputs_[0])} = {expression}")
        else:
            self.put(f"{', '.join(map(self.bind, node.outputs_))} = {expression}")

    def expression(self, node):
        """Return a step as code."""
        name, args = node.kind_, [self.text(value) for value in node.inputs_]
        if name in CASTS:
            return f"{CASTS[name]}({', '.join(args)})"
        if name == "aten::wait":
            return args[0]
        space, _, word = name.partition("::")
        callee = f"torch.{word}" if space == "aten" else f"ops.{space}.{word}"
        if node.schema is not None:
            for place, argument in enumerate(node.schema.arguments):
                if argument.keyword:
                    args[place] = f"{argument.name}={args[place]}"
                elif isinstance(argument.type, ListType) and isinstance(argument.type.element, OptionalType):
                    args[place] = f"annotate({self.writer.tell(argument.type)}, {args[place]})" if args[
                        place].startswith("[") else args[place]
        return f"{callee}({', '.join(args)})"

    # --- steps of the compiler

    def inline(self, node, text):
        """Let a value be the code itself if one step uses it, a variable otherwise."""
        value = node.outputs_[0]
        self.put(f"{self.bind(value)} = {text}")

    def do_ListConstruct(self, node):
        """Write a list."""
        kind, parts = node.outputs_[0].type, node.inputs_
        text = f"[{', '.join(map(self.text, parts))}]"
        if not parts or any(part.type != kind.element for part in parts):
            text = f"annotate({self.writer.tell(kind)}, {text})"
        self.inline(node, text)

    def do_DictConstruct(self, node):
        """Write a dictionary."""
        kind, parts = node.outputs_[0].type, [self.text(value) for value in node.inputs_]
        text = "{" + ", ".join(f"{key}: {value}" for key, value in zip(parts[::2], parts[1::2])) + "}"
        if not parts or any(part.type != kind.value for part in node.inputs_[1::2]):
            text = f"annotate({self.writer.tell(kind)}, {text})"
        self.inline(node, text)

    def do_TupleConstruct(self, node):
        """Write a tuple."""
        kind, parts = node.outputs_[0].type, [self.text(value) for value in node.inputs_]
        if kind.qualified:
            self.inline(node, f"{self.writer.tell(kind)}({', '.join(parts)})")
        else:
            self.inline(node, f"({', '.join(parts)}{',' if len(parts) == 1 else ''})")

    def do_TupleUnpack(self, node):
        """Write the unpacking of a tuple or list."""
        if not node.outputs_:
            return
        source = self.text(node.inputs_[0])
        self.put(f"{', '.join(map(self.bind, node.outputs_))}, = {source}")

    do_ListUnpack = do_TupleUnpack

    def do_TupleIndex(self, node):
        """Write an element of a tuple."""
        self.inline(node, f"({self.text(node.inputs_[0])})[{self.text(node.inputs_[1])}]")

    def do_GetAttr(self, node):
        """Write the reading of an attribute."""
        owner, name = self.text(node.inputs_[0]), node.attributes["name"]
        node.outputs_[0].hint = node.outputs_[0].hint or (name if name.isidentifier() else None)
        self.inline(node, f"{owner}.{name}" if is_identifier(name) else f"getattr({owner}, {quoted(name)})")

    def do_SetAttr(self, node):
        """Write the setting of an attribute."""
        owner, value = map(self.text, node.inputs_)
        self.put(f"{owner}.{node.attributes['name']} = {value}")

    def do_CallMethod(self, node):
        """Write the call of a method."""
        owner, *args = map(self.text, node.inputs_)
        self.writer.tell(node.inputs_[0].type)
        self.inline(node, f"({owner}).{node.attributes['name']}({''.join(part + ', ' for part in args)})")

    def do_CallFunction(self, node):
        """Write the call of a function."""
        function = node.attributes["function"]
        owner = getattr(function, "owner", None)
        if owner is not None:  # a hook, which stands in its class
            name = f"{self.writer.tell(owner)}.{function.name}"
        else:
            name = self.writer.name_of(function, function.qualified)
        self.inline(node, f"{name}({''.join(self.text(part) + ', ' for part in node.inputs_)})")

    def do_PythonOp(self, node):
        """Refuse: Python's code is not in the archive."""
        raise RuntimeError(f"\nCould not export Python function call '{node.attributes['name']}'. Remove calls to "
                           "Python functions before export. Did you forget to add @script or @script_method "
                           "annotation? If this is a nn.ModuleList, add it to __constants__")

    def do_CreateObject(self, node):
        """Write the making of an instance."""
        name = self.writer.tell(node.outputs_[0].type)
        self.inline(node, f"{name}.__new__({name})")

    def do_Uninitialized(self, node):
        """Write a value that nobody looks at."""
        kind = node.outputs_[0].type
        self.inline(node, f"uninitialized({self.writer.tell(NONE if kind == NOTHING else kind)})")

    def do_unchecked_cast(self, node):
        """Write a cast."""
        self.inline(node, f"unchecked_cast({self.writer.tell(node.outputs_[0].type)}, {self.text(node.inputs_[0])})")

    def do_isinstance(self, node):
        """Write a question for types."""
        kinds = [self.writer.tell(kind) for kind in node.attributes["kinds"]]
        told = kinds[0] if len(kinds) == 1 else f"[{', '.join(kinds)}]"
        self.inline(node, f"isinstance({self.text(node.inputs_[0])}, {told})")

    def do_tolist(self, node):
        """Write `tolist`."""
        kind = self.writer.tell(node.outputs_[0].type)
        self.inline(node, f"annotate({kind}, {self.text(node.inputs_[0])}.tolist())")

    def do_fork(self, node):
        """Write a fork, which is made at once."""
        self.texts[id(node.outputs_[0])] = self.text(node.inputs_[0])

    def do_Print(self, node):
        """Write a print."""
        self.put(f"print({', '.join(map(self.text, node.inputs_))})")

    def do_EnumName(self, node):
        """Write a member's name or value."""
        self.inline(node, f"{self.text(node.inputs_[0])}.{'name' if node.kind_ == 'prim::EnumName' else 'value'}")

    do_EnumValue = do_EnumName

    def do_If(self, node):
        """Write a branch."""
        self.put(f"if {self.text(node.inputs_[0])}:")
        names = [self.fresh(value.hint) for value in node.outputs_]
        for place, block in enumerate(node.blocks_):
            if place:
                self.put("else:")
            self.indent += 1
            before = len(self.found)
            self.block(block)
            if names:
                self.put(f"{', '.join(names)} = {', '.join(map(self.text, block.outputs_))}")
            elif len(self.found) == before:
                self.put("pass")
            self.indent -= 1
        self.texts.update((id(value), name) for value, name in zip(node.outputs_, names))

    def do_Loop(self, node):
        """Write a loop: over a range where nothing else stops it."""
        count, first, *starts = node.inputs_
        block = node.blocks_[0]
        turn, *inner = block.inputs_
        going, *ends = block.outputs_
        names = [self.fresh(value.hint) for value in inner]
        for name, start, value in zip(names, starts, inner):
            told = "" if start.type == value.type else f": {self.writer.tell(value.type)}"
            self.put(f"{name}{told} = {self.text(start)}")
        self.texts.update((id(value), name) for value, name in zip(inner, names))
        is_range = is_true(first) and is_true(going)
        endless = count.node is not None and count.node.attributes.get("value") == MOST_TURNS
        if is_range:
            self.put(f"for {self.bind(turn, 'i')} in range({self.text(count)}):")
        else:
            flag = self.fresh("going")
            counted = not endless or id(turn) in self.uses
            if counted:
                self.put(f"{self.bind(turn, 'turn')} = 0")
            test = self.text(first)
            if not endless:
                test = f"torch.__and__(torch.lt({self.text(turn)}, {self.text(count)}), {test})"
            self.put(f"{flag} = {test}")
            self.put(f"while {flag}:")
        self.indent += 1
        before = len(self.found)
        self.block(block)
        moved = [(name, self.text(end)) for name, end in zip(names, ends) if name != self.text(end)]
        targets, sources = [name for name, _ in moved], [end for _, end in moved]
        if not is_range:
            step = self.text(going)
            if counted:
                later = f"torch.add({self.text(turn)}, 1)"
                if not endless:
                    step = f"torch.__and__(torch.lt({later}, {self.text(count)}), {step})"
                targets, sources = [*targets, self.text(turn)], [*sources, later]
            targets, sources = [*targets, flag], [*sources, step]
        if targets:
            self.put(f"{', '.join(targets)} = {', '.join(sources)}")
        elif len(self.found) == before:
            self.put("pass")
        self.indent -= 1
        self.texts.update((id(value), name) for value, name in zip(node.outputs_, names))


def is_true(value):
    """Return whether a value is the constant True."""
    return value.node is not None and value.node.kind_ == "prim::Constant" and value.node.attributes["value"] is True


def code_of(function):
    """Return (code, constants by name) of one function or method."""
    writer = CodeWriter()
    lines = writer.function(function)
    from types import SimpleNamespace
    found = {f"c{number}": tensor for number, tensor in enumerate(writer.constants)}
    return "\n".join(lines) + "\n", SimpleNamespace(const_mapping=found, **found)
