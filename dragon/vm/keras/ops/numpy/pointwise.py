"""Functions of one number at a time, and of two: rows of a table of what becomes of their dtypes."""
from dragon.vm.keras.ops.common import (Tensor, cast_to, dtype_of, floatx, is_number, is_ready, join, join_tensors,
                                        operation, ops, publish, result_type, tensor, to_float, whole)
from dragon.vm.shared.tensors.bounds import greater_of, lesser_of


def _floating(name, sentence, compute, **marks):
    """Return a function whose results are floating numbers, also those of integers."""
    def function(x):
        x = tensor(x)
        dtype = dtype_of(x)
        return compute(x if "float" in dtype else cast_to(x, result_type(dtype, float)))
    return publish(function, name, sentence, **marks)


def _wide(name, sentence, compute):
    """Return a function whose int64 operands become float64, other integers the default floating dtype."""
    def function(x):
        x = tensor(x)
        return compute(cast_to(x, "float64") if dtype_of(x) == "int64" else to_float(x))
    return publish(function, name, sentence)


def _kept(name, sentence, compute, unchanged=(), **marks):
    """Return a function that keeps the dtype, and changes nothing in some of them."""
    def function(x):
        x = tensor(x)
        return x if dtype_of(x) in unchanged else compute(x)
    return publish(function, name, sentence, **marks)


def _sign(x):
    if not x.dtype.name.startswith(("float", "bfloat")):
        return ops.sgn(x)
    return ops.where(ops.isnan(x), x.detach(), ops.sgn(x))


def _binary(name, sentence, compute, extra=(), change=None):
    """Return a function of two operands in the dtype they have in common."""
    def function(x1, x2):
        if is_ready(x1, x2):
            return compute(x1, x2)
        return compute(*join(x1, x2, extra=extra, change=change))
    return publish(function, name, sentence)


def _strong(name, sentence, compute, extra=(), change=None):
    """Return a function of two operands whose plain numbers count as float32 or int32."""
    def function(x1, x2):
        x1, x2 = join_tensors(x1, x2, extra=extra)
        if change is not None:
            dtype = change(dtype_of(x1))
            x1, x2 = cast_to(x1, dtype), cast_to(x2, dtype)
        return compute(x1, x2)
    return publish(function, name, sentence)


def _no_bool(dtype):
    return "int32" if dtype == "bool" else dtype


def _square(x):
    return ops.square(cast_to(x, "int32") if dtype_of(x) == "bool" else x)


def _pow_of(base):
    return lambda x: ops.pow(base, x)


sin = _floating("sin", "Return the sine of each element.", ops.sin, keeps_zeros=True)
cos = _floating("cos", "Return the cosine of each element.", ops.cos)
tan = _floating("tan", "Return the tangent of each element.", ops.tan, keeps_zeros=True)
sinh = _floating("sinh", "Return the hyperbolic sine of each element.", ops.sinh, keeps_zeros=True)
cosh = _floating("cosh", "Return the hyperbolic cosine of each element.", ops.cosh)
tanh = _floating("tanh", "Return the hyperbolic tangent of each element.", ops.tanh, keeps_zeros=True)
arcsin = _floating("arcsin", "Return the angle that has each element as its sine.", ops.asin, keeps_zeros=True)
arccos = _floating("arccos", "Return the angle that has each element as its cosine.", ops.acos)
arctan = _floating("arctan", "Return the angle that has each element as its tangent.", ops.atan, keeps_zeros=True)
arcsinh = _floating("arcsinh", "Return the inverse hyperbolic sine of each element.", ops.asinh, keeps_zeros=True)
arccosh = _floating("arccosh", "Return the inverse hyperbolic cosine of each element.", ops.acosh)
arctanh = _floating("arctanh", "Return the inverse hyperbolic tangent of each element.", ops.atanh, keeps_zeros=True)
sinc = _floating("sinc", "Return sin(pi x) / (pi x) of each element.", ops.sinc)
log = _floating("log", "Return the natural logarithm of each element.", ops.log)
log2 = _floating("log2", "Return the logarithm to base 2 of each element.", ops.log2)
log10 = _floating("log10", "Return the logarithm to base 10 of each element.", ops.log10)
log1p = _floating("log1p", "Return log(1 + x) of each element.", ops.log1p, keeps_zeros=True)
sqrt = _floating("sqrt", "Return the square root of each element.", ops.sqrt, keeps_zeros=True)
ceil = _floating("ceil", "Round each element up to an integer.", ops.ceil, keeps_zeros=True)
floor = _floating("floor", "Round each element down to an integer.", ops.floor, keeps_zeros=True)
angle = _floating("angle", "Return the angle of each complex number.", ops.angle)
exp = publish(lambda x: ops.exp(to_float(x)), "exp", "Return e to the power of each element.")
exp2 = publish(lambda x: ops.exp2(to_float(x)), "exp2", "Return 2 to the power of each element.")
expm1 = publish(lambda x: ops.expm1(to_float(x)), "expm1", "Return e to the power of each element, less 1.",
                keeps_zeros=True)
fabs = publish(lambda x: ops.abs(to_float(x)), "fabs", "Return the size of each element as a floating number.")
cbrt = _wide("cbrt", "Return the cube root of each element.", ops.cbrt)
i0 = _wide("i0", "Return the modified Bessel function of order 0 of each element.", ops.i0)
deg2rad = _wide("deg2rad", "Turn degrees into radians.", ops.deg2rad)
rad2deg = _wide("rad2deg", "Turn radians into degrees.", ops.rad2deg)
absolute = _kept("absolute", "Return the size of each element.", ops.abs, ("bool", "uint8"), keeps_zeros=True)
abs = _kept("abs", "Return the size of each element.", ops.abs, ("bool", "uint8"), keeps_zeros=True)
negative = _kept("negative", "Return each element with its sign changed.", ops.neg, keeps_zeros=True)
sign = _kept("sign", "Return -1, 0 or 1 for the sign of each element; NaN for NaN.", _sign, keeps_zeros=True)
square = _kept("square", "Return each element times itself.", _square, keeps_zeros=True)
reciprocal = _kept("reciprocal", "Return 1 / x of each element.", ops.reciprocal)
trunc = _kept("trunc", "Drop the digits after the point.", ops.trunc,
              ("bool", "uint8", "int8", "int16", "int32", "int64"), keeps_zeros=True)
conjugate = _kept("conjugate", "Return the complex conjugate of each element.", ops.conj_physical, keeps_zeros=True)
conj = _kept("conj", "Return the complex conjugate of each element.", ops.conj_physical, keeps_zeros=True)
real = _kept("real", "Return the real part of each element.", ops.real, keeps_zeros=True)

add = _binary("add", "Return the sum of two operands.", ops.add)
subtract = _binary("subtract", "Return the difference of two operands.", ops.sub)
multiply = _binary("multiply", "Return the product of two operands.", ops.mul)
divide = _binary("divide", "Return the quotient of two operands.", ops.div, (float,))
true_divide = _binary("true_divide", "Return the quotient of two operands.", ops.div, (float,))


@operation
def power(x1, x2):
    """Return the first operand to the power of the second.

    Parameters
    ----------
    x1, x2 : Union[Tensor, number]
        The operands; integers have no powers below 0.

    Returns
    -------
    Tensor
        In the dtype the operands have in common.

    """
    if is_ready(x1, x2):
        return ops.pow(x1, x2)
    xs = join(x1, x2)
    dtype = dtype_of(xs[0] if isinstance(xs[0], Tensor) else xs[1])
    if dtype in ("uint8", "int8", "int16"):  # exponents have room there that they lack in 8 bits
        return cast_to(ops.pow(*[x if is_number(x) else tensor(x, "int32") for x in (x1, x2)]), dtype)
    return ops.pow(*xs)


floor_divide = _binary("floor_divide", "Return the quotient, rounded down.", ops.floor_divide)
maximum = _binary("maximum", "Return the larger of two operands; NaN where one is NaN.", greater_of)
minimum = _binary("minimum", "Return the smaller of two operands; NaN where one is NaN.", lesser_of)
fmax = _binary("fmax", "Return the larger of two operands; the number where one is NaN.", ops.fmax)
fmin = _binary("fmin", "Return the smaller of two operands; the number where one is NaN.", ops.fmin)
fmod = _strong("fmod", "Return the rest of a division, with the sign of the first operand.", ops.fmod,
               change=_no_bool)
mod = _strong("mod", "Return the rest of a division, with the sign of the divisor.", ops.remainder,
              change=_no_bool)
arctan2 = _strong("arctan2", "Return the angle of the point (x2, x1).", ops.atan2, (float,))
logaddexp = _strong("logaddexp", "Return log(exp(x1) + exp(x2)).", ops.logaddexp, (float,))
logaddexp2 = _strong("logaddexp2", "Return log2(2 ** x1 + 2 ** x2).", ops.logaddexp2, (float,))


def _wide_pair(dtype):
    return "float64" if dtype == "int64" else floatx() if "int" in dtype else dtype


heaviside = _strong("heaviside", "Return 0 for negative, 1 for positive numbers and x2 for zero.",
                    ops.heaviside, change=_wide_pair)
hypot = _strong("hypot", "Return sqrt(x1 ** 2 + x2 ** 2) without overflow.", ops.hypot, change=_wide_pair)


@operation
def divide_no_nan(x1, x2):
    """Return the quotient of two operands, 0 where the divisor is 0."""
    x1, x2 = join(x1, x2, extra=(float,))
    x2 = tensor(x2)
    zero = ops.eq(x2, 0)
    # The division itself must not see the zero, else its gradient would be NaN.
    quotient = ops.div(x1, ops.where(zero, ops.ones_like(x2), x2))
    return ops.where(zero, ops.zeros_like(quotient), quotient)


@operation(keeps_zeros=True)
def imag(x):
    """Return the imaginary part of each element; zeros for real numbers."""
    x = tensor(x)
    return ops.imag(x) if "complex" in dtype_of(x) else ops.zeros_like(x)


@operation(keeps_zeros=True)
def round(x, decimals=0):
    """Round each element to a number of decimals, halves to even.

    Parameters
    ----------
    decimals : int, optional, default=0
        Places after the point; negative ones count before it.

    """
    x = tensor(x)
    dtype = dtype_of(x)
    if "float" not in dtype and "complex" not in dtype:
        if decimals >= 0:
            return x
        return cast_to(ops.round(cast_to(x, floatx()), decimals=decimals), dtype)
    return ops.round(x, decimals=decimals)


@operation
def clip(x, x_min, x_max):
    """Keep each element between two bounds, which may be tensors.

    Parameters
    ----------
    x_min, x_max : Union[Tensor, number]
        The bounds.

    Returns
    -------
    Tensor
        Of the dtype of `x`; int32 for truths.

    """
    x = tensor(x)
    x = cast_to(x, "int32") if dtype_of(x) == "bool" else x
    dtype = dtype_of(x)
    return greater_of(lesser_of(x, _bound(x_max, "x_max", dtype)), _bound(x_min, "x_min", dtype))


def _bound(value, what, dtype):
    """Return a bound in the dtype of what it bounds."""
    if isinstance(value, (int, float)):
        return float(value) if "float" in dtype else int(whole(value, what, dtype))
    return tensor(value, dtype)


@operation
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """Replace NaN and infinities by numbers: by default 0 and the largest finite ones.

    Parameters
    ----------
    nan : number, optional, default=0.0
        What takes the place of NaN.
    posinf, neginf : number, optional
        What take the place of infinities.

    """
    x = tensor(x)
    return ops.nan_to_num(x, nan, posinf, neginf) if "float" in dtype_of(x) else x


@operation
def ldexp(x1, x2):
    """Return x1 * 2 ** x2 for integers x2."""
    x1, x2 = tensor(x1), tensor(x2)
    if "int" not in dtype_of(x2):
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={dtype_of(x2)}")
    dtype = result_type(dtype_of(x1), dtype_of(x2), float)
    x1 = cast_to(x1, dtype)
    scaled = ops.mul(x1, ops.pow(2.0, cast_to(x2, dtype)))
    return ops.where(ops.logical_or(ops.isinf(x1), ops.eq(x1, 0)), x1, scaled)


@operation
def nextafter(x1, x2):
    """Return the number after x1 in the direction of x2; of 16 bits, that double in the dtype of the operands."""
    x1, x2 = join_tensors(x1, x2, extra=(float,))
    if dtype_of(x1) == "float32":
        return ops.nextafter(x1, x2)
    return cast_to(ops.nextafter(cast_to(x1, "float64"), cast_to(x2, "float64")), dtype_of(x1))
