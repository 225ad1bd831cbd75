"""Functions of numbers, element by element, with TensorFlow's dtype rules."""
import functools
import math

from dragon import _C
from dragon.vm.guest import named
from dragon.vm.shared.arrays.creation import cast
from dragon.vm.shared.arrays.moving import is_ragged, take
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.operators import (BOOL, FLOATS, INTEGERS, QUOTIENT, apply, operand,
                                                refuse_dtype)
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numbers.rows import INEXACT, NUMBERS, check_pair, fill, of_others, of_ragged

fill(globals(), unary="""
acos acos c Acos the angles whose cosines the numbers are
acosh acosh c Acosh the inverse hyperbolic cosines
asin asin c Asin the angles whose sines the numbers are
asinh asinh c Asinh the inverse hyperbolic sines
atan atan c Atan the angles whose tangents the numbers are
atanh atanh c Atanh the inverse hyperbolic tangents
bessel_i0 i0 r BesselI0 the modified Bessel function of order 0
bessel_i0e i0e r BesselI0e the modified Bessel function of order 0, times exp(-|x|)
bessel_i1 i1 r BesselI1 the modified Bessel function of order 1
bessel_i1e i1e r BesselI1e the modified Bessel function of order 1, times exp(-|x|)
ceil ceil r Ceil the least integers not below
cos cos c Cos the cosines
cosh cosh c Cosh the hyperbolic cosines
erf erf r Erf the error function
erfc erfc r Erfc the complement of the error function
erfinv erfinv r Erfinv the inverse of the error function
exp exp c Exp the powers of e
expm1 expm1 c Expm1 the powers of e, less 1
floor floor r Floor the greatest integers not above
is_finite isfinite r IsFinite whether numbers are finite
is_inf isinf r IsInf whether numbers are infinite
is_nan isnan r IsNan whether numbers are undefined
lgamma lgamma r Lgamma the logarithm of the absolute value of the gamma function
log log c Log the natural logarithms
log1p log1p c Log1p the natural logarithms of 1 more
ndtri ndtri r Ndtri the quantiles of the normal distribution
negative neg s Neg the numbers with the other sign
rint round r Rint the nearest integers, halves to even ones
rsqrt rsqrt c Rsqrt the reciprocals of the square roots
sigmoid sigmoid c Sigmoid 1 / (1 + exp(-x))
sin sin c Sin the sines
sinh sinh c Sinh the hyperbolic sines
sqrt sqrt c Sqrt the square roots
square square n Square the squares
tan tan c Tan the tangents
tanh tanh c Tanh the hyperbolic tangents
log_sigmoid logsigmoid r Softplus log(sigmoid(x))
""", binary="""
add add n AddV2 x + y
subtract sub n Sub x - y
multiply mul n Mul x * y
atan2 atan2 r Atan2 the angles of points (y, x)
floormod remainder o FloorMod x - floor(x / y) * y
floordiv floor_divide o FloorDiv floor(x / y)
greater gt o Greater whether x > y
greater_equal ge o GreaterEqual whether x >= y
less lt o Less whether x < y
less_equal le o LessEqual whether x <= y
maximum maximum o Maximum the greater of two
minimum minimum o Minimum the lesser of two
logical_and logical_and b LogicalAnd whether both hold
logical_or logical_or b LogicalOr whether one holds or both do
logical_xor logical_xor b LogicalXor whether one holds and the other does not
truncatediv trunc_divide n TruncateDiv x / y without its fraction
truncatemod fmod o TruncateMod the remainder of truncatediv
""")
mod = globals()["floormod"]
# Rows of functions whose arguments have names of their own.
_rows = {"__name__": __name__}
fill(_rows, unary="""
softplus softplus r Softplus log(1 + exp(x))
softsign softsign r Softsign x / (1 + |x|)
""", binary="""
nextafter nextafter r NextAfter the numbers next to x towards y
igamma igamma r Igamma the lower regularised incomplete gamma function
igammac igammac r Igammac the upper regularised incomplete gamma function
zeta zeta r Zeta the Hurwitz zeta function
""")


def softplus(features, name=None):
    """Return log(1 + exp(features))."""
    return _rows["softplus"](features)


def softsign(features, name=None):
    """Return features / (1 + |features|)."""
    return _rows["softsign"](features)


def nextafter(x1, x2, name=None):
    """Return the numbers next to x1 towards x2, element by element."""
    return _rows["nextafter"](x1, x2)


def igamma(a, x, name=None):
    """Return the lower regularised incomplete gamma function, element by element."""
    return _rows["igamma"](a, x)


def igammac(a, x, name=None):
    """Return the upper regularised incomplete gamma function, element by element."""
    return _rows["igammac"](a, x)


def zeta(x, q, name=None):
    """Return the Hurwitz zeta function, element by element."""
    return _rows["zeta"](x, q)


def _left(x, y):
    """Return the left side of Python's operator as a tensor."""
    return x if hasattr(x, "shape") and type(x).__module__ != "numpy" else check_pair(x, y, "Equal")[0]


def divide(x, y, name=None):
    """Return x / y; of integers as floats."""
    return _left(x, y) / y


truediv = divide


def realdiv(x, y, name=None):
    """Return x / y, of floats only."""
    x, y = check_pair(x, y, "RealDiv")
    return apply(ops.div, "RealDiv", x, y, False, INEXACT)


equal = named(lambda x, y, name=None: _left(x, y) == y, "equal",
              "Return whether elements are equal; False where shapes do not broadcast.")
not_equal = named(lambda x, y, name=None: _left(x, y) != y, "not_equal",
                  "Return whether elements differ; True where shapes do not broadcast.")
pow = named(lambda x, y, name=None: _left(x, y) ** y, "pow", "Return x to the power of y.")


def abs(x, name=None):
    """Return absolute values.

    Parameters
    ----------
    x : Tensor
        The numbers.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of the same shape; real for complex numbers.

    Examples
    --------
    >>> tf.abs([-1.5, 2.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2. ], dtype=float32)>

    """
    if is_ragged(x):
        return of_ragged(abs, x)
    x = take(x)
    if x.dtype is BOOL:
        raise refuse_dtype("Abs", BOOL)
    return ops.abs(x)


def sign(x, name=None):
    """Return -1, 0 or 1; of complex numbers x / |x|."""
    x = take(x)
    if x.dtype.is_complex:
        return ops.sgn(x)
    return ops.where(ops.isnan(x), x.detach(), ops.sign(x)) if x.dtype in FLOATS else ops.sign(x)


def round(x, name=None):
    """Return the nearest integers, halves to even ones."""
    x = take(x)
    return convert_to_tensor(x) if x.dtype in INTEGERS else ops.round(x)


def logical_not(x, name=None):
    """Return whether a claim does not hold."""
    x = take(x)
    if x.dtype is not BOOL:
        raise refuse_dtype("LogicalNot", x.dtype)
    return ops.logical_not(x)


def reciprocal(x, name=None):
    """Return 1 / x."""
    x = take(x)
    if x.dtype in INTEGERS:
        return ops.trunc_divide(ops.ones_like(x), x)
    return ops.reciprocal(x)


def reciprocal_no_nan(x, name=None):
    """Return 1 / x, and 0 where x is 0."""
    x = take(x)
    return divide_no_nan(ops.ones_like(x), x)


def divide_no_nan(x, y, name=None):
    """Return x / y, and 0 where y is 0."""
    x, y = check_pair(x, y, "DivNoNan")
    y = take(operand(x, y, "DivNoNan"), None if isinstance(y, _C.Tensor) else x.dtype)
    if x.dtype in QUOTIENT:
        x, y = cast(x, QUOTIENT[x.dtype]), cast(y, QUOTIENT[x.dtype])
    none = ops.eq(y, 0)
    # The divisor is no zero anywhere, so that gradients are defined too.
    return ops.where(none, ops.zeros_like(ops.mul(x.detach(), y.detach())),
                     ops.div(x, ops.where(none, ops.ones_like(y), y)))


def multiply_no_nan(x, y, name=None):
    """Return x * y, and 0 where y is 0, whatever x is."""
    x, y = check_pair(x, y, "MulNoNan")
    y = take(operand(x, y, "MulNoNan"), None if isinstance(y, _C.Tensor) else x.dtype)
    none = ops.eq(y, 0)
    return ops.where(none, ops.zeros_like(y), ops.mul(ops.where(none, ops.zeros_like(x), x), y))


def xdivy(x, y, name=None):
    """Return x / y, and 0 where x is 0, whatever y is."""
    x, y = check_pair(x, y, "Xdivy")
    y = take(operand(x, y, "Xdivy"), None if isinstance(y, _C.Tensor) else x.dtype)
    none = ops.eq(x, 0)
    return ops.where(none, ops.zeros_like(x), ops.div(x, ops.where(none, ops.ones_like(y), y)))


def digamma(x, name=None):
    """Return the derivative of lgamma; undefined at 0."""
    x = take(x)
    if x.dtype not in FLOATS:
        raise refuse_dtype("Digamma", x.dtype)
    return ops.where(ops.eq(x, 0), ops.full_like(x.detach(), float("nan")), ops.digamma(x))


xlogy = named(lambda x, y, name=None: _times_log(x, y, "Xlogy", ops.xlogy, ops.log), "xlogy",
              "Return x * log(y), and 0 where x is 0.")
xlog1py = named(lambda x, y, name=None: _times_log(x, y, "Xlog1py", ops.xlog1py, ops.log1p), "xlog1py",
                "Return x * log(1 + y), and 0 where x is 0.")


def _times_log(x, y, node, run, logarithm):
    x, y = check_pair(x, y, node)
    if not x.dtype.is_complex:
        made = apply(run, node, x, y, False, FLOATS)
        if made is NotImplemented:
            return of_others(node.lower(), x, y)
        return ops.where(ops.eq(x, 0), ops.zeros_like(made.detach()), made)  # whatever y is, NaN too
    y = take(operand(x, y, node), None if isinstance(y, _C.Tensor) else x.dtype)
    none = ops.eq(x, 0)
    return ops.where(none, ops.zeros_like(x), x * logarithm(ops.where(none, ops.ones_like(y), y)))


def squared_difference(x, y, name=None):
    """Return (x - y) squared; of complex numbers, times the conjugate."""
    x, y = check_pair(x, y, "SquaredDifference")
    if not isinstance(x, _C.Tensor):
        return of_others("squared_difference", x, y)
    difference = apply(ops.sub, "SquaredDifference", x, y, False, NUMBERS)
    if difference is NotImplemented:
        return of_others("squared_difference", x, y)
    if difference.dtype.is_complex:
        squares = ops.add(ops.square(ops.real(difference)), ops.square(ops.imag(difference)))
        return ops.cast(squares, difference.dtype)
    return ops.square(difference)


def scalar_mul(scalar, x, name=None):
    """Return a tensor times a number."""
    number = take(scalar, None if isinstance(scalar, _C.Tensor) else take(x).dtype)
    if number.ndim:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {number.shape}.")
    return take(x) * number


def polygamma(a, x, name=None):
    """Return the derivatives of digamma: `a` says which."""
    a, x = check_pair(a, x, "Polygamma")
    x = take(x, a.dtype if not isinstance(x, _C.Tensor) else None)
    order = a.detach()
    orders = {float(number) for number in ops.reshape(order, (-1,)).tolist()}
    if any(number < 0 or number % 1 for number in orders):
        raise NotImplementedError(f"tf.math.polygamma: orders must be whole numbers. Received: {sorted(orders)}")
    shape = tuple(ops.broadcast_to(ops.zeros_like(order), tuple((order + x.detach()).shape)).shape)
    made, x = ops.zeros(shape, dtype=x.dtype), ops.broadcast_to(x, shape)
    for number in sorted(orders):
        part = ops.digamma(x) if number == 0 else ops.polygamma(int(number), x)
        made = ops.where(ops.eq(order, number), part, made)
    return made


def erfcinv(x, name=None):
    """Return the inverse of the complement of the error function."""
    return ops.ndtri(ops.mul(take(x), 0.5)) * -(0.5 ** 0.5)


def _number(x, node):
    """Return a tensor of numbers, or raise TensorFlow's error."""
    x = take(x)
    if x.dtype not in NUMBERS and x.dtype is not BOOL:
        raise TypeError(f"{node}: input must be a numeric tensor, but got tensor with dtype {x.dtype}")
    return x


def real(input, name=None):
    """Return real parts."""
    x = _number(input, "Real")
    return ops.clone(ops.real(x)) if x.dtype.is_complex else convert_to_tensor(x)


def imag(input, name=None):
    """Return imaginary parts."""
    x = _number(input, "Imag")
    return ops.clone(ops.imag(x)) if x.dtype.is_complex else ops.zeros_like(x.detach())


def conj(x, name=None):
    """Return the numbers with the imaginary parts' other sign."""
    x = _number(x, "Conj")
    return ops.conj_physical(x) if x.dtype.is_complex else convert_to_tensor(x)


def angle(input, name=None):
    """Return the angles of complex numbers; of real ones 0 or pi."""
    x = take(input)
    if x.dtype not in INEXACT:
        raise refuse_dtype("Angle", x.dtype)
    if x.dtype.is_complex:
        return ops.angle(x)
    return ops.where(ops.lt(x, 0), ops.full_like(x.detach(), math.pi), ops.zeros_like(x.detach()))


def complex(real, imag, name=None):
    """Return complex numbers of two parts."""
    one, other = check_pair(real, imag, "Complex")
    other = take(operand(one, other, "Complex"), None if isinstance(other, _C.Tensor) else one.dtype)
    if one.dtype.name not in ("float32", "float64"):
        raise TypeError(f"The `real` and `imag` components have incorrect types: {one.dtype.name} {other.dtype.name}. "
                        "They must be consistent, and one of float32, float64")
    shape = tuple((one.detach() + other.detach()).shape)
    return ops.complex(ops.broadcast_to(one, shape), ops.broadcast_to(other, shape))


def add_n(inputs, name=None):
    """Return the sum of tensors of one shape and dtype."""
    if isinstance(inputs, _C.Tensor):
        inputs = [inputs]
    if any(is_ragged(item) for item in inputs):
        return functools.reduce(globals()["add"], inputs)
    parts = [take(convert_to_tensor(item)) for item in inputs]
    if not parts:
        raise ValueError(f"tf.math.add_n: expected one tensor at least. Received: inputs={inputs}")
    if any(part.shape != parts[0].shape for part in parts):
        from dragon.vm.shared.errors import invalid_argument
        raise invalid_argument(f"Inputs to operation AddN must have the same size and shape. Received shapes "
                               f"{[tuple(part.shape) for part in parts]} [Op:AddN]")
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """Return the sum of tensors of one shape and dtype."""
    return add_n(inputs)


def polyval(coeffs, x, name=None):
    """Return a polynomial of x: the first coefficient is that of the highest power."""
    if not isinstance(coeffs, (list, tuple)):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = take(x)
    if not coeffs:
        return ops.zeros_like(x)
    total = take(coeffs[0], None if isinstance(coeffs[0], _C.Tensor) else x.dtype)
    for number in coeffs[1:]:
        total = total * x + number
    return total


def is_strictly_increasing(x, name=None):
    """Return whether each element is greater than the one before."""
    x = ops.reshape(take(x), (-1,))
    return ops.all(ops.gt(x[1:], x[:-1]))


def is_non_decreasing(x, name=None):
    """Return whether no element is less than the one before."""
    x = ops.reshape(take(x), (-1,))
    return ops.all(ops.ge(x[1:], x[:-1]))


def zero_fraction(value, name=None):
    """Return which part of the elements is zero."""
    return ops.mean(ops.cast(ops.eq(take(value), 0), as_dtype("float32")))
