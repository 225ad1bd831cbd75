"""What PyTorch's operators are called, and the arguments they take: read from a table when first asked for."""
import functools
import re
from typing import Any, NamedTuple

from dragon.vm.torch.core.signatures import EXPORTS, signatures

_WORDS = {"None": None, "True": True, "False": False, "contiguous_format": 0, "Mean": 1, "[]": []}


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


def _split(text):
    """Return parts between commas, brackets kept whole."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _alias(kind):
    """Return a type without its alias, and the alias."""
    found = re.search(r"\(([a-z]\d*(?: -> [*a-z|]+)?!?|[a-z]\d*!)\)", kind)
    return (kind, "") if found is None else (kind[:found.start()] + kind[found.end():], found.group(1))


def _value(text, kind):
    """Return a default."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "[":
        return [_value(item, "") for item in _split(text[1:-1])]
    try:
        number = float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        return text  # a word of C++, such as `float`
    return [number] * int(size.group(1)) if (size := re.search(r"\[(\d+)\]", kind)) else number


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
    head, _, tail = text.partition("(")
    taken, _, given = tail.rpartition(" -> ")
    name, _, overload = head.partition(".")
    arguments, by_name = [], False
    for part in _split(taken.strip()[:-1]):
        if part == "*":
            by_name = True
            continue
        kind, alias = _alias(part)
        kind, _, rest = kind.partition(" ") if not kind.startswith("Tensor ") else ("Tensor", " ", kind[7:])
        label, has_default, default = rest.strip().partition("=")
        arguments.append(Argument(label, kind, alias, _value(default, kind) if has_default else None,
                                  bool(has_default), by_name))
    given = given.strip()
    kinds = _split(given[1:-1]) if given.startswith("(") else [given]
    returns = []
    for part in kinds:
        kind, alias = _alias(part)
        kind, _, label = kind.partition(" ")
        returns.append(Argument(label, kind, alias, None, False, False))
    return Schema(name, overload, tuple(arguments), tuple(returns), text)


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
