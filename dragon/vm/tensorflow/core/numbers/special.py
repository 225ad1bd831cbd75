"""Functions of physics that the engine has no operator for: sums of its operators, in twice the precision, by pieces.

Where an integral is taken of what falls off like a bell, equally spaced points sum it to the last digit.
"""
import math

import numpy as np

from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.recording.gradient import custom_gradient
from dragon.vm.shared.tensors.operators import FLOATS, refuse_dtype
from dragon.vm.shared.tensors.tensor import ops

GAMMA = 0.57721566490153286  # Euler's constant
NAN, INFINITY = float("nan"), float("inf")


def special(name, node, value, slope, words):
    """Return a function of one tensor of real numbers.

    Parameters
    ----------
    name, node : str
        The function's name, and TensorFlow's of its operator.
    value, slope : Callable
        Of float64: the function, and its derivative, which is given x and the function's value.
    words : str
        What it returns.

    Returns
    -------
    Callable
        The function.

    """
    @custom_gradient
    def run(x):
        wide = ops.cast(x, "float64")
        found = value(wide)

        def grad(upstream):
            return upstream * ops.cast(slope(wide, found), x.dtype)
        return ops.cast(found, x.dtype), grad

    def function(x, name=None):
        x = take(x)
        if x.dtype not in FLOATS:
            raise refuse_dtype(node, x.dtype)
        return run(x)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {words} of real numbers, element by element."
    return function


def _where(condition, x, function, other):
    """Return a function of the numbers for which a condition holds, and other results of the others."""
    safe = ops.where(condition, x, ops.ones_like(x))
    return ops.where(condition, function(safe), other)


def _polynomial(x, factors):
    """Return the polynomial with these factors, the constant one first."""
    made = ops.full_like(x, factors[-1])
    for factor in reversed(factors[:-1]):
        made = made * x + factor
    return made


# --- modified Bessel functions of the second kind

HARMONIC = [sum(1.0 / i for i in range(1, k + 1)) for k in range(16)]
SMALL_0 = [(HARMONIC[k] - GAMMA) / math.factorial(k) ** 2 for k in range(15)]
SMALL_1 = [(HARMONIC[k] + HARMONIC[k + 1] - 2 * GAMMA) / (math.factorial(k) * math.factorial(k + 1)) for k in range(15)]
ORDER_0 = [1.0 / math.factorial(k) ** 2 for k in range(15)]
ORDER_1 = [1.0 / (math.factorial(k) * math.factorial(k + 1)) for k in range(15)]
POINTS = 40


def _small_k0(x):
    quarter = x * x / 4
    return _polynomial(quarter, SMALL_0) - ops.log(x / 2) * _polynomial(quarter, ORDER_0)


def _small_k1(x):
    quarter = x * x / 4
    return 1 / x + x / 2 * (ops.log(x / 2) * _polynomial(quarter, ORDER_1) - _polynomial(quarter, SMALL_1) / 2)


def _large(x, order):
    """Return exp(x) K(x) as the integral of exp(-x (cosh t - 1)) cosh(order t) over t > 0."""
    end = 2 * ops.asinh(ops.sqrt(22.5 / x))  # where the bell is exp(-45)
    total = ops.full_like(x, 0.5)
    for k in range(1, POINTS + 1):
        t = end * (k / POINTS)
        half = ops.sinh(t / 2)
        total = total + ops.exp(-2 * x * half * half) * (ops.cosh(t) if order else 1.0)
    return total * end / POINTS


def _second_kind(small, order, scaled):
    def value(x):
        is_small = ops.logical_and(ops.gt(x, 0), ops.le(x, 2))
        made = _where(is_small, x, lambda x: small(x) * (ops.exp(x) if scaled else 1), ops.full_like(x, NAN))
        is_large = ops.logical_and(ops.gt(x, 2), ops.lt(x, INFINITY))
        made = _where(is_large, x, lambda x: _large(x, order) * (1 if scaled else ops.exp(-x)), made)
        made = ops.where(ops.le(x, 0), ops.full_like(x, INFINITY), made)
        return ops.where(ops.eq(x, INFINITY), ops.zeros_like(x), made)
    return value


_k0, _k0e = _second_kind(_small_k0, 0, False), _second_kind(_small_k0, 0, True)
_k1, _k1e = _second_kind(_small_k1, 1, False), _second_kind(_small_k1, 1, True)
KIND = "the modified Bessel function of the second kind of order"
bessel_k0 = special("bessel_k0", "BesselK0", _k0, lambda x, y: -_k1(x), f"{KIND} 0")
bessel_k0e = special("bessel_k0e", "BesselK0e", _k0e, lambda x, y: y - _k1e(x), f"{KIND} 0, times exp(x),")
bessel_k1 = special("bessel_k1", "BesselK1", _k1, lambda x, y: -_k0(x) - y / x, f"{KIND} 1")
bessel_k1e = special("bessel_k1e", "BesselK1e", _k1e, lambda x, y: y * (1 - 1 / x) - _k0e(x),
                     f"{KIND} 1, times exp(x),")


# --- integrals

EXPONENTIAL = [GAMMA, *(1.0 / (k * math.factorial(k)) for k in range(1, 130))]
ASYMPTOTIC = [float(math.factorial(k)) for k in range(40)]


def _expint(x):
    middle = ops.logical_and(ops.gt(x, 0), ops.le(x, 40))
    made = _where(middle, x, lambda x: _polynomial(x, EXPONENTIAL) + ops.log(x), ops.full_like(x, NAN))
    large = ops.logical_and(ops.gt(x, 40), ops.lt(x, INFINITY))
    made = _where(large, x, lambda x: ops.exp(x) / x * _polynomial(1 / x, ASYMPTOTIC), made)
    return ops.where(ops.eq(x, 0), ops.full_like(x, -INFINITY), made)


STEP, REACH = 0.2, 31
# x (1 - 2/3 x^2 + 4/15 x^4 - ...): each factor is -2 / (2 k + 1) times the one before.
DAWSON = [math.prod(-2.0 / (2 * i + 1) for i in range(1, k + 1)) for k in range(10)]


def _dawsn(x):
    small = ops.lt(ops.abs(x), 0.2)
    # Above this number 1 / (2 x) is right to the last digit.
    huge = ops.gt(ops.abs(x), 1e9)
    middle = ops.logical_and(ops.logical_not(small), ops.logical_not(huge))

    def by_points(x):
        near = 2 * ops.round(x / (2 * STEP))
        rest, total = x - near * STEP, ops.zeros_like(x)
        for odd in range(-REACH, REACH + 1, 2):
            away = rest - odd * STEP
            total = total + ops.exp(-away * away) / (near + odd)
        return total / math.sqrt(math.pi)
    made = _where(small, x, lambda x: x * _polynomial(x * x, DAWSON), ops.full_like(x, NAN))
    return _where(huge, x, lambda x: 0.5 / x, _where(middle, x, by_points, made))


# C and S as powers of x^4, and what falls off around the waves of great numbers.
COSINES = [(-1) ** n * (math.pi / 2) ** (2 * n) / (math.factorial(2 * n) * (4 * n + 1)) for n in range(24)]
SINES = [(-1) ** n * (math.pi / 2) ** (2 * n + 1) / (math.factorial(2 * n + 1) * (4 * n + 3)) for n in range(24)]


def _around(z):
    """Return f and g with C = 1/2 + f sin - g cos and S = 1/2 - f cos - g sin of pi z^2 / 2, of z > 2."""
    step, f, g = 0.2, 0.0, 0.0
    inverse = 1 / (z * z)
    for k in range(30):
        s = step * k
        bell = math.exp(-math.pi * s * s / 2) * (0.5 if k == 0 else 1.0) * step
        share = bell / (1 + s ** 4 * inverse * inverse)
        f, g = f + share, g + s * s * share
    scale = math.sqrt(2) / math.pi
    return scale * f / z, scale * g * inverse / z


def _fresnel(factors, power, far):
    def value(x):
        z = ops.abs(x)
        small = ops.le(z, 2)
        made = _where(small, z, lambda z: z ** power * _polynomial((z * z) * (z * z), factors), ops.full_like(z, NAN))

        def outside(z):
            # Whole turns go first: z^2 / 2 is no small number. Its own rounding is not made up for.
            turn = math.pi * ops.remainder(z * z / 2, 2)
            return 0.5 + far(*_around(z), ops.sin(turn), ops.cos(turn))
        # Above this number the waves are smaller than the last digit.
        made = _where(ops.logical_and(ops.gt(z, 2), ops.lt(z, 1e16)), z, outside, made)
        made = ops.where(ops.ge(z, 1e16), ops.full_like(z, 0.5), made)
        return made * ops.sign(ops.where(ops.isnan(x), ops.ones_like(x), x))
    return value


# Bernoulli's numbers of even order, for Li2(1 - exp(-u)) = u - u^2 / 4 + sum of B u^(n + 1) / (n + 1)!.
BERNOULLI = {2: 1 / 6, 4: -1 / 30, 6: 1 / 42, 8: -1 / 30, 10: 5 / 66, 12: -691 / 2730, 14: 7 / 6, 16: -3617 / 510,
             18: 43867 / 798, 20: -174611 / 330}
DEBYE = [1.0, *(number / math.factorial(order + 1) for order, number in BERNOULLI.items())]


def _spence(x):
    inside = ops.logical_and(ops.gt(x, 0), ops.lt(x, INFINITY))

    def near(x):
        u = -ops.log(x)
        return u * _polynomial(u * u, DEBYE) - u * u / 4

    def regular(x):
        folded = ops.where(ops.gt(x, 1.5), 1 / x, x)  # Li2(1 - x) + Li2(1 - 1/x) is -log(x)^2 / 2
        low = ops.lt(folded, 0.5)
        mirrored = ops.where(low, 1 - folded, folded)
        made = near(mirrored)
        made = ops.where(low, math.pi ** 2 / 6 - ops.log(folded) * ops.log1p(-folded) - made, made)
        logarithm = ops.log(x)
        return ops.where(ops.gt(x, 1.5), -logarithm * logarithm / 2 - made, made)
    made = _where(inside, x, regular, ops.full_like(x, NAN))
    return ops.where(ops.eq(x, 0), ops.full_like(x, math.pi ** 2 / 6), made)


def _spence_slope(x, y):
    return ops.where(ops.eq(x, 1), -ops.ones_like(x), ops.log(x) / (1 - x))


expint = special("expint", "Expint", _expint, lambda x, y: ops.exp(x) / x, "the exponential integral Ei")
dawsn = special("dawsn", "Dawsn", _dawsn, lambda x, y: 1 - 2 * x * y, "Dawson's integral")
fresnel_cos = special("fresnel_cos", "FresnelCos",
                      _fresnel(COSINES, 1, lambda f, g, sine, cosine: f * sine - g * cosine),
                      lambda x, y: ops.cos(math.pi * ops.remainder(x * x / 2, 2)), "Fresnel's integral of the cosine")
fresnel_sin = special("fresnel_sin", "FresnelSin",
                      _fresnel(SINES, 3, lambda f, g, sine, cosine: -f * cosine - g * sine),
                      lambda x, y: ops.sin(math.pi * ops.remainder(x * x / 2, 2)), "Fresnel's integral of the sine")
spence = special("spence", "Spence", _spence, _spence_slope, "Spence's function, Li2(1 - x),")


# --- the incomplete beta function

ROUNDS = 200
GREAT = 3000.0  # where both parameters are greater, the fraction would take more rounds the greater they are
TINY = 1e-290


def _fraction(a, b, x):
    """Return the continued fraction of the incomplete beta function, after Lentz."""
    def away(number):
        return ops.where(ops.lt(ops.abs(number), TINY), ops.full_like(number, TINY), number)
    c = ops.ones_like(x)
    d = 1 / away(1 - (a + b) * x / (a + 1))
    made = d
    for m in range(1, ROUNDS + 1):
        for share in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                      -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / away(1 + share * d)
            c = away(1 + share / c)
            made = made * d * c
    return made


def _integral(a, b, x):
    """Return the same share of the integrand at x by Gauss's points, along the bell's side from x to the left."""
    slope = (a - 1) / x - (b - 1) / (1 - x)
    curve = (a - 1) / (x * x) + (b - 1) / ((1 - x) * (1 - x))
    reach = ops.minimum(90 / (slope + ops.sqrt(slope * slope + 90 * curve)), x)  # where the bell is about exp(-45)
    total = ops.zeros_like(x)
    for point, weight in zip(*np.polynomial.legendre.leggauss(POINTS)):
        away = reach * float(point + 1) / 2
        total = total + float(weight) * ops.exp((a - 1) * ops.log1p(-away / x) + (b - 1) * ops.log1p(away / (1 - x)))
    return total * reach / 2 * a / (x * (1 - x))


def _stirling(a, b, x):
    """Return log(x^a (1 - x)^b / B(a, b)) of great a and b, where logarithms of gamma would cancel each other."""
    def rest(number):
        return (1 / 12 - 1 / (360 * number * number)) / number
    share, other = a / (a + b), b / (a + b)
    away = x - share
    return a * ops.log1p(away / share) + b * ops.log1p(-away / other) + rest(a + b) - rest(a) - rest(b) \
        + (ops.log(a) + ops.log(other) - math.log(2 * math.pi)) / 2


def _betainc(a, b, x):
    great = ops.logical_and(ops.gt(ops.minimum(a, b), GREAT), ops.logical_and(ops.gt(x, 0), ops.lt(x, 1)))
    wide = [ops.where(great, value, ops.full_like(x, other)) for value, other in ((a, GREAT), (b, GREAT), (x, 0.5))]
    logarithm = ops.lgamma(a + b) - ops.lgamma(a) - ops.lgamma(b) + ops.xlogy(a, x) + ops.xlog1py(b, -x)
    logarithm = ops.where(great, _stirling(*wide), logarithm)
    # The fraction goes fast on the side of the mean where x is small; the other side is what is left of one.
    swap = ops.gt(x, (a + 1) / (a + b + 2))
    one, other, point = ops.where(swap, b, a), ops.where(swap, a, b), ops.where(swap, 1 - x, x)
    inside = ops.logical_and(ops.logical_and(ops.gt(x, 0), ops.lt(x, 1)), ops.logical_and(ops.gt(a, 0), ops.gt(b, 0)))
    half = ops.full_like(x, 0.5)
    safe = [ops.where(inside, value, half) for value in (one, other, point)]
    wide = [ops.where(great, value, ops.full_like(x, other)) for value, other in zip(safe, (GREAT, GREAT, 0.5))]
    found = ops.where(great, _integral(*wide), _fraction(*safe))
    part = ops.exp(ops.where(inside, logarithm, ops.zeros_like(x))) * found / safe[0]
    part = ops.minimum(part, ops.ones_like(x))  # of parameters whose sums have no digits left
    made = ops.where(inside, ops.where(swap, 1 - part, part), ops.full_like(x, NAN))
    regular = ops.logical_and(ops.gt(a, 0), ops.gt(b, 0))
    made = ops.where(ops.logical_and(regular, ops.eq(x, 0)), ops.zeros_like(x), made)
    return ops.where(ops.logical_and(regular, ops.eq(x, 1)), ops.ones_like(x), made)


@custom_gradient
def _differentiated(a, b, x):
    dtype = x.dtype
    wide = [ops.cast(value, "float64") for value in (a, b, x)]

    def grad(upstream):
        a, b, x = wide
        slope = ops.exp(ops.lgamma(a + b) - ops.lgamma(a) - ops.lgamma(b) + ops.xlogy(a - 1, x)
                        + ops.xlog1py(b - 1, -x))
        return None, None, upstream * ops.cast(slope, dtype)
    return ops.cast(_betainc(*wide), dtype), grad


def betainc(a, b, x, name=None):
    """Return the regularized incomplete beta function.

    Parameters
    ----------
    a, b : Tensor
        Its parameters, above zero, of which gradients know nothing.
    x : Tensor
        From 0 to 1.

    Returns
    -------
    Tensor
        From 0 to 1.

    """
    x = take(x)
    a, b = (take(value, x.dtype) if not hasattr(value, "dtype") else take(value) for value in (a, b))
    if x.dtype.name not in ("float32", "float64") or a.dtype != x.dtype or b.dtype != x.dtype:
        raise refuse_dtype("Betainc", next((one.dtype for one in (a, b) if one.dtype != x.dtype), x.dtype))
    shapes = {tuple(one.shape) for one in (a, b, x) if len(one.shape)}
    if len(shapes) > 1:
        raise invalid_argument(f"Shapes of a, b and x are inconsistent: {sorted(shapes)} [Op:Betainc]")
    shape = shapes.pop() if shapes else ()
    return _differentiated(*(ops.broadcast_to(one, shape) for one in (a, b, x)))
