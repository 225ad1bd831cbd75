"""Operators that go through numbers one by one."""
from dragon.vm.shared.arrays.creation import bitcast, cast
from dragon.vm.shared.tensors.dtypes import bool_, int32, int64
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import bitwise, math
from dragon.vm.tensorflow.core.flow import asserts
from dragon.vm.tensorflow.core.numbers import clipping
from dragon.vm.tensorflow.core.saved_model.table import enter, operator, rows
from dragon.vm.tensorflow.core.saved_model.values import Host, dtype_of, tensor

rows(math, """
Abs ComplexAbs abs
Acos acos
Acosh acosh
Asin asin
Asinh asinh
Atan atan
Atan2 atan2
Atanh atanh
BesselI0 bessel_i0
BesselI0e bessel_i0e
BesselI1 bessel_i1
BesselI1e bessel_i1e
Ceil ceil
Complex complex
Conj conj
Angle angle
Cos cos
Cosh cosh
Digamma digamma
DivNoNan divide_no_nan
Erf erf
Erfc erfc
Erfinv erfinv
Exp exp
Expm1 expm1
Floor floor
Igamma igamma
Igammac igammac
Imag imag
Inv Reciprocal reciprocal
InvertPermutation invert_permutation
IsFinite is_finite
IsInf is_inf
IsNan is_nan
Lgamma lgamma
Log log
Log1p log1p
MulNoNan multiply_no_nan
Ndtri ndtri
Neg negative
NextAfter nextafter
Polygamma polygamma
Pow pow
Real real
RealDiv realdiv
Rint rint
Round round
Rsqrt rsqrt
Sigmoid sigmoid
Sign sign
Sin sin
Sinh sinh
Sqrt sqrt
Square square
SquaredDifference squared_difference
Tan tan
Tanh tanh
TruncateDiv truncatediv
TruncateMod Mod truncatemod
Xdivy xdivy
Xlog1py xlog1py
Xlogy xlogy
Zeta zeta
""")
rows(bitwise, """
BitwiseAnd bitwise_and
BitwiseOr bitwise_or
BitwiseXor bitwise_xor
Invert invert
LeftShift left_shift
RightShift right_shift
""")
rows(clipping, "ClipByValue clip_by_value")


# --- what shapes go through as well: Python's numbers while there are such alone

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
    enter(names, run)


for _names, (_name, _compute) in _HOSTED.items():
    _enter_hosted(_names, _name, _compute, False)
for _names, (_name, _compute) in _CLAIMS.items():
    _enter_hosted(_names, _name, _compute, True)


@operator("LogicalNot")
def _logical_not(node, x):
    if type(x) is Host and not isinstance(x.numbers, list):
        return Host(not x.numbers, x.dtype)
    return math.logical_not(tensor(x))


@operator("Div")
def _div(node, x, y):
    x, y = tensor(x), tensor(y)
    return math.truncatediv(x, y) if dtype_of(x).is_integer else math.realdiv(x, y)


@operator("AddN")
def _add_n(node, *operands):
    return math.add_n([tensor(operand) for operand in operands])


@operator("AccumulateNV2")
def _accumulate(node, *operands):
    return math.add_n([tensor(operand) for operand in operands])


@operator("Cast")
def _cast(node, x):
    wanted = node.get("DstT")
    if type(x) is Host and x.dtype.is_integer and wanted.name in ("int32", "int64"):
        return Host(x.numbers, wanted)
    return cast(tensor(x), wanted)


@operator("Bitcast")
def _bitcast(node, x):
    wanted = node.get("type")
    return tensor(x) if dtype_of(x) is wanted else bitcast(tensor(x), wanted)


@operator("CheckNumerics CheckNumericsV2")
def _check_numerics(node, x):
    return asserts.check_numerics(tensor(x), node.get("message", ""))


@operator("ApproximateEqual")
def _approximate_equal(node, x, y):
    return ops.lt(ops.abs(ops.sub(tensor(x), tensor(y))), node.get("tolerance", 1e-5))


def _through_gradient(name):
    """Enter a gradient's operator, which files of training steps have: dy times what y says."""
    def run(node, y, dy):
        y, dy = tensor(y), tensor(dy)
        return _SLOPES[name](y, dy)
    enter(name, run)


_SLOPES = {
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "SqrtGrad": lambda y, dy: dy * 0.5 / y,
    "RsqrtGrad": lambda y, dy: dy * -0.5 * y * y * y,
    "ReluGrad": lambda dy, x: ops.where(x > 0, dy, ops.zeros_like(dy)),
    "ReciprocalGrad": lambda y, dy: -dy * y * y,
}
for _name in _SLOPES:
    _through_gradient(_name)
