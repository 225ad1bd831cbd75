"""How .pt2 files write dtypes, devices, sizes and symbolic expressions."""
import ast
import math

from dragon.core.python_operators import ARITHMETIC, OPERATORS
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.exporting.symbols import Expression, SymInt, compute
from dragon.vm.torch.core.layout import (channels_last, channels_last_3d, contiguous_format, preserve_format, strided)

DTYPES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
          9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16",
          29: "float8_e4m3fn", 30: "float8_e5m2", 34: "uint32", 35: "uint64"}
ARITHMETIC_NODES = {OPERATORS[name].node: name for name in ARITHMETIC}
FORMATS = {1: contiguous_format, 2: channels_last, 3: channels_last_3d, 4: preserve_format}
STRIDED = 7
OF_SYMPY = {"FloorDiv": "floordiv", "CleanDiv": "floordiv", "Mod": "mod", "PythonMod": "mod", "ModularIndexing": None,
            "IntTrueDiv": "truediv", "FloatTrueDiv": "truediv", "TruncToInt": "whole", "ToFloat": "real"}
TO_SYMPY = {"floordiv": "FloorDiv", "mod": "Mod", "pow": "Pow", "truediv": "IntTrueDiv", "whole": "TruncToInt",
            "real": "ToFloat"}


class FileError(RuntimeError):
    """A file that is no exported program, or one that says what is not known here."""


def dtype_number(kind):
    """Return the number of a dtype."""
    name = str(kind).rpartition(".")[2]
    return next((number for number, known in DTYPES.items() if known == name), 0)


def dtype_of(number):
    """Return the dtype of a number, or raise FileError."""
    from dragon.vm import torch
    found = getattr(torch, DTYPES.get(number, ""), None)
    if found is None:
        raise FileError(f"torch.export.load: got the scalar type {number}, expected one of "
                        f"{', '.join(sorted(DTYPES.values()))}")
    return found


def device_words(place):
    """Return a device as a file has it."""
    return {"type": place.type, "index": place.index}


def device_of(words):
    """Return a device from a file."""
    return device(words["type"] if words.get("index") is None else f"{words['type']}:{words['index']}")


def format_number(form):
    """Return the number of a memory format."""
    return next(number for number, known in FORMATS.items() if known is form)


def layout_of(number):
    """Return a layout from a file, or raise FileError."""
    if number != STRIDED:
        raise FileError(f"torch.export.load: got layout {number}, expected strided tensors")
    return strided


# --- numbers

def number_out(value):
    """Return a float as JSON can have it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def _text(expression):
    """Return an expression in the words of sympy."""
    terms = []
    for product, count in expression.terms.items():
        words = []
        for head, *parts in product:
            if parts:
                words.append(f"{TO_SYMPY[head]}({', '.join(map(_text, parts))})")
            else:
                words.append(f"Symbol('{head}', {'' if head.startswith('u') else 'positive=True, '}integer=True)")
        if count != 1 or not words:
            words.insert(0, f"Integer({count})")
        terms.append(words[0] if len(words) == 1 else f"Mul({', '.join(words)})")
    return "Integer(0)" if not terms else terms[0] if len(terms) == 1 else f"Add({', '.join(terms)})"


def size_out(size):
    """Return a size as a file has it."""
    if isinstance(size, SymInt):
        return {"as_expr": {"expr_str": _text(size.expression), "hint": {"as_int": size.hint}}}
    return {"as_int": int(size)}


def _read(node):
    """Return the expression that a node of Python's syntax says in sympy's words."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name = node.func.id
        if name == "Symbol":
            return Expression.symbol(str(node.args[0].value))
        if name == "Integer":
            return Expression.of(ast.literal_eval(node.args[0]))
        parts = [_read(part) for part in node.args]
        if name in ("Add", "Mul"):
            made = parts[0]
            for part in parts[1:]:
                made = made + part if name == "Add" else made * part
            return made
        if name == "Pow":
            return compute("pow", *parts)
        if OF_SYMPY.get(name):
            return compute(OF_SYMPY[name], *parts)
    if isinstance(node, ast.Name):
        return Expression.symbol(node.id)
    if isinstance(node, ast.BinOp):
        how = ARITHMETIC_NODES.get(type(node.op).__name__)
        if how:
            return compute(how, _read(node.left), _read(node.right))
    if isinstance(node, (ast.Constant, ast.UnaryOp)):
        return Expression.of(ast.literal_eval(node))
    raise ValueError("no such expression")


def expression_of(text):
    """Return the expression of a text in sympy's words, or raise FileError."""
    try:
        return _read(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError, TypeError, AttributeError, RecursionError, IndexError) as error:
        raise FileError(f"torch.export.load: got the size {text[:200]!r}, expected sums, products and quotients of "
                        f"symbols ({error})") from None


def size_in(words):
    """Return a size from a file."""
    if "as_int" in words:
        return words["as_int"]
    made = expression_of(words["as_expr"]["expr_str"])
    hint = (words["as_expr"].get("hint") or {}).get("as_int")
    return made.constant if made.constant is not None else SymInt(made, 2 if hint is None else hint)
