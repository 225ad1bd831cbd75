"""Arithmetic, comparisons and functions of one number."""
import math

from dragon.onnx.table import maps
from dragon.onnx.writer import FLOATING, common_dtype

PI = math.pi


def is_float(x):
    """Return whether a value holds floating-point numbers."""
    return x.dtype in FLOATING


def negative_sign(w, x):
    """Return whether the sign bit is set: 1 / -0 is below 0."""
    if not is_float(x):
        return w.Less(x, 0)
    return w.Or(w.Less(x, 0), w.Less(w.Reciprocal(x), 0))


def truncated(w, x):
    """Return x without its fraction."""
    return w.Where(w.Less(x, 0), w.Ceil(x), w.Floor(x)) if is_float(x) else x


def scaled(w, x, factor):
    """Return x times a number."""
    return x if factor == 1 else w.Mul(x, factor)


@maps("add")
def add(w, x, y, alpha):
    x, y = w.promoted(x, y)
    if x.dtype == "bool":
        return w.Or(x, w.And(y, bool(alpha)))
    return w.Add(x, scaled(w, y, alpha))


@maps("sub")
def sub(w, x, y, alpha):
    x, y = w.promoted(x, y)
    return w.Sub(x, scaled(w, y, alpha))


@maps("mul")
def mul(w, x, y):
    x, y = w.promoted(x, y)
    return w.And(x, y) if x.dtype == "bool" else w.Mul(x, y)


@maps("addcmul")
def addcmul(w, x, tensor1, tensor2, value):
    x, tensor1, tensor2 = w.promoted(x, tensor1, tensor2)
    return w.Add(x, scaled(w, w.Mul(tensor1, tensor2), value))


@maps("addcdiv")
def addcdiv(w, x, tensor1, tensor2, value):
    x, tensor1, tensor2 = w.promoted(x, tensor1, tensor2)
    return w.Add(x, w.Div(scaled(w, tensor1, value), tensor2))


@maps("neg")
def neg(w, x):
    return w.Sub(0, x) if x.dtype == "uint8" else w.Neg(x)


@maps("abs")
def absolute(w, x):
    return x if x.dtype in ("bool", "uint8") else w.Abs(x)


@maps("trunc_divide")
def trunc_divide(w, x, y):
    x, y = w.promoted(x, y)
    return truncated(w, w.Div(x, y))


def float_remainder(w, x, y):
    """Return what truncating division leaves, and whether its sign differs from y's."""
    left = w.Mod(x, y, fmod=1)
    differs = w.And(w.Not(w.Equal(left, 0)), w.Xor(w.Less(left, 0), w.Less(y, 0)))
    return left, differs


@maps("remainder")
def remainder(w, x, y):
    x, y = w.promoted(x, y)
    if not is_float(x):
        return w.Mod(x, y)
    left, differs = float_remainder(w, x, y)
    return w.Where(differs, w.Add(left, y), left)


@maps("fmod")
def fmod(w, x, y):
    return w.Mod(*w.promoted(x, y), fmod=1)


@maps("floor_divide")
def floor_divide(w, x, y):
    """As Python's //: the quotient that goes with the remainder, not the rounded quotient's floor."""
    x, y = w.promoted(x, y)
    if not is_float(x):
        return w.Div(w.Sub(x, w.Mod(x, y)), y)
    left, differs = float_remainder(w, x, y)
    quotient = w.Div(w.Sub(x, left), y)
    quotient = w.Round(w.Where(differs, w.Sub(quotient, 1), quotient))
    return w.Where(w.Equal(y, 0), w.Div(x, y), quotient)


def extreme_number(w, x, y, choose):
    """Return the extreme of two; a number wins over NaN."""
    if not is_float(x):
        return both_or_either(w, x, y, choose)
    return w.Where(w.IsNaN(x), y, w.Where(w.IsNaN(y), x, choose(x, y)))


def both_or_either(w, x, y, choose):
    """Return Max or Min, which for booleans are Or and And."""
    if x.dtype != "bool":
        return choose(x, y)
    return w.cast(choose(w.cast(x, "int32"), w.cast(y, "int32")), "bool")


def write_extreme(choose, op):
    """Return a mapping of two values to one of them."""
    def mapping(w, x, y):
        return choose(w, *w.promoted(x, y), getattr(w, op))
    return mapping


for name, _choose, op in (("fmax", extreme_number, "Max"), ("fmin", extreme_number, "Min"),
                          ("maximum", both_or_either, "Max"), ("minimum", both_or_either, "Min")):
    maps(name)(write_extreme(_choose, op))


@maps("clamp")
def clamp(w, x, min, max):
    y = w.promoted(x)[0]
    if min is not None:
        y = w.Max(y, w.promoted(min)[0])
    return y if max is None else w.Min(y, w.promoted(max)[0])


@maps("copysign")
def copysign(w, x, y):
    x, y = w.promoted(x, y)
    size = w.Abs(x)
    return w.Where(negative_sign(w, y), w.Neg(size), size)


@maps("hypot")
def hypot(w, x, y):
    x, y = (w.Abs(value) for value in w.promoted(x, y))
    most, least = w.Max(x, y), w.Min(x, y)
    ratio = w.Where(w.Equal(least, most), 1, w.Div(least, most))
    return w.Mul(most, w.Sqrt(w.Add(w.Mul(ratio, ratio), 1)))


@maps("atan2")
def atan2(w, x, y):
    """The first argument is the height, the second the width."""
    height, width = w.promoted(x, y)
    nothing = w.And(w.Equal(height, 0), w.Equal(width, 0))
    angle = w.Where(nothing, height, w.Atan(w.Div(height, width)))
    half_turn = w.Where(negative_sign(w, height), w.constant(-PI, height.dtype), w.constant(PI, height.dtype))
    return w.Where(negative_sign(w, width), w.Add(angle, half_turn), angle)


def power_of_two(w, places):
    """Return 2 to the power of integers."""
    return w.Pow(w.constant(2, "int64"), places)


@maps("bitwise_left_shift")
def bitwise_left_shift(w, x, y):
    x, places = w.cast(x, "int64"), w.cast(y, "int64")
    shifted = w.Mul(x, power_of_two(w, w.Min(places, 62)))
    shifted = w.Where(w.Equal(places, 63), w.Add(shifted, shifted), shifted)
    return w.Where(w.Greater(places, 63), w.constant(0, "int64"), shifted)


@maps("bitwise_right_shift")
def bitwise_right_shift(w, x, y):
    divisor = power_of_two(w, w.Min(w.cast(y, "int64"), 62))
    x = w.cast(x, "int64")
    return w.Div(w.Sub(x, w.Mod(x, divisor)), divisor)


def write_bitwise(op, logical):
    """Return a mapping: of booleans the logical operator, of integers the bitwise one."""
    def mapping(w, x, y):
        x, y = w.promoted(x, y)
        return w.add(logical if x.dtype == "bool" else op, x, y)
    return mapping


def write_logical(op):
    """Return a mapping on whether elements differ from 0."""
    def mapping(w, x, y):
        return w.add(op, w.truth(x), w.truth(y))
    return mapping


for name, logical in (("And", "And"), ("Or", "Or"), ("Xor", "Xor")):
    maps(f"bitwise_{name.lower()}")(write_bitwise(f"Bitwise{name}", logical))
    maps(f"logical_{name.lower()}")(write_logical(name))


@maps("bitwise_not")
def bitwise_not(w, x):
    return w.Not(x) if x.dtype == "bool" else w.BitwiseNot(x)


@maps("logical_not")
def logical_not(w, x):
    return w.Not(w.truth(x))


def write_comparison(op):
    """Return a mapping that compares in the common dtype."""
    def mapping(w, x, y):
        dtype = common_dtype([x, y])
        dtype = "int32" if dtype == "bool" else dtype
        return w.add(op, w.cast(x, dtype), w.cast(y, dtype))
    return mapping


for name, op in (("eq", "Equal"), ("lt", "Less"), ("le", "LessOrEqual"), ("gt", "Greater"), ("ge", "GreaterOrEqual")):
    maps(name)(write_comparison(op))


@maps("ne")
def ne(w, x, y):
    return w.Not(write_comparison("Equal")(w, x, y))


@maps("where")
def where(w, condition, x, y):
    return w.Where(w.truth(condition), *w.promoted(x, y))


@maps("masked_fill")
def masked_fill(w, x, mask, value):
    return w.Where(w.truth(mask), w.cast(value, x.dtype), x)


@maps("lerp")
def lerp(w, x, end, weight):
    x, end, weight = w.promoted(x, end, weight)
    return w.Add(x, w.Mul(weight, w.Sub(end, x)))


@maps("heaviside")
def heaviside(w, x, y):
    x, y = w.promoted(x, y)
    step = w.Where(w.Equal(x, 0), y, w.cast(w.Greater(x, 0), x.dtype))
    return w.Where(w.IsNaN(x), x, step) if is_float(x) else step


@maps("xlogy")
def xlogy(w, x, y):
    x, y = w.promoted(x, y)
    return zero_times(w, x, y, w.Log(y))


@maps("xlog1py")
def xlog1py(w, x, y):
    x, y = w.promoted(x, y)
    return zero_times(w, x, y, log_of_one_more(w, y))


def zero_times(w, x, y, logarithm):
    """Return x * logarithm, 0 where x is 0 unless y is NaN."""
    nothing = w.And(w.Equal(x, 0), w.Not(w.IsNaN(y)))
    return w.Where(nothing, w.constant(0, x.dtype), w.Mul(x, logarithm))


def log_of_one_more(w, x):
    """Return log(1 + x), exact near 0: the rounding of 1 + x is divided out."""
    whole = w.Add(x, 1)
    corrected = w.Div(w.Mul(w.Log(whole), x), w.Sub(whole, 1))
    plain = w.Or(w.Equal(whole, 1), w.IsInf(whole))
    return w.Where(plain, x, corrected)


@maps("logaddexp")
def logaddexp(w, x, y):
    x, y = w.promoted(x, y)
    apart = w.Where(w.Equal(x, y), w.constant(0, x.dtype), w.Abs(w.Sub(x, y)))
    return w.Add(w.Max(x, y), log_of_one_more(w, w.Exp(w.Neg(apart))))


@maps("logaddexp2")
def logaddexp2(w, x, y):
    x, y = w.promoted(x, y)
    apart = w.Where(w.Equal(x, y), w.constant(0, x.dtype), w.Abs(w.Sub(x, y)))
    term = log_of_one_more(w, w.Exp(w.Mul(apart, -math.log(2))))
    return w.Add(w.Max(x, y), w.Mul(term, 1 / math.log(2)))


# --- functions of one number

def write_unary(function):
    """Return a mapping of a function of one value in the result's dtype."""
    def mapping(w, x):
        return function(w, w.promoted(x)[0])
    return mapping


def exp_less_one(w, x):
    """Return exp(x) - 1, exact near 0: 2 sinh(x / 2) exp(x / 2)."""
    half = w.Mul(x, 0.5)
    near = w.Mul(w.Mul(w.Sinh(half), w.Exp(half)), 2)
    return w.Where(w.Less(w.Abs(x), 0.5), near, w.Sub(w.Exp(x), 1))


def sign(w, x):
    """Return -1, 0 or 1; 0 for NaN."""
    if x.dtype == "bool":
        return x
    y = w.Sign(x)
    return w.Where(w.IsNaN(x), w.constant(0, x.dtype), y) if is_float(x) else y


def ratio_to_argument(w, x, numerator):
    """Return numerator / x, 1 where x is 0."""
    return w.Where(w.Equal(x, 0), w.constant(1, x.dtype), w.Div(numerator, x))


def sinc(w, x):
    """Return sin(pi x) / (pi x)."""
    turned = w.Mul(x, PI)
    return ratio_to_argument(w, turned, w.Sin(turned))


def entropy(w, x):
    """Return -x log(x), -inf below 0."""
    inside = w.Where(w.Equal(x, 0), x, w.Neg(w.Mul(x, w.Log(x))))
    return w.Where(w.Less(x, 0), w.constant(-math.inf, x.dtype), inside)


UNARY = {
    "cbrt": lambda w, x: w.Mul(w.Sign(x), w.Pow(w.Abs(x), 1 / 3)),
    "deg2rad": lambda w, x: w.Mul(x, PI / 180),
    "rad2deg": lambda w, x: w.Mul(x, 180 / PI),
    "entr": entropy,
    "erfc": lambda w, x: w.Sub(1, w.Erf(x)),
    "exp2": lambda w, x: w.Pow(w.constant(2, x.dtype), x),
    "expm1": exp_less_one,
    "frac": lambda w, x: w.Sub(x, truncated(w, x)),
    "log10": lambda w, x: w.Mul(w.Log(x), 1 / math.log(10)),
    "log1p": log_of_one_more,
    "log2": lambda w, x: w.Mul(w.Log(x), 1 / math.log(2)),
    "ndtr": lambda w, x: w.Mul(w.Add(w.Erf(w.Mul(x, math.sqrt(0.5))), 1), 0.5),
    "rsqrt": lambda w, x: w.Reciprocal(w.Sqrt(x)),
    "sgn": sign,
    "sign": sign,
    "sinc": sinc,
    "spherical_bessel_j0": lambda w, x: ratio_to_argument(w, x, w.Sin(x)),
    "square": lambda w, x: w.Mul(x, x),
    "trunc": truncated,
    "floor": lambda w, x: w.Floor(x) if is_float(x) else x,
    "ceil": lambda w, x: w.Ceil(x) if is_float(x) else x,
}
for name, _unary in UNARY.items():
    maps(name)(write_unary(_unary))


@maps("angle")
def angle(w, x):
    pi, zero = w.constant(PI, w.out.dtype), w.constant(0, w.out.dtype)
    turned = w.Where(w.Less(x, 0), pi, zero)
    return w.Where(w.IsNaN(x), x, turned) if is_float(x) else turned


@maps("round")
def rounded(w, x, decimals):
    if not is_float(x):
        return x if decimals >= 0 else w.refuse("integers rounded to tens")
    if decimals == 0:
        return w.Round(x)
    factor = float(10 ** abs(decimals))
    if decimals > 0:
        return w.Div(w.Round(w.Mul(x, factor)), factor)
    return w.Mul(w.Round(w.Div(x, factor)), factor)


@maps("signbit")
def signbit(w, x):
    return negative_sign(w, w.cast(x, "int32") if x.dtype in ("bool", "uint8") else x)


def write_question(ask, answer):
    """Return a mapping of a question about floats; integers all have one answer."""
    def mapping(w, x):
        if is_float(x):
            return ask(w, x)
        same = w.Equal(w.cast(x, "int32"), w.cast(x, "int32"))
        return same if answer else w.Not(same)
    return mapping


for name, answer, _ask in (
        ("isnan", False, lambda w, x: w.IsNaN(x)), ("isinf", False, lambda w, x: w.IsInf(x)),
        ("isfinite", True, lambda w, x: w.Not(w.Or(w.IsInf(x), w.IsNaN(x)))),
        ("isposinf", False, lambda w, x: w.IsInf(x, detect_negative=0)),
        ("isneginf", False, lambda w, x: w.IsInf(x, detect_positive=0))):
    maps(name)(write_question(_ask, answer))


@maps("logit")
def logit(w, x, eps):
    x = w.promoted(x)[0]
    if eps is not None:
        x = w.Min(w.Max(x, eps), 1 - eps)
    return w.Log(w.Div(x, w.Sub(1, x)))


@maps("nan_to_num")
def nan_to_num(w, x, nan, posinf, neginf):
    if not is_float(x):
        return x
    largest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
               "float64": 1.7976931348623157e308}[x.dtype]
    numbers = (nan or 0.0, largest if posinf is None else posinf, -largest if neginf is None else neginf)
    nan, high, low = (w.constant(number, x.dtype) for number in numbers)
    y = w.Where(w.IsNaN(x), nan, x)
    y = w.Where(w.IsInf(x, detect_negative=0), high, y)
    return w.Where(w.IsInf(x, detect_positive=0), low, y)


@maps("fill")
def fill(w, x, value):
    return w.expand(w.constant(value, x.dtype), x.shape)


@maps("cast")
def cast(w, x, dtype):
    return w.cast(x, dtype)
