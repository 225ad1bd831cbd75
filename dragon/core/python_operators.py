"""Python's operators: what their methods, functions and nodes in `ast` are called, and how programs write them."""
import operator
from typing import NamedTuple


class PythonOperator(NamedTuple):
    """An operator of Python's."""

    node: str  # its class in `ast`
    form: str  # how it is written, with braces for operands


# By what stands between the underscores of its method: `add` is `__add__`.
OPERATORS = {name: PythonOperator(node, form) for name, node, form in (
    ("add", "Add", "{} + {}"), ("sub", "Sub", "{} - {}"), ("mul", "Mult", "{} * {}"), ("truediv", "Div", "{} / {}"),
    ("floordiv", "FloorDiv", "{} // {}"), ("mod", "Mod", "{} % {}"), ("pow", "Pow", "{} ** {}"),
    ("matmul", "MatMult", "{} @ {}"), ("and", "BitAnd", "{} & {}"), ("or", "BitOr", "{} | {}"),
    ("xor", "BitXor", "{} ^ {}"), ("lshift", "LShift", "{} << {}"), ("rshift", "RShift", "{} >> {}"),
    ("neg", "USub", "-{}"), ("pos", "UAdd", "+{}"), ("invert", "Invert", "~{}"), ("eq", "Eq", "{} == {}"),
    ("ne", "NotEq", "{} != {}"), ("lt", "Lt", "{} < {}"), ("le", "LtE", "{} <= {}"), ("gt", "Gt", "{} > {}"),
    ("ge", "GtE", "{} >= {}"))}
_NAMES = tuple(OPERATORS)
ARITHMETIC = _NAMES[:_NAMES.index("matmul")]
BITWISE = _NAMES[_NAMES.index("and"):_NAMES.index("neg")]
BINARY = (*ARITHMETIC, "matmul", *BITWISE)  # those that may be swapped (`__radd__`) and write in place (`__iadd__`)
COMPARISONS = _NAMES[_NAMES.index("eq"):]


def function_of(name):
    """Return the function of `operator` that an operator is, such as `operator.and_` of "and"."""
    return getattr(operator, f"__{name}__")


def function_name(name):
    """Return what that function is called: "and_" of "and"."""
    return function_of(name).__name__
