"""Arithmetic by elements, with DALI's rules for types; casts, and subscripts."""
import numpy as np

from dragon.core.python_operators import COMPARISONS
from dragon.dialects.numpy.table import FLOATING, functions, names
from dragon.vm.dali.core.kinds import to_numpy_type
from dragon.vm.dali.core.operators.values import convert, number
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift,
        "rshift": np.right_shift}
# What NumPy has under no name of its own, or under another one than the engine's operator.
REAL = {"rsqrt": lambda x: 1 / np.sqrt(x), "fpow": np.power, "truediv": np.divide}
SAME = {"min": lambda x, y: np.where(x < y, x, y), "max": lambda x, y: np.where(x > y, x, y), "minus": np.negative,
        "plus": np.positive, "mod": np.fmod, "fabs": np.abs}


def _function(operation):
    """Return NumPy's function for one of the engine's operators."""
    return getattr(np, names()[operation])


def _is_real(operation):
    """Return whether an operation makes floats of whole numbers and bools; rounding has a rule of its own."""
    if operation in ("floor", "ceil") or operation not in names():
        return operation in REAL
    return FLOATING in functions()[names()[operation]].kinds


def promote(kinds):
    """Return the type in which numbers of several types meet: of floats the widest, else wide enough for the signs."""
    kinds = [np.dtype(kind) for kind in kinds]
    floats = [kind for kind in kinds if kind.kind == "f"]
    if floats:
        return max(floats, key=lambda kind: kind.itemsize)
    numbers = [kind for kind in kinds if kind.kind in "iu"]
    if not numbers:
        return np.dtype(bool)
    signed = [kind.itemsize for kind in numbers if kind.kind == "i"]
    unsigned = [kind.itemsize for kind in numbers if kind.kind == "u"]
    if not signed:
        return np.dtype(f"u{max(unsigned)}")
    if not unsigned or max(unsigned) < max(signed):
        return np.dtype(f"i{max(signed)}")
    return np.dtype(f"i{min(8, 2 * max(unsigned))}")


@operator("_arithmetic")
def combine(*arrays, operation, operands, context):
    """Combine arrays and constants by elements."""
    left = iter(arrays)
    values = [next(left) if operand is None else operand for operand in operands]
    layout = next((one for one, array in zip(context.layouts, arrays) if one and len(one) == max(
        value.ndim for value in values)), "")
    shape = _broadcast(values, operation)
    with np.errstate(all="ignore"):
        result = _compute(operation, values)
    return Laid(np.broadcast_to(result, shape), layout)


def _broadcast(values, operation):
    try:
        return np.broadcast_shapes(*(value.shape for value in values))
    except ValueError:
        shapes = " and ".join(str(value.shape) for value in values)
        raise RuntimeError(got(f"math.{operation}", f"shapes {shapes}", "shapes that broadcast")) from None


def _compute(operation, values):
    kind = promote([value.dtype for value in values])
    if operation in COMPARISONS:
        if kind.kind == "f":
            values = [value.astype(kind) for value in values]
        return _function(operation)(*values)
    if operation == "invert":
        return np.invert(*values)
    if operation in BITS:
        if kind.kind == "f":
            raise TypeError(got(f"math.{operation}", f"numbers of type {kind}", "whole numbers or bools"))
        return BITS[operation](*(value.astype(kind) for value in values))
    if _is_real(operation):
        kind = kind if kind.kind == "f" else np.dtype(np.float32)
        run = REAL.get(operation) or _function(operation)
        return run(*(value.astype(kind) for value in values)).astype(kind)
    if kind == np.bool_ and operation == "plus":
        return values[0]
    if kind == np.bool_ and operation not in ("mul", "min", "max", "clamp"):
        raise RuntimeError(got(f"math.{operation}", "bools only", "`|`, `&` and `^` for them, or numbers"))
    if operation in ("fabs", "floor", "ceil") and kind.kind != "f":
        kind = np.dtype(np.float32)
    cast = [value.astype(kind) for value in values]
    if operation == "clamp":
        return np.minimum(np.maximum(cast[0], cast[1]), cast[2])
    if operation == "floordiv":
        return _divide(*cast)
    if operation == "pow":
        return _power(*cast)
    run = SAME.get(operation) or _function(operation)
    return run(*cast).astype(kind, copy=False)


def _divide(left, right):
    """Return quotients cut towards zero, as C does."""
    if left.dtype.kind == "f":
        return np.divide(left, right)
    if np.any(right == 0):
        raise ValueError(got("math.floordiv", "a division of whole numbers by zero", "other divisors"))
    quotient = left // right
    rest = left - quotient * right
    quotient = quotient + ((rest != 0) & ((left < 0) != (right < 0))).astype(left.dtype)
    return quotient.astype(left.dtype)


def _power(base, exponent):
    if base.dtype.kind == "f" or base.dtype.kind == "u":
        return np.power(base, exponent)
    return np.where(exponent < 0, 0, np.power(base, np.where(exponent < 0, 0, exponent))).astype(base.dtype)


@operator()
def cast(data, *, dtype):
    """Convert numbers to another type: rounded, and held within what it can say."""
    return convert(data, dtype)


@operator()
def cast_like(data, like):
    """Convert numbers to the type of others."""
    return convert(data, like.dtype)


@operator("_conditional.merge")
def merge(test, yes, no):
    """Return one of two values; the graph asks only for that which is taken."""
    return yes if test else no


@operator("_conditional.truth")
def truth_of(value, *, negated):
    """Return whether a scalar is true, or false."""
    if value.ndim:
        raise RuntimeError(got("not", f"a value of shape {value.shape}", "a scalar for each sample"))
    return np.asarray(bool(value) != negated)


@operator("_subscript")
def take(data, *given, kinds, parts, context):
    """Take parts of an array by Python's subscripts; a number of the graph stands behind the data."""
    left = iter(given)
    parts = {name: number(next(left)) if value is None else value for name, value in parts}
    wanted = sum(kind in ("at", "slice") for kind in kinds)
    if wanted > data.ndim:
        raise IndexError(got("DataNode[...]", f"{wanted} subscripts", f"{data.ndim} at the most"))
    layout = context.layout if len(context.layout) == data.ndim else ""
    keys, names, axis = [], "", 0
    for place, kind in enumerate(kinds):
        if kind == "rest":
            keys.append(Ellipsis)
            names += layout[axis:axis + data.ndim - wanted]
            axis += data.ndim - wanted
        elif kind.startswith("new"):
            keys.append(None)
            names += kind[3:]
        elif kind == "at":
            index = parts[f"at_{place}"]
            if not -data.shape[axis] <= index < data.shape[axis]:
                raise RuntimeError(f"Index {index} is out of range for axis {axis} of length {data.shape[axis]}")
            keys.append(index)
            axis += 1
        else:
            keys.append(slice(*(parts.get(f"{name}_{place}") for name in ("start", "stop", "step"))))
            names += layout[axis:axis + 1]
            axis += 1
    result = data[tuple(keys)]
    names += layout[axis:]
    return Laid(result, names if layout and len(names) == result.ndim else "")


@operator()
def lookup_table(data, *, keys=(), values=(), default_value=0.0, dtype=9, output_dtype=None):
    """Replace whole numbers by what a table says."""
    if data.dtype.kind not in "iu":
        raise TypeError(got("fn.lookup_table", f"numbers of type {data.dtype}", "whole numbers"))
    if len(keys) != len(values):
        raise ValueError(got("fn.lookup_table", f"{len(keys)} keys and {len(values)} values", "equally many"))
    if len(keys) and not 0 <= min(keys) <= max(keys) < 1 << 16:
        raise ValueError(got("fn.lookup_table", f"keys from {min(keys)} to {max(keys)}", "0 to 65535"))
    table = np.full(1 << 16, default_value, np.float64)
    table[np.asarray(keys, int)] = values
    inside = (data >= 0) & (data < 1 << 16)
    found = np.where(inside, table[np.where(inside, data, 0)], default_value)
    return convert(found.astype(np.float32), np.dtype(to_numpy_type(dtype if output_dtype is None else output_dtype)))
