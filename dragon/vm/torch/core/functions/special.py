"""Special functions that the engine composes here: orthogonal polynomials, Airy's and the modified Bessel functions."""
import math

from dragon.vm.torch._api import functions_at
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions import logarithms
from dragon.vm.torch.core.functions.creation import default_dtype
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops

DOUBLE = OBJECTS["float64"]


def in_dtype(made, dtype, out):
    """Return a result in its dtype, or write it where it is wanted."""
    return deliver(made if made.dtype == dtype else ops.cast(made, dtype), out)


def as_tensor(value, like):
    """Return a number as a tensor without axes."""
    dtype = default_dtype() if isinstance(value, float) else OBJECTS["int64"]
    return ops.full((), value, dtype=dtype, device=like.device)


def floats(*tensors):
    """Return tensors in the floating dtype that they promote to."""
    total = tensors[0] if len(tensors) == 1 else ops.add(*(ops.zeros((1,) * x.ndim, dtype=x.dtype) for x in tensors))
    dtype = total.dtype if total.dtype.is_floating_point else default_dtype()
    return [x if x.dtype == dtype else ops.cast(x, dtype) for x in tensors], dtype


def angles(y, n, kind):
    """Return Chebyshev polynomials inside (-1, 1) by trigonometry, exact where a recurrence would round."""
    theta = ops.acos(y)
    if kind == "t":
        return ops.cos(n * theta)
    if kind == "u":
        return ops.sin((n + 1) * theta) / ops.sin(theta)
    if kind == "v":
        return ops.cos((n + 0.5) * theta) / ops.cos(theta / 2)
    return ops.sin((n + 0.5) * theta) / ops.sin(theta / 2)


# Beyond this degree Chebyshev polynomials come from their closed forms outside (-1, 1) too: a recurrence takes a step
# for each degree.
MOST_STEPS = 512


def beyond(y, n, kind):
    """Return Chebyshev polynomials where |y| is at least 1, by the hyperbolic cosine of degree times inverse."""
    x = ops.cast(y, DOUBLE)
    degree = ops.cast(n, DOUBLE) if isinstance(n, Tensor) else float(n)
    is_negative, size = x < 0, ops.abs(x)
    theta = ops.acosh(ops.clamp(size, 1.0))
    at_one = size == 1
    safe = ops.where(at_one, ops.ones_like(theta), theta)
    if kind == "t":
        made = ops.cosh(theta * degree)
    elif kind == "u":
        made = ops.where(at_one, degree + 1, ops.sinh(safe * (degree + 1)) / ops.sinh(safe))
    else:  # each is the other's mirror image
        even = ops.cosh(theta * (degree + 0.5)) / ops.cosh(theta / 2)
        odd = ops.where(at_one, degree * 2 + 1, ops.sinh(safe * (degree + 0.5)) / ops.sinh(safe / 2))
        made = ops.where(is_negative, odd, even) if kind == "v" else ops.where(is_negative, even, odd)
    is_odd = ops.eq(ops.remainder(degree, 2), 1) if isinstance(n, Tensor) else bool(n % 2)
    made = ops.where(ops.logical_and(is_negative, is_odd), -made, made)
    # What overflows ends as infinity minus infinity in the recurrence.
    return ops.cast(ops.where(ops.isinf(made), ops.full_like(made, math.nan), made), y.dtype)


# Degrees above which trigonometry takes over, as in PyTorch, for Chebyshev polynomials and for shifted ones.
TRIGONOMETRIC = {"t": (6, 6), "u": (8, 6), "v": (8, 6), "w": (8, 4)}
# The polynomials of degree one.
FIRST = {"t": lambda x: x, "u": lambda x: x + x, "v": lambda x: x + x - 1, "w": lambda x: x + x + 1,
         "hermite_h": lambda x: x + x, "hermite_he": lambda x: x, "laguerre": lambda x: 1 - x, "legendre": lambda x: x}


def following(kind, x, k, p, q):
    """Return the polynomial of degree k + 1 from those of degrees k - 1 and k."""
    if kind == "hermite_h":
        return (x + x) * q - 2 * k * p
    if kind == "hermite_he":
        return x * q - k * p
    if kind == "laguerre":
        return ((k + k + (1 - x)) * q - k * p) / (k + 1)
    if kind == "legendre":
        return ((k + k + 1) * x * q - k * p) / (k + 1)
    return (x + x) * q - p


# The highest degree that a recurrence goes up to, a step for each.
MOST_DEGREE = 65536


def by_recurrence(kind, x, n):
    """Return polynomials of each degree in `n`, a number or a tensor of numbers."""
    one, first = ops.ones_like(x), FIRST[kind](x)
    most = n if not isinstance(n, Tensor) else int(ops.max(n).item()) if n.numel() else 0
    if most > MOST_DEGREE:
        raise NotImplementedError(f"{kind} polynomial: got degree {most}, expected at most {MOST_DEGREE}")
    if not isinstance(n, Tensor):
        p, q = one, first
        for k in range(1, n):
            p, q = q, following(kind, x, k, p, q)
        return ops.zeros_like(x) if n < 0 else one if n == 0 else q
    made = ops.where(n == 0, one, ops.where(n == 1, first, ops.zeros_like(x)))
    p, q = one, first
    for k in range(1, most):
        p, q = q, following(kind, x, k, p, q)
        made = ops.where(n == k + 1, q, made)
    return made


# Hermite polynomials beyond these degrees are not a number, as they would overflow.
HERMITE_LIMITS = {"float32": 128, "float64": 512}


def polynomial(kind, x, n, shifted, out):
    """Return an orthogonal polynomial of degree `n`, elementwise."""
    if not isinstance(x, Tensor):
        if not isinstance(n, Tensor):
            raise TypeError(f"polynomial: got {x!r} and {n!r}, expected at least one tensor")
        x = as_tensor(x, n)
    if isinstance(n, Tensor):
        (x, degrees), dtype = floats(x, n)
        # No degree at all counts as a negative one, as in PyTorch.
        n = ops.trunc(ops.where(ops.isfinite(degrees), degrees, ops.full_like(degrees, -1)))
    else:
        (x,), dtype = floats(x)
        n = int(n) if math.isfinite(n) else -1
    y = x + x - 1 if shifted else x
    if kind in TRIGONOMETRIC:
        least = TRIGONOMETRIC[kind][shifted]
        if isinstance(n, Tensor):
            inside = ops.logical_and(n > least, ops.abs(y) < 1)
            far = ops.logical_and(n > MOST_STEPS, ops.logical_not(inside))
            slow = ops.where(ops.logical_or(inside, far), ops.zeros_like(n), n)
            made = ops.where(inside, angles(y, n, kind), by_recurrence(kind, y, slow))
            made = ops.where(far, beyond(y, n, kind), made)
        elif n > least:
            inside = ops.abs(y) < 1
            made = angles(y, n, kind)
            if not bool(ops.all(inside)):
                made = ops.where(inside, made, beyond(y, n, kind) if n > MOST_STEPS else by_recurrence(kind, y, n))
        else:
            made = by_recurrence(kind, y, n)
        return in_dtype(made, dtype, out)
    limit = HERMITE_LIMITS.get(dtype.name, 128) if kind.startswith("hermite") else math.inf
    if isinstance(n, Tensor):
        made = by_recurrence(kind, y, ops.clamp(n, None, limit) if limit < math.inf else n)
        made = ops.where(n > limit, ops.full_like(made, math.nan), made) if limit < math.inf else made
    else:
        made = ops.full_like(y, math.nan) if n > limit else by_recurrence(kind, y, n)
    return in_dtype(made, dtype, out)


def _polynomial(name, kind, shifted=False):
    def of_degree(x, n, *, out=None):
        return polynomial(kind, x, n, shifted, out)
    return overridable(named(of_degree, name, f"Return the {name.replace('_', ' ')} of degree `n`."))


POLYNOMIALS = {name: _polynomial(name, kind) for name, kind in (
    ("hermite_polynomial_h", "hermite_h"), ("hermite_polynomial_he", "hermite_he"),
    ("laguerre_polynomial_l", "laguerre"), ("legendre_polynomial_p", "legendre"))}
for _kind in "tuvw":
    for _prefix in ("", "shifted_"):
        _name = f"{_prefix}chebyshev_polynomial_{_kind}"
        POLYNOMIALS[_name] = _polynomial(_name, _kind, bool(_prefix))

EULER = 0.57721566490153286060651209008240243


def bessel_k_small(x, order):
    """Return K0 or K1 of numbers up to 2, by their power series around zero (DLMF 10.31)."""
    square = ops.square(x) / 4
    logarithm = ops.log(x / 2)
    total, power, harmonic = 0, ops.ones_like(x), 0.0
    for k in range(16):
        if order == 0:
            total = total + power * harmonic
            power = power * square / (k + 1) ** 2
            harmonic += 1 / (k + 1)
        else:
            total = total + power * (2 * (harmonic - EULER) + 1 / (k + 1))
            power = power * square / ((k + 1) * (k + 2))
            harmonic += 1 / (k + 1)
    if order == 0:
        return total - (logarithm + EULER) * ops.i0(x)
    return 1 / x + logarithm * ops.i1(x) - x / 4 * total


def bessel_k_large(x, order):
    """Return exp(x) K(x) of numbers from 2: the trapezoidal rule on DLMF 10.32.9 converges as fast as the digits."""
    root, step, total = ops.sqrt(x), 0.25, 0.5
    for place in range(1, 38):
        t = step * place / root
        term = ops.exp(-2 * x * ops.square(ops.sinh(t / 2)))
        total = total + (term if order == 0 else term * ops.cosh(t))
    return total * step / root


def _bessel_k(name, order, scaled):
    def function(x, out):
        (x,), dtype = floats(x)
        fine = ops.cast(x, DOUBLE)
        is_small = fine <= 2
        small = bessel_k_small(ops.where(is_small, fine, ops.ones_like(fine)), order)
        large = bessel_k_large(ops.where(is_small, ops.full_like(fine, 2.0), fine), order)
        growth = ops.exp(fine)
        made = ops.where(is_small, small * growth if scaled else small, large if scaled else large / growth)
        made = ops.where(fine == 0, ops.full_like(fine, math.inf), made)
        # At infinity both factors lose their meaning; the limit is zero.
        made = ops.where(ops.isposinf(fine), ops.zeros_like(fine), made)
        return in_dtype(made, dtype, out)
    if scaled:
        def bessel_k(x, *, out=None):
            return function(x, out)
    else:
        def bessel_k(input, *, out=None):
            return function(input, out)
    bessel_k.__name__ = bessel_k.__qualname__ = name
    bessel_k.__doc__ = f"Return the modified Bessel function of the second kind of order {order}" + (
        ", times exp(x)." if scaled else ".")
    return overridable(bessel_k)


BESSEL = {f"{prefix}modified_bessel_k{order}": _bessel_k(f"{prefix}modified_bessel_k{order}", order, bool(prefix))
          for prefix in ("", "scaled_") for order in (0, 1)}


def airy_integral(x):
    """Return Ai(x) from -8: the trapezoidal rule along a line through the saddle point (DLMF 9.5.4, shifted)."""
    height = ops.sqrt(ops.clamp(x, 1.0))
    step, total = 1 / 16, 0.5 * ops.ones_like(x)
    for place in range(1, 104):
        s = step * place
        total = total + ops.exp(-height * s ** 2) * ops.cos(s ** 3 / 3 + s * (x - ops.square(height)))
    return ops.exp(height * (ops.square(height) / 3 - x)) * total * (step / math.pi)


def airy_waves(z):
    """Return Ai(-z) of large numbers, by its asymptotic series (DLMF 9.7.9)."""
    zeta = z * ops.sqrt(z) * (2 / 3)
    even, odd, term = 0, 0, ops.ones_like(z)
    for k in range(12):
        sign = (-1) ** (k // 2)
        even, odd = (even + sign * term, odd) if k % 2 == 0 else (even, odd + sign * term)
        term = term * ((6 * k + 5) * (6 * k + 3) * (6 * k + 1) / (216 * (k + 1) * (2 * k + 1))) / zeta
    phase = zeta + math.pi / 4
    return (ops.sin(phase) * even - ops.cos(phase) * odd) / (math.sqrt(math.pi) * ops.sqrt(ops.sqrt(z)))


@overridable
def airy_ai(x, *, out=None):
    """Return Airy's function Ai."""
    (x,), dtype = floats(x)
    fine = ops.cast(x, DOUBLE)
    is_far = fine < -8
    near = airy_integral(ops.clamp(ops.where(is_far, ops.zeros_like(fine), fine), None, 120.0))
    far = airy_waves(ops.where(is_far, -fine, ops.full_like(fine, 8.0)))
    made = ops.where(ops.isinf(fine), ops.full_like(fine, math.nan), ops.where(is_far, far, near))
    return in_dtype(made, dtype, out)


def _bessel(name, kind):
    operator = getattr(ops, name)

    def bessel(input, *, out=None):
        (x,), dtype = floats(input)
        # The limit is zero, but PyTorch says that there is none.
        return in_dtype(ops.where(ops.isinf(x), ops.full_like(x, math.nan), operator(x)), dtype, out)
    return overridable(named(bessel, name, f"Return the Bessel function of the {kind} kind of order {name[-1]}."))


@overridable
def multigammaln(input, p, *, out=None):
    """Return the logarithm of the multivariate gamma function of dimension `p`."""
    if p < 1:
        raise RuntimeError(f"multigammaln: got p {p}, expected at least 1")
    if p > MOST_DEGREE:
        raise NotImplementedError(f"multigammaln: got p {p}, expected at most {MOST_DEGREE}")
    (input,), dtype = floats(input)
    total = p * (p - 1) * math.log(math.pi) / 4
    for j in range(p):
        total = ops.lgamma(input - j / 2) + total
    return in_dtype(total, dtype, out)


NAMESPACE = dict(functions_at("special", ops), logsumexp=logarithms.logsumexp)
NAMESPACE.update(POLYNOMIALS, **BESSEL, airy_ai=airy_ai, multigammaln=multigammaln)
NAMESPACE.update({name: _bessel(name, kind) for name, kind in (
    ("bessel_j0", "first"), ("bessel_j1", "first"), ("bessel_y0", "second"), ("bessel_y1", "second"))})
