"""Windows: each a formula of numbers that are evenly spaced."""
import functools
import math

from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.functions.creation import default_dtype, finish
from dragon.vm.torch.core.layout import strided
from dragon.vm.torch.core.tensor import ops


def window(formula):
    """Return a window of a formula, which is called with an even spacing, the number of elements and of steps.

    Parameters
    ----------
    formula : Callable
        Called as (spaced, M, steps, **parameters); `spaced(start, stop)` makes M numbers.

    Returns
    -------
    Callable
        A function of M, the formula's own parameters and the options of a new tensor.

    """
    name = formula.__name__

    @functools.wraps(formula)
    def make(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, **parameters):
        dtype = dtype or default_dtype()
        if M < 0:
            raise ValueError(f"{name}: got M {M}, expected no negative number")
        if layout is not strided:
            raise ValueError(f"{name}: got layout={layout}, expected torch.strided")
        if getattr(dtype, "name", None) not in ("float32", "float64"):
            raise ValueError(f"{name}: got {dtype}, expected torch.float32 or torch.float64")
        where = as_device(device)

        def spaced(start, stop):
            return ops.linspace(start, stop, M, dtype=dtype, device=where)
        if M == 0:
            return ops.empty((0,), dtype=dtype, device=where)
        made = formula(spaced, M, M if not sym and M > 1 else M - 1, sym=sym, **parameters)
        return finish(ops.ones((1,), dtype=dtype, device=where) if made is None else made, requires_grad)
    del make.__wrapped__
    return make


@window
def exponential(spaced, M, steps, *, sym, center=None, tau=1.0):
    """Return `exp(-|n - center| / tau)`."""
    if tau <= 0:
        raise ValueError(f"exponential: got tau {tau}, expected a positive number")
    if sym and center is not None:
        raise ValueError("exponential: got center with sym=True, expected None")
    center = steps / 2 if center is None else center
    return ops.exp(-ops.abs(spaced(-center / tau, (-center + M - 1) / tau)))


@window
def cosine(spaced, M, steps, *, sym):
    """Return half a period of a sine."""
    scale = math.pi / (M + 1 if not sym and M > 1 else M)
    return ops.sin(spaced(0.5 * scale, (0.5 + M - 1) * scale))


@window
def gaussian(spaced, M, steps, *, sym, std=1.0):
    """Return a bell curve of a standard deviation."""
    if std <= 0:
        raise ValueError(f"gaussian: got std {std}, expected a positive number")
    scale = 1 / (std * math.sqrt(2))
    return ops.exp(-ops.square(spaced(-steps / 2 * scale, (-steps / 2 + M - 1) * scale)))


@window
def kaiser(spaced, M, steps, *, sym, beta=12.0):
    """Return Bessel functions of a half circle, `beta` wide."""
    if beta < 0:
        raise ValueError(f"kaiser: got beta {beta}, expected no negative number")
    if M == 1:
        return None
    # Rounding must not take the last step beyond beta.
    circle = spaced(-beta, min(beta, -beta + (M - 1) * (2.0 * beta / steps)))
    heights = ops.i0(ops.sqrt(ops.clamp(beta * beta - ops.square(circle), 0)))
    return heights / ops.i0(ops.full_like(heights, beta))


@window
def bartlett(spaced, M, steps, *, sym):
    """Return a triangle."""
    return None if M == 1 else 1 - ops.abs(spaced(-1, -1 + (M - 1) * (2 / steps)))


@window
def general_cosine(spaced, M, steps, *, sym, a):
    """Return a sum of cosines, the factors of which alternate in sign."""
    if not hasattr(a, "__iter__"):
        raise TypeError(f"general_cosine: got a {a!r}, expected a sequence of numbers")
    if not a:
        raise ValueError("general_cosine: got no numbers in a, expected at least one")
    return None if M == 1 else sum_of_cosines(spaced, M, steps, a)


def sum_of_cosines(spaced, M, steps, factors):
    """Return sum_k (-1)^k a_k cos(k x) over one period of x."""
    x = spaced(0, (M - 1) * (2 * math.pi / steps))
    terms = [factor * (-1) ** index * ops.cos(index * x) for index, factor in enumerate(factors)]
    return functools.reduce(ops.add, terms)


@window
def general_hamming(spaced, M, steps, *, sym, alpha=0.54):
    """Return `alpha - (1 - alpha) * cos(x)`."""
    return None if M == 1 else sum_of_cosines(spaced, M, steps, (alpha, 1.0 - alpha))


@window
def hamming(spaced, M, steps, *, sym):
    """Return `0.54 - 0.46 * cos(x)`."""
    return None if M == 1 else sum_of_cosines(spaced, M, steps, (0.54, 1.0 - 0.54))


@window
def hann(spaced, M, steps, *, sym):
    """Return `(1 - cos(x)) / 2`."""
    return None if M == 1 else sum_of_cosines(spaced, M, steps, (0.5, 0.5))


@window
def blackman(spaced, M, steps, *, sym):
    """Return the three cosines of Blackman."""
    return None if M == 1 else sum_of_cosines(spaced, M, steps, (0.42, 0.5, 0.08))


@window
def nuttall(spaced, M, steps, *, sym):
    """Return the four cosines of Nuttall."""
    return None if M == 1 else sum_of_cosines(spaced, M, steps, (0.3635819, 0.4891775, 0.1365995, 0.0106411))
