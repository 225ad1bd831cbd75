"""Graphs of scripts run step by step: every value has a place in a row."""
from dragon.vm.torch.core.scripting import kernels
from dragon.vm.torch.core.scripting.instances import Future, Instance, is_of, type_of_instance  # noqa: F401
from dragon.vm.torch.core.scripting.types import (
    ANY, COMPLEX, DEVICE, FLOAT, INT, NONE, NUMBER, TENSOR, DictType, FutureType, ListType, OptionalType, TupleType,
    UnionType)


class Error(RuntimeError):
    """A script has raised."""


class Program:
    """A graph made ready to run.

    Parameters
    ----------
    graph : Graph
        What to run.
    name : str
        For messages.

    """

    def __init__(self, graph, name):
        self.name, self.places, self.first = name, {}, []
        self.inputs = [self.place(value) for value in graph.inputs_]
        self.steps = self.prepare(graph)
        self.outputs = [self.place(value) for value in graph.outputs_]

    def place(self, value):
        """Return a value's place in the row."""
        if id(value) not in self.places:
            self.places[id(value)] = len(self.first)
            self.first.append(None)
        return self.places[id(value)]

    def __call__(self, *args):
        row = self.first.copy()
        for place, value in zip(self.inputs, args, strict=True):
            row[place] = value
        for step in self.steps:
            step(row)
        return row[self.outputs[0]] if self.outputs else None

    def prepare(self, block):
        """Return the steps of a block."""
        steps = []
        for node in block.steps:
            if node.kind_ == "prim::Constant":
                self.first[self.place(node.outputs_[0])] = kernels.constant(node)
                continue
            maker = getattr(self, "make_" + node.kind_.partition("::")[2], None) if node.kind_.startswith(
                "prim::") else None
            steps.append(maker(node) if maker is not None else self.make_operator(node))
        return steps

    def make_operator(self, node):
        """Return a step that calls an operator."""
        function = kernels.kernel(node)
        inputs = [self.place(value) for value in node.inputs_]
        outputs = [self.place(value) for value in node.outputs_]
        if len(outputs) == 1:
            out = outputs[0]
            if len(inputs) == 1:
                only = inputs[0]

                def step(row):
                    row[out] = function(row[only])
            elif len(inputs) == 2:
                one, other = inputs

                def step(row):
                    row[out] = function(row[one], row[other])
            else:
                def step(row):
                    row[out] = function(*[row[place] for place in inputs])
            return step

        def many(row):
            found = function(*[row[place] for place in inputs])
            for place, value in zip(outputs, found if outputs else ()):
                row[place] = value
        return many

    def make_If(self, node):
        """Return a step that runs one of two blocks."""
        test, outputs = self.place(node.inputs_[0]), [self.place(value) for value in node.outputs_]
        sides = []
        for block in node.blocks_:
            steps = self.prepare(block)
            sides.append((steps, list(zip(outputs, [self.place(value) for value in block.outputs_]))))
        (true, true_moves), (false, false_moves) = sides

        def step(row):
            if row[test]:
                for each in true:
                    each(row)
                for place, source in true_moves:
                    row[place] = row[source]
            else:
                for each in false:
                    each(row)
                for place, source in false_moves:
                    row[place] = row[source]
        return step

    def make_Loop(self, node):
        """Return a step that runs a block again and again."""
        count, first, *starts = [self.place(value) for value in node.inputs_]
        block = node.blocks_[0]
        turn, *inner = [self.place(value) for value in block.inputs_]
        steps = self.prepare(block)
        going, *ends = [self.place(value) for value in block.outputs_]
        outputs = [self.place(value) for value in node.outputs_]

        def step(row):
            values = [row[place] for place in starts]
            most, number, goes_on = row[count], 0, row[first]
            while goes_on and number < most:
                row[turn] = number
                for place, value in zip(inner, values):
                    row[place] = value
                for each in steps:
                    each(row)
                goes_on = row[going]
                values = [row[place] for place in ends]
                number += 1
            for place, value in zip(outputs, values):
                row[place] = value
        return step

    def make_CallFunction(self, node):
        """Return a step that calls a function."""
        function = node.attributes["function"]
        inputs, out = [self.place(value) for value in node.inputs_], self.place(node.outputs_[0])

        def step(row):
            row[out] = function.run(*[row[place] for place in inputs])
        return step

    def make_CallMethod(self, node):
        """Return a step that calls a method: that of the instance, where only an interface is known."""
        if node.attributes["function"] is not None:
            return self.make_CallFunction(node)
        name = node.attributes["name"]
        inputs, out = [self.place(value) for value in node.inputs_], self.place(node.outputs_[0])

        def step(row):
            values = [row[place] for place in inputs]
            row[out] = method_of(values[0], name).run(*values)
        return step

    def make_GetAttr(self, node):
        """Return a step that reads an attribute."""
        owner, out, name = self.place(node.inputs_[0]), self.place(node.outputs_[0]), node.attributes["name"]

        def step(row):
            row[out] = read_attribute(row[owner], name)
        return step

    def make_SetAttr(self, node):
        """Return a step that sets an attribute."""
        owner, value, name = self.place(node.inputs_[0]), self.place(node.inputs_[1]), node.attributes["name"]

        def step(row):
            write_attribute(row[owner], name, row[value])
        return step

    def make_PythonOp(self, node):
        """Return a step that calls Python code."""
        function = node.attributes["call"]
        inputs, out = [self.place(value) for value in node.inputs_], self.place(node.outputs_[0])
        kind = node.outputs_[0].type

        def step(row):
            found = function(*[row[place] for place in inputs])
            row[out] = None if kind == NONE else convert(found, kind)
        return step

    def make_RaiseException(self, node):
        """Return a step that raises."""
        message, kind = [self.place(value) for value in node.inputs_[:2]] if len(node.inputs_) > 1 else (
            self.place(node.inputs_[0]), None)
        place = node.place

        def step(row):
            name = "" if kind is None or row[kind] is None else str(row[kind]).rpartition(".")[2] + ": "
            raise Error("The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript "
                        f"(most recent call last):\n{place}\n{name or 'RuntimeError: '}{row[message]}")
        return step

    def make_Enter(self, node):
        """Return a step that enters a `with` block."""
        return self.make_context(node, "__enter__")

    def make_Exit(self, node):
        """Return a step that leaves a `with` block."""
        return self.make_context(node, "__exit__")

    def make_context(self, node, name):
        """Return a step that calls a method of a context."""
        kind, owner = node.inputs_[0].type, self.place(node.inputs_[0])
        function = kind.unit.method(kind, name) if kind.unit is not None else kind.method(name)
        out = self.place(node.outputs_[0]) if node.outputs_ else None
        rest = [None] * (len(function.schema.arguments) - 1)

        def step(row):
            found = function.run(row[owner], *rest)
            if out is not None:
                row[out] = found
        return step


def read_attribute(owner, name):
    """Return an attribute of a module or instance."""
    known = owner.__dict__
    if name in known:
        return known[name]
    for table in ("_parameters", "_modules", "_buffers"):
        if table in known and name in known[table]:
            return known[table][name]
    return getattr(owner, name)


def write_attribute(owner, name, value):
    """Set an attribute of a module or instance."""
    known = owner.__dict__
    for table in ("_parameters", "_buffers", "_modules"):
        if table in known and name in known[table]:
            known[table][name] = value
            return
    known[name] = value


def method_of(value, name):
    """Return a method of an instance."""
    kind = type_of_instance(value)
    found = kind.methods.get(name) if kind is not None else None
    if found is None and kind is not None and kind.made is not None:
        found = kind.unit.method(kind, name)
    if found is None:
        raise Error(f"script: got an instance of {type(value).__name__}, which has no method {name}")
    return found.ready()


# --- values from outside

class Unfit(TypeError):
    """A value that is not of the wanted type."""


def convert(value, kind):
    """Return a value of Python in the form that scripts have, or raise Unfit."""
    if kind == ANY:
        return value
    if isinstance(kind, OptionalType):
        return None if value is None else convert(value, kind.element)
    if kind == FLOAT and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind == INT and not isinstance(value, (int, float)) or kind == DEVICE:
        value = kernels.plain(value, kind)
    if kind == INT and isinstance(value, bool):
        return int(value)
    if isinstance(kind, UnionType):
        for option in kind.options:
            if is_of(value, option):
                return value
    elif type(kind) is ListType and isinstance(value, (list, tuple)) and not isinstance(kind, FutureType):
        return [convert(part, kind.element) for part in value]
    elif isinstance(kind, DictType) and isinstance(value, dict):
        return {convert(key, kind.index): convert(part, kind.value) for key, part in value.items()}
    elif isinstance(kind, TupleType) and isinstance(value, tuple) and len(value) == len(kind.elements):
        parts = [convert(part, inner) for part, inner in zip(value, kind.elements)]
        return kind.made(*parts) if kind.made is not None else tuple(parts)
    elif kind in (INT, FLOAT, COMPLEX, NUMBER) and hasattr(value, "requires_grad") and value.numel() == 1:
        return value.item()
    elif kind == COMPLEX and isinstance(value, (int, float)):
        return complex(value)
    elif kind == TENSOR and isinstance(value, (int, float, complex)) and False:
        return value
    elif is_of(value, kind):
        return value
    raise Unfit


def call_checked(function, args, kwargs):
    """Call a compiled function with values of Python, whose types are checked."""
    function = function.ready()
    schema, values = function.schema, []
    kwargs = dict(kwargs)
    if len(args) > len(schema.arguments):
        raise RuntimeError(f"{schema.name}() expected at most {len(schema.arguments)} argument(s) but received "
                           f"{len(args)} argument(s). Declaration: {schema}")
    for number, argument in enumerate(schema.arguments):
        if number < len(args):
            value = args[number]
        elif argument.name in kwargs:
            value = kwargs.pop(argument.name)
        elif argument.has_default:
            value = argument.default
        else:
            raise RuntimeError(f"{schema.name}() is missing value for argument '{argument.name}'. Declaration: "
                               f"{schema}")
        try:
            values.append(convert(value, argument.type))
        except Unfit:
            raise RuntimeError(
                f"{schema.name}() Expected a value of type '{argument.type.annotation()}' for argument "
                f"'{argument.name}' but instead found type '{type(value).__name__}'.\nPosition: {number}\nValue: "
                f"{value!r}\nDeclaration: {schema}") from None
    if kwargs:
        raise RuntimeError(f"Unknown keyword argument '{next(iter(kwargs))}' for operator '{schema.name}'. Schema: "
                           f"{schema}")
    return function.run(*values)


Instance._call_script = staticmethod(call_checked)
