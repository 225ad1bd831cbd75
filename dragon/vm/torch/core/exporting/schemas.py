"""What PyTorch's operators are called, and the arguments they take: read from a table when first asked for."""
import functools
import re
from typing import Any, NamedTuple

from dragon import _C
from dragon.dialects.aten.signature_lines import read_line, spread
from dragon.dialects.aten.signatures import EXPORTS, signatures


class Argument(NamedTuple):
    """One argument of an operator."""

    name: str
    type: str  # without aliases: "Tensor?", "SymInt[2]", "Scalar"
    alias: str  # "a", "a!" where it is written to, empty without
    default_value: Any
    has_default: bool
    kwarg_only: bool

    is_write = property(lambda self: self.alias.endswith("!"), doc="bool: whether the operator writes into it.")

    def has_default_value(self):
        """Return whether it may be left out."""
        return self.has_default


class Schema(NamedTuple):
    """An operator's overload: what it takes and gives."""

    name: str  # "aten::add"
    overload_name: str  # "Tensor", empty for the one without a name
    arguments: tuple
    returns: tuple
    text: str

    is_mutable = property(lambda self: any(argument.is_write for argument in self.arguments),
                          doc="bool: whether the operator writes into an argument.")

    def __str__(self):
        return self.text

    @property
    def views(self):
        """Argument: what the results may be views of; None where they are memory of their own."""
        aliases = {kind.alias.rstrip("!").split(" ")[0] for kind in self.returns if kind.alias}
        return next((one for one in self.arguments if one.alias and one.alias.rstrip("!").split(" ")[0] in aliases),
                    None)


def parse(text):
    """Return the schema that a line says.

    Parameters
    ----------
    text : str
        Such as "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".

    Returns
    -------
    Schema
        The same in parts.

    """
    line = read_line(text)
    arguments = [Argument(part.name, part.type, part.alias, spread(part.default, part.type), part.has_default,
                          part.by_name) for part in line.arguments]
    returns = [Argument(part.name, part.type, part.alias, None, False, False) for part in line.results or ()]
    return Schema(line.name, line.overload, tuple(arguments), tuple(returns), text)


# Types that begin with a small letter; others that do stand for any type.
PLAIN_TYPES = "int float bool str complex number".split()


def parse_schema(schema, allow_typevars=True):
    """Return the schema that a line of a user's says.

    Parameters
    ----------
    schema : str
        The line.
    allow_typevars : bool, optional, default=True
        Whether a type may be a word with a small letter, which stands for any type.

    Returns
    -------
    Schema
        The same in parts.

    """
    if not re.fullmatch(r"[A-Za-z_][\w:]*(\.\w+)?\s*\(.*\)\s*->\s*(\(.*\)|[^\s(].*)", schema, re.DOTALL):
        raise RuntimeError(f"parse_schema: got {schema!r}, expected 'name(Type argument, ...) -> Type'")
    try:
        made = parse(schema)
    except (AttributeError, IndexError, ValueError, TypeError, SyntaxError) as error:
        raise RuntimeError(f"parse_schema: got {schema!r}, expected 'name(Type argument, ...) -> Type'") from error
    if not all(part.name for part in made.arguments):
        raise RuntimeError(f"parse_schema: got {schema!r}, expected a name behind each argument's type")
    for part in (*made.arguments, *made.returns):
        word = re.match(r"\w*", part.type)[0]
        if not allow_typevars and word[:1].islower() and word not in PLAIN_TYPES:
            raise RuntimeError(f"parse_schema: got the unknown type specifier {word!r}, expected a type that PyTorch "
                               "knows, or allow_typevars=True")
    return made


@functools.cache
def overloads(name):
    """Return the overloads of an operator.

    Parameters
    ----------
    name : str
        Without its namespace.

    Returns
    -------
    Dict[str, Schema]
        By name, "default" for the one without; empty where there is no such operator.

    """
    parsed = map(parse, sorted(signatures(EXPORTS).get("aten::" + name, ())))
    return {schema.overload_name or "default": schema for schema in parsed}


@functools.cache
def schema_of_engine(name):
    """Return what an operator of the engine takes and gives, in PyTorch's words.

    Parameters
    ----------
    name : str
        The engine's.

    Returns
    -------
    Schema
        Its namespace is "dragon".

    """
    text = _C.schema(name)["line"].replace("Tensor![]", "Tensor(a!)[]").replace("Tensor!", "Tensor(a!)")
    text = re.sub(r"Tensor\?\(a!\)|Tensor\?!", "Tensor(a!)?", text)
    for word, other in (("dtype", "ScalarType"), ("device", "Device")):
        text = re.sub(rf"(?<=[(,]\s){word}(?=\??\s)|(?<=\(){word}(?=\??\s)", other, text)
    return parse(f"dragon::{text}")
