"""Images of other sizes: the ways of reading between pixels."""
import functools

from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops

MODES = {"bilinear": "triangle", "nearest": "nearest-center", "bicubic": "keys", "area": "coverage",
         "lanczos3": "lanczos3", "lanczos5": "lanczos5", "gaussian": "gaussian", "mitchellcubic": "mitchell"}
METHODS = tuple(MODES)
RESAMPLED = ("uint8", "float16", "bfloat16", "float32", "float64")


@functools.lru_cache(maxsize=64)
def _nearest(size, wanted):
    import numpy as np
    scale = np.float32(size / wanted)
    places = np.floor((np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * scale)
    return convert_to_tensor(np.minimum(places, size - 1).astype(np.int64))


def resize_batch(x, height, width, method, antialias=False):
    """Return pictures (batch, height, width, channels) in another size."""
    if method == "nearest" and x.dtype.name not in RESAMPLED:
        for axis, wanted in ((1, height), (2, width)):
            size = x.shape[axis]
            x = ops.index_select(x, axis, _nearest(size, wanted)) if size != wanted else x
        return x
    x = x if method == "nearest" or x.dtype is float32 else ops.cast(x, float32)
    mode = "bilinear" if method == "bilinear" and not antialias else MODES[method]
    made = ops.resample(ops.permuted(x, [0, 3, 1, 2]), [height, width], [0.0, 0.0], mode=mode, antialias=antialias)
    return ops.permuted(made, [0, 2, 3, 1])
