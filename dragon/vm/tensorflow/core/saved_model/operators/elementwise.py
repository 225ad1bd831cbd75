"""Operators of numbers that shapes go through as well: Python's numbers while there are such alone."""
from dragon.vm.shared.arrays.creation import cast
from dragon.vm.shared.tensors.dtypes import bool_, int32, int64
from dragon.vm.tensorflow import math
from dragon.vm.tensorflow.core.saved_model.table import operator
from dragon.vm.tensorflow.core.saved_model.values import Host, numbers, tensor

_HOSTED = {
    "AddV2 Add": ("add", lambda one, other: one + other),
    "Sub": ("subtract", lambda one, other: one - other),
    "Mul": ("multiply", lambda one, other: one * other),
    "FloorDiv": ("floordiv", lambda one, other: one // other),
    "FloorMod": ("floormod", lambda one, other: one % other),
    "Maximum": ("maximum", lambda one, other: one if one >= other else other),
    "Minimum": ("minimum", lambda one, other: one if one <= other else other),
}
_CLAIMS = {
    "Equal": ("equal", lambda one, other: one == other),
    "NotEqual": ("not_equal", lambda one, other: one != other),
    "Less": ("less", lambda one, other: one < other),
    "LessEqual": ("less_equal", lambda one, other: one <= other),
    "Greater": ("greater", lambda one, other: one > other),
    "GreaterEqual": ("greater_equal", lambda one, other: one >= other),
    "LogicalAnd": ("logical_and", lambda one, other: one and other),
    "LogicalOr": ("logical_or", lambda one, other: one or other),
}


def _broadcast(compute, one, other):
    """Return the results for two numbers or lists, or None if shapes or sizes are none of a shape's."""
    one, other = one.numbers, other.numbers
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return None
        return [compute(mine, theirs) for mine, theirs in zip(one, other)]
    if isinstance(one, list):
        return [compute(mine, other) for mine in one]
    if isinstance(other, list):
        return [compute(one, theirs) for theirs in other]
    return compute(one, other)


def _enter_hosted(names, name, compute, is_claim):
    bounds = {int32: 1 << 31, int64: 1 << 63}

    def run(node, x, y):
        if type(x) is Host and type(y) is Host and x.dtype is y.dtype:
            try:
                found = _broadcast(compute, x, y)
            except ZeroDivisionError:
                found = None
            limit = 2 if is_claim else bounds.get(x.dtype, 0)
            if found is not None and all(-limit <= item < limit for item in (
                    found if isinstance(found, list) else [found])):
                return Host(found, bool_ if is_claim else x.dtype)
        return getattr(math, name)(tensor(x), tensor(y))
    operator(names)(run)


for _names, (_name, _compute) in _HOSTED.items():
    _enter_hosted(_names, _name, _compute, False)
for _names, (_name, _compute) in _CLAIMS.items():
    _enter_hosted(_names, _name, _compute, True)


@operator("LogicalNot")
def _logical_not(node, x):
    if type(x) is Host and not isinstance(x.numbers, list):
        return Host(not x.numbers, x.dtype)
    return math.logical_not(tensor(x))


@operator("Cast")
def _cast(node, x):
    wanted = node.get("DstT")
    if type(x) is Host and x.dtype.is_integer and wanted.name in ("int32", "int64"):
        return Host(x.numbers, wanted)
    return cast(tensor(x), wanted)


def _product(values):
    found = 1
    for value in values:
        found = value * found
    return found


def _sum(values):
    found = 0
    for value in values:
        found = value + found
    return found


@operator("Sum Prod")
def _reduce(node, x, axis):
    keep = node.get("keep_dims")
    if type(x) is Host and isinstance(x.numbers, list) and not keep and axis.shape != (0,):
        return Host((_sum if node.op == "Sum" else _product)(x.numbers), x.dtype)
    function = math.reduce_sum if node.op == "Sum" else math.reduce_prod
    return function(tensor(x), numbers(axis), keepdims=keep)
