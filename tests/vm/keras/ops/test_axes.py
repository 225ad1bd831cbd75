"""Which axes are reduced: none for an empty list, all for None; axes that are not there, or twice, are refused."""
import numpy as np
import pytest

import dragon.vm.keras as mine
from harness import genuine
from harness.subresults import each

REDUCTIONS = ("all any sum mean prod max min var std amax amin ptp count_nonzero logsumexp average median nansum "
              "nanmean nanmax nanmin nanprod nanvar nanstd nanmedian norm quantile percentile nanquantile "
              "nanpercentile moments normalize").split()
WITHOUT_KEEPDIMS = ("count_nonzero", "average", "normalize")
MORE = {"quantile": (0.25,), "percentile": (25.0,), "nanquantile": (0.25,), "nanpercentile": (25.0,)}
AXES = ((), [], 0, -1, (1,), [0, -1], (0, 1, 2), True, np.int64(1), (np.int64(0), 2))
WRONG = ((0, 0), (0, -3), 3, -4, (1, 7), 2**64, -2**70, 1.5, "a", (None,), [[0], [1, 2]], {"a": 1})
REFUSALS = (ValueError, TypeError, IndexError, OverflowError)
X = np.random.default_rng(7).standard_normal((2, 3, 4)).astype("float32")


def reduced(keras, name, x, axis, **more):
    """Return the results of a reduction as arrays."""
    found = getattr(keras.ops, name)(x, *MORE.get(name, ()), axis, **more) if name == "moments" else (
        getattr(keras.ops, name)(x, *MORE.get(name, ()), axis=axis, **more))
    return [np.asarray(item) for item in (found if isinstance(found, tuple) else (found,))]


# Genuine Keras hands integers back as they are where it has no axis to reduce by a mean, and has no moments of them.
FLOATING = ("nanmean", "nanmedian", "moments")
CASES = [(name, dtype) for name in REDUCTIONS for dtype in ("float32", "int32")
         if dtype == "float32" or name not in FLOATING]


@each("name, dtype", CASES)
@pytest.mark.long("every function with axes is called by genuine Keras as well")
def test_axes_as_told(name, dtype):
    compared = 0
    for axis in AXES:
        for more in ({},) if name in WITHOUT_KEEPDIMS else ({}, {"keepdims": True}):
            try:
                wanted = reduced(genuine.keras, name, X.astype(dtype), axis, **more)
            except Exception:  # noqa: B902: what genuine Keras does not take in this way
                continue
            found = reduced(mine, name, X.astype(dtype), axis, **more)
            for own, other in zip(found, wanted, strict=True):
                assert own.shape == other.shape and own.dtype == other.dtype, (axis, more, own.dtype, other.dtype)
                np.testing.assert_allclose(own.astype("float64"), other.astype("float64"), 1e-5, 1e-6, str(axis))
            compared += 1
    assert compared or dtype != "float32"


@each("name", REDUCTIONS)
def test_wrong_axes(name):
    for axis in WRONG:
        with pytest.raises((*REFUSALS, genuine.tf.errors.OpError)):
            reduced(genuine.keras, name, X, axis)
        with pytest.raises(REFUSALS):
            reduced(mine, name, X, axis)
