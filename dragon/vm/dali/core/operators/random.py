"""Random numbers: of each sample, the same for the same seed whoever draws them."""
import numpy as np

from dragon.vm.dali.core.kinds import to_numpy_type
from dragon.vm.dali.core.operators.values import convert, number, vector
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator


def generator(context):
    """Return NumPy's generator of a sample."""
    return np.random.Generator(np.random.PCG64(context.draws.bits()))


def _shape(like, shape):
    if shape is not None:
        return tuple(int(one) for one in np.ravel(shape))
    return () if like is None else like.shape


def _laid(array, dtype, default):
    return Laid(convert(np.asarray(array), np.dtype(to_numpy_type(default if dtype is None else dtype))), "")


@operator("random.uniform")
def uniform(like=None, *, range=(-1.0, 1.0), values=None, shape=None, dtype=None, seed=None, context):
    """Draw numbers from a range, its end left out, or from some values."""
    shape = _shape(like, shape)
    if values is not None:
        return _laid(generator(context).choice(vector(values).astype(np.float32), shape), dtype, 9)
    low, high = vector(range, 2, "fn.random.uniform(range=)")
    if low > high:
        raise RuntimeError(got("fn.random.uniform", f"range=({low}, {high})", "a rising pair"))
    # One number alone needs no generator of NumPy's, which takes longer to make than to ask.
    part = generator(context).random(shape) if shape else context.draws.uniform()
    made = part * (high - low) + low
    made = np.asarray(made, np.float32)
    made = np.minimum(made, np.nextafter(np.float32(high), np.float32(low))) if high > low else made
    return _laid(made, dtype, 9)


@operator("random.normal")
def normal(like=None, *, mean=0.0, stddev=1.0, shape=None, dtype=None, seed=None, context):
    """Draw normally distributed numbers."""
    shape, middle, spread = _shape(like, shape), number(mean), number(stddev)
    made = generator(context).normal(middle, spread, shape) if shape else context.draws.normal(middle, spread)
    return _laid(np.asarray(made, np.float32), dtype, 9)


@operator("random.coin_flip")
def coin_flip(like=None, *, probability=0.5, shape=None, dtype=None, seed=None, context):
    """Draw ones with some probability, else zeros."""
    chance = number(probability)
    if not 0 <= chance <= 1:
        raise RuntimeError(got("fn.random.coin_flip", f"probability={chance}", "0 to 1"))
    shape = _shape(like, shape)
    part = generator(context).random(shape) if shape else context.draws.uniform()
    return _laid(np.asarray(part < chance, np.int32), dtype, 6)


@operator("random.beta")
def beta(like=None, *, alpha=1.0, beta=1.0, shape=None, dtype=None, seed=None, context):
    """Draw numbers between 0 and 1 from a beta distribution."""
    made = generator(context).beta(number(alpha), number(beta), _shape(like, shape))
    return _laid(np.asarray(made, np.float32), dtype, 9)


@operator("random.choice")
def choice(among, like=None, *, p=None, shape=None, dtype=None, seed=None, context):
    """Draw from a list, or from the numbers below one."""
    draws, shape = generator(context), _shape(like, shape)
    count = int(among) if among.ndim == 0 else len(among)
    chances = None
    if p is not None:
        chances = vector(p)
        if len(chances) != count:
            raise RuntimeError(got("fn.random.choice", f"{len(chances)} probabilities for {count} choices", "one each"))
        if abs(chances.sum() - 1) > 1e-3:
            raise RuntimeError(got("fn.random.choice", f"probabilities of sum {chances.sum()}", "1"))
        chances = chances / chances.sum()
    places = draws.choice(count, shape, p=chances)
    if among.ndim == 0:
        kind = np.int64 if among.dtype == np.int64 else among.dtype
        return Laid(convert(np.asarray(places, np.int64), np.dtype(to_numpy_type(dtype)) if dtype is not None
                            else np.dtype(kind)), "")
    return Laid(among[places] if dtype is None else convert(among[places], dtype), "")
