"""Pictures with noise on them."""
import numpy as np

from dragon.vm.dali.core.operators.random import generator
from dragon.vm.dali.core.operators.values import convert, number
from dragon.vm.dali.core.schema import operator


@operator("noise.gaussian")
def gaussian(data, *, mean=0.0, stddev=1.0, seed=None, context):
    """Add normally distributed numbers."""
    made = generator(context).normal(number(mean), number(stddev), data.shape)
    return convert((data + made).astype(np.float32), data.dtype)


@operator("noise.shot")
def shot(data, *, factor=20.0, seed=None, context):
    """Draw each value from a Poisson distribution about it, as counted light has."""
    scale = number(factor)
    if scale == 0:
        return data
    made = generator(context).poisson(np.maximum(data.astype(np.float64) / scale, 0)) * scale
    return convert(made.astype(np.float32), data.dtype)


@operator("noise.salt_and_pepper")
def salt_and_pepper(data, *, prob=0.05, salt_vs_pepper=0.5, salt_val=None, pepper_val=None, per_channel=False,
                    seed=None, context):
    """Replace some values by the greatest and the least that there are."""
    draws = generator(context)
    channel = context.layout.find("C") if "C" in context.layout else None
    shape = list(data.shape)
    if channel is not None and not per_channel:
        shape[channel] = 1
    hit, salt = draws.random(shape) < number(prob), draws.random(shape) < number(salt_vs_pepper)
    if data.dtype.kind == "f":
        low, high = -1, 1
    else:
        low, high = np.iinfo(data.dtype).min, np.iinfo(data.dtype).max
    high = high if salt_val is None else number(salt_val)
    low = low if pepper_val is None else number(pepper_val)
    return np.where(hit, np.where(salt, data.dtype.type(high), data.dtype.type(low)), data)
