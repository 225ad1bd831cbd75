"""What operators take and give: the table of PyTorch's signatures, and which of them fits a call."""
import functools
import re

from dragon.vm.torch.core.scripting.graph import Argument, Node, Schema
from dragon.vm.torch.core.scripting.types import (
    ANY, ANY_CLASS, ANY_ENUM, ANY_LIST, ANY_TUPLE, BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, NOTHING, NUMBER, SIMPLE,
    STRING, TENSOR, DictType, FutureType, ListType, OptionalType, TupleType, Type, Variable, fits, join, optional,
    options_of)
from dragon.dialects.aten.signature_lines import read_line
from dragon.dialects.aten.signatures import SCRIPTS, signatures

TOKEN = re.compile(r"\s*(->|\.\.\.|\"(?:[^\"\\]|\\.)*\"|[A-Za-z_][\w.:]*|-?\d[\w.+-]*|-?inf|.)")
ALIKE = {"SymInt": INT, "SymFloat": FLOAT, "SymBool": BOOL, "ScalarType": INT, "Layout": INT, "MemoryFormat": INT,
         "QScheme": INT, "Dimname": STRING, "Device": DEVICE, "Scalar": NUMBER, "number": NUMBER, "NoneType": NONE,
         "AnyListType": ANY_LIST, "list": ANY_LIST, "tuple": ANY_TUPLE, "AnyTupleType": ANY_TUPLE,
         "AnyEnumType": ANY_ENUM, "AnyClassType": ANY_CLASS, "Any": ANY}
# Kinds of numbers that a tensor becomes without being asked, and the operators that make them.
IMPLICIT = {INT: "aten::IntImplicit", FLOAT: "aten::FloatImplicit", NUMBER: "aten::ScalarImplicit",
            COMPLEX: "aten::ComplexImplicit"}


class TypeReader:
    """Read one type of a signature."""

    def __init__(self, text):
        self.tokens = [found.group(1) for found in TOKEN.finditer(text) if found.group(1).strip()]
        self.place = 0

    def peek(self):
        """Return the next token."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, wanted=None):
        """Return the next token and go on."""
        token = self.peek()
        if not token or wanted is not None and token != wanted:
            raise ValueError(f"schema: got {token or 'the end'!r}, expected {wanted or 'more'!r}")
        self.place += 1
        return token

    def type(self):
        """Return the next type, and the size that its list has."""
        name, size = self.take(), None
        if name == "(":
            parts = []
            while self.peek() != ")":
                parts.append(self.type()[0])
                if self.peek() == ",":
                    self.take()
            self.take(")")
            found = TupleType(parts)
        elif name in ("Dict", "Future", "Await", "RRef", "Tuple", "Union"):
            self.take("(")
            parts = [self.type()[0]]
            while self.peek() == ",":
                self.take()
                parts.append(self.type()[0])
            self.take(")")
            made = {"Dict": lambda: DictType(*parts), "Tuple": lambda: TupleType(parts)}
            found = made.get(name, lambda: FutureType(parts[0]))()
        elif name in ALIKE or name in SIMPLE:
            found = ALIKE.get(name) or SIMPLE[name]
        else:
            found = Variable(name) if re.fullmatch(r"t\w?|[a-z]", name) or re.match(r"t[A-Z0-9]", name) else Type(name)
        while self.peek() in ("[", "?"):
            if self.take() == "?":
                found = optional(found)
                continue
            if self.peek() != "]":
                size = int(self.take())
            self.take("]")
            found = ListType(found)
        return found, size


def read_schema(text):
    """Return the signature that a line says, its types as scripts have them."""
    line, arguments = read_line(text), []
    for place, part in enumerate(line.arguments):
        kind, size = TypeReader(part.type).type()
        arguments.append(Argument(part.name or f"argument{place}", kind, part.default if part.has_default else ...,
                                  part.by_name, size))
    writes = any(part.alias.endswith("!") for part in line.arguments)
    if line.results is None:
        return Schema(line.name, line.overload, arguments, ANY, line.is_open, None, writes=writes)
    results = [TypeReader(part.type).type()[0] for part in line.results]
    names = tuple(part.name for part in line.results)
    result = results[0] if len(results) == 1 else TupleType(results, names if all(names) else None) if results else NONE
    return Schema(line.name, line.overload, arguments, result, line.is_open, results if line.is_nested else None,
                  writes=writes)


@functools.lru_cache(4096)
def overloads(name):
    """Return the signatures of an operator, `aten::add` say; of one that a program registered too."""
    lines = signatures(SCRIPTS).get(name)
    if lines is None:
        from dragon.vm.torch.core.operators import lookup
        operator = lookup(name)
        schema = operator and operator.schema
        if not schema:
            return ()
        text = str(schema)
        lines = [text if text.startswith(name) else name + text[text.index("("):]]
        return tuple(map(read_schema, lines))
    return tuple(map(read_schema, lines))


@functools.lru_cache(1024)
def overloads_into(name):
    """Return the signatures of an operator that write its tensor into the argument `out`."""
    made = []
    for plain in overloads(name):
        if plain.result == TENSOR and not plain.writes and plain.arguments and plain.arguments[0].type != NUMBER:
            overload = "out" if plain.overload_name in ("", "Tensor") else plain.overload_name + "_out"
            arguments = [*plain.arguments, Argument("out", TENSOR, ..., True)]
            made.append(Schema(name, overload, arguments, TENSOR, writes=True, plain=plain))
    return tuple(made)


def has_operator(name):
    """Return whether there is an operator of a name."""
    return bool(overloads(name))


# --- which signature fits

def bind(formal, actual, variables):
    """Return whether a value's type fits a formal one, and note what its variables stand for."""
    if isinstance(formal, Variable):
        known = variables.get(formal.name)
        found = actual if known is None else join(known, actual)
        if found is None:
            return False
        variables[formal.name] = found
        return True
    if isinstance(formal, OptionalType):
        if actual == NONE:
            return True
        inner = actual.element if isinstance(actual, OptionalType) else actual
        return bind(formal.element, inner, variables)
    if isinstance(formal, FutureType):
        return isinstance(actual, FutureType) and bind(formal.element, actual.element, variables)
    if isinstance(formal, ListType):
        if type(actual) is not ListType:
            return False
        if formal.element == NUMBER or isinstance(formal.element, OptionalType) and actual.element == TENSOR:
            return fits(actual.element, formal.element)
        return bind(formal.element, actual.element, variables) and not (
            formal.element == FLOAT and actual.element == INT)
    if isinstance(formal, DictType):
        return isinstance(actual, DictType) and bind(formal.index, actual.index, variables) and bind(
            formal.value, actual.value, variables)
    if isinstance(formal, TupleType):
        return isinstance(actual, TupleType) and len(formal.elements) == len(actual.elements) and all(
            bind(one, other, variables) for one, other in zip(formal.elements, actual.elements))
    if formal == BOOL and actual == INT or formal == INT and actual == BOOL:
        return False
    return fits(actual, formal)


def filled(kind, variables):
    """Return a type with its variables replaced by what they stand for."""
    if isinstance(kind, Variable):
        return variables.get(kind.name, kind)
    if isinstance(kind, OptionalType):
        return optional(filled(kind.element, variables))
    if isinstance(kind, (ListType, FutureType)):
        return type(kind)(filled(kind.element, variables))
    if isinstance(kind, DictType):
        return DictType(filled(kind.index, variables), filled(kind.value, variables))
    if isinstance(kind, TupleType) and not kind.fields:
        return TupleType(filled(part, variables) for part in kind.elements)
    return kind


class Matching:
    """Bring a call's values into the form of a signature.

    Parameters
    ----------
    emit : Callable[[Node], Node]
        Puts a step into the graph.
    constant : Callable[[Any, Type], Value]
        Makes a constant.
    place : Place
        In the source.

    """

    def __init__(self, emit, constant, place):
        self.emit, self.constant, self.place = emit, constant, place
        self.pending = []  # steps that a match makes on its way

    def match(self, schema, args, kwargs, converting=False, spread=False):
        """Return (values in order, variables), or a text that says why it does not fit."""
        variables, found, used = {}, [], set()
        args = list(args)
        for number, argument in enumerate(schema.arguments):
            if args and not argument.keyword:
                value = args[0]
                rest = schema.arguments[number + 1:]
                # `x.view(2, 3)`: numbers in a row where one list is wanted.
                if spread and type(argument.type) is ListType and argument.type.element == INT and all(
                        kind.type == INT for kind in args) and not any(not each.keyword for each in rest):
                    value, args = self.listed(args, INT), []
                else:
                    args.pop(0)
                if argument.name in kwargs:
                    return f"argument {argument.name} specified twice in schema"
            elif argument.name in kwargs:
                value = kwargs[argument.name]
                used.add(argument.name)
            elif argument.has_default:
                found.append(self.constant(argument.default, argument.type))
                continue
            else:
                return f"Argument {argument.name} not provided."
            fitting = self.fit(argument, value, variables, converting)
            if fitting is None:
                told = f"Expected a value of type '{argument.type.annotation()}' for argument '{argument.name}' but "
                return told + f"instead found type '{value.type.annotation()}'."
            found.append(fitting)
        if args and not schema.many:
            return f"Expected at most {len(schema.arguments)} arguments but found " \
                   f"{len(schema.arguments) + len(args)} positional arguments."
        unknown = [name for name in kwargs if name not in used]
        if unknown:
            return f"Unknown keyword argument '{unknown[0]}'."
        return found + args, variables

    def fit(self, argument, value, variables, converting):
        """Return a value in the form of an argument, or None."""
        formal, actual = argument.type, value.type
        inner = formal.element if isinstance(formal, OptionalType) else formal
        if argument.size and type(inner) is ListType and fits(actual, inner.element):
            return self.listed([value] * argument.size, inner.element)
        if isinstance(actual, TupleType) and type(inner) is ListType:
            return self.from_tuple(value, inner, variables)
        if type(inner) is ListType and type(actual) is ListType and actual.element == NOTHING:
            return value
        before = dict(variables)
        if bind(formal, actual, variables):
            return value
        variables.clear()
        variables.update(before)
        return self.converted(value, inner) if converting else None

    def converted(self, value, formal):
        """Return a number of a tensor, a device of a text, or None."""
        kind = value.type
        if kind == TENSOR and formal in IMPLICIT:
            return self.step(IMPLICIT[formal], value, formal)
        if kind == TENSOR and formal == BOOL:
            return self.step("aten::Bool", value, formal)
        if kind == STRING and formal == DEVICE:
            return self.step("aten::device", value, DEVICE)
        if formal == FLOAT and kind in (INT, NUMBER):
            return self.step("aten::Float", value, FLOAT)
        if formal == INT and kind in (BOOL, NUMBER):
            return self.step("aten::Int", value, INT)
        if formal == BOOL and kind == INT:
            return self.step("aten::Bool", value, BOOL)
        return None

    def step(self, name, value, kind):
        """Return the value of an operator with one argument."""
        for schema in overloads(name):
            if len(schema.arguments) == 1 and bind(schema.arguments[0].type, value.type, {}):
                node = Node(name, [value], schema, self.place)
                self.pending.append(node)
                return node.add(kind)
        return None

    def listed(self, values, element):
        """Return a list of values."""
        node = Node("prim::ListConstruct", values, None, self.place)
        self.pending.append(node)
        return node.add(ListType(element))

    def from_tuple(self, value, formal, variables):
        """Return a list with a tuple's elements, if they fit."""
        element = formal.element
        if isinstance(element, Variable):
            kinds = value.type.elements
            if not kinds or any(kind != kinds[0] for kind in kinds):
                return None
            element = variables.setdefault(element.name, kinds[0])
        if not all(fits(kind, element) for kind in value.type.elements):
            return None
        made = Node("prim::TupleUnpack", [value], None, self.place)
        self.pending.append(made)
        return self.listed([made.add(kind) for kind in value.type.elements], element)


def is_plain_number(kind):
    """Return whether all alternatives of a type are numbers."""
    return all(option in (INT, FLOAT, BOOL, COMPLEX, NUMBER) for option in options_of(kind))
