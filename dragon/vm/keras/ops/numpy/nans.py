"""Reductions that pass over NaN."""
from dragon.vm.keras.ops.common import (along, as_axes, cast_to, dtype_of, named, ops, publish, result_type, tensor,
                                        total)
from dragon.vm.keras.ops.numpy import reductions


def _is_floating(x):
    return "float" in dtype_of(x) or "complex" in dtype_of(x)


def _extreme(name, sentence, compute, plain, beyond):
    def function(x, axis=None, keepdims=False):
        x, *how = along(tensor(x), axis, keepdims)
        if not _is_floating(x):
            return plain(x, *how)
        nan = ops.isnan(x)
        found = compute(ops.where(nan, beyond, x), *how)
        return ops.where(ops.all(nan, *how), float("nan"), found)
    return publish(function, name, sentence)


nanmax = _extreme("nanmax", "Return the largest element that is no NaN.", ops.amax, reductions.amax, float("-inf"))
nanmin = _extreme("nanmin", "Return the smallest element that is no NaN.", ops.amin, reductions.amin, float("inf"))


def _arg(name, sentence, plain, beyond):
    def function(x, axis=None, keepdims=False):
        x = tensor(x)
        if not _is_floating(x):
            return plain(x, axis, keepdims)
        nan = ops.isnan(x)
        found = plain(ops.where(nan, beyond, x), axis, keepdims)
        return ops.where(ops.all(nan, as_axes(axis), keepdims), -1, found)
    return publish(function, name, sentence)


nanargmax = _arg("nanargmax", "Return the place of the largest element that is no NaN; -1 if all are.",
                 reductions.argmax, float("-inf"))
nanargmin = _arg("nanargmin", "Return the place of the smallest element that is no NaN; -1 if all are.",
                 reductions.argmin, float("inf"))


def _without(x, value):
    """Return numbers with another in the place of NaN."""
    x = tensor(x)
    return ops.where(ops.isnan(x), value, x) if _is_floating(x) else x


def _nansum(x, axis, keepdims):
    return total(ops.sum, _without(x, 0.0), axis, keepdims)


def _nanmean(x, axis, keepdims):
    if not _is_floating(x):
        return ops.mean(cast_to(x, "float32"), axis, keepdims)
    count = ops.sum(cast_to(ops.logical_not(ops.isnan(x)), dtype_of(x)), axis, keepdims)
    return ops.div(_nansum(x, axis, keepdims), count)


def _nanvar(x, axis, keepdims):
    x = cast_to(x, result_type(dtype_of(x), float))
    valid = ops.logical_not(ops.isnan(x))
    centred = ops.where(valid, ops.sub(x, _nanmean(x, axis, True)), 0.0)
    count = ops.sum(cast_to(valid, dtype_of(x)), axis, keepdims)
    return ops.div(ops.sum(ops.square(centred), axis, keepdims), count)


def _reduction(name, sentence, compute):
    def function(x, axis=None, keepdims=False):
        return compute(*along(tensor(x), axis, keepdims))
    return publish(function, name, sentence)


nansum = _reduction("nansum", "Return the sum of elements that are no NaN.", _nansum)
nanmean = _reduction("nanmean", "Return the mean of elements that are no NaN.", _nanmean)
nanvar = _reduction("nanvar", "Return the variance of elements that are no NaN.", _nanvar)
nanstd = _reduction("nanstd", "Return the standard deviation of elements that are no NaN.",
                    lambda *how: ops.sqrt(_nanvar(*how)))
nanprod = _reduction("nanprod", "Return the product of elements that are no NaN.",
                     lambda x, *how: reductions.prod(_without(x, 1.0), *how))


nancumsum = named(lambda x, axis=None, dtype=None: reductions.cumsum(_without(x, 0.0), axis, dtype), "nancumsum",
                  "Return the running sum, NaN counted as 0; the arguments are those of `cumsum`.")
nancumprod = named(lambda x, axis=None, dtype=None: reductions.cumprod(_without(x, 1.0), axis, dtype), "nancumprod",
                   "Return the running product, NaN counted as 1; the arguments are those of `cumsum`.")
