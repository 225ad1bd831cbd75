"""Images of other sizes: ways of reading between pixels, each as a matrix for an axis."""
import functools

from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops

METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
FEW = 16  # channels
TABLE = 1024  # steps between two pixels that cubic kernels know


def _cubic(x, a=-0.5):
    import numpy as np
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _mitchell(x):
    import numpy as np
    near = (7 * x - 12) * x * x / 6 + 16 / 18
    far = (((-7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _lanczos(radius, x):
    import numpy as np
    return np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0.0)


def _gaussian(x):
    import numpy as np
    return np.where(x < 1.5, np.exp(-2.0 * x * x), 0.0)


def _triangle(x):
    import numpy as np
    return np.maximum(0.0, 1.0 - x)


KERNELS = {"bilinear": _triangle, "bicubic": _cubic, "mitchellcubic": _mitchell, "gaussian": _gaussian,
           "lanczos3": functools.partial(_lanczos, 3.0), "lanczos5": functools.partial(_lanczos, 5.0)}


def _by_kernel(size, wanted, method, antialias):
    """Return the matrix of a kernel that is widened where the picture shrinks."""
    import numpy as np
    # In TensorFlow's single precision, which decides what is just within a kernel's reach.
    one, half = np.float32(1), np.float32(0.5)
    scale = one / (np.float32(wanted) / np.float32(size))
    wide = max(scale, one) if antialias else one
    centers, pixels = ((np.arange(count, dtype=np.float32) + half) for count in (wanted, size))
    weights = KERNELS[method](np.abs(pixels[None, :] - (centers * scale)[:, None]) * (one / wide)).astype(float)
    return weights / weights.sum(1, keepdims=True)


def _bicubic(size, wanted):
    import numpy as np
    places = (np.arange(wanted) + 0.5) * (size / wanted) - 0.5
    low = np.floor(places)
    part, rows = np.rint((places - low) * TABLE) / TABLE, np.arange(wanted)
    weights = np.zeros((wanted, size))
    for step in (-1, 0, 1, 2):
        at = low.astype(int) + step
        inside = (at >= 0) & (at < size)
        weights[rows[inside], at[inside]] += _cubic(np.abs(step - part))[inside]
    return weights / weights.sum(1, keepdims=True)


def _area(size, wanted):
    import numpy as np
    scale = size / wanted
    begin, pixels = np.arange(wanted)[:, None] * scale, np.arange(size)[None, :]
    covered = np.minimum(begin + scale, pixels + 1) - np.maximum(begin, pixels)
    return np.maximum(covered, 0) / scale


@functools.lru_cache(maxsize=64)
def _weights(size, wanted, method, antialias):
    import numpy as np
    if method == "area":
        made = _area(size, wanted)
    elif method == "bicubic" and not antialias:
        made = _bicubic(size, wanted)
    else:
        made = _by_kernel(size, wanted, method, antialias)
    return convert_to_tensor(made.astype(np.float32))


@functools.lru_cache(maxsize=64)
def _nearest(size, wanted):
    import numpy as np
    scale = np.float32(size / wanted)
    places = np.floor((np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * scale)
    return convert_to_tensor(np.minimum(places, size - 1).astype(np.int64))


def resize_batch(x, height, width, method, antialias=False):
    """Return pictures (batch, height, width, channels) in another size."""
    count, rows, columns, channels = x.shape
    if method == "nearest":
        for axis, size, wanted in ((1, rows, height), (2, columns, width)):
            x = ops.index_select(x, axis, _nearest(size, wanted)) if size != wanted else x
        return x
    x = ops.cast(x, float32) if x.dtype is not float32 else x
    if method == "bilinear" and not antialias:
        made = ops.interpolate(ops.permute(x, [0, 3, 1, 2]), [height, width], mode="bilinear", align_corners=False)
        return ops.permute(made, [0, 2, 3, 1])
    x = ops.matmul(_weights(rows, height, method, antialias), ops.reshape(x, (count, rows, columns * channels)))
    x, across = ops.reshape(x, (count, height, columns, channels)), _weights(columns, width, method, antialias)
    if channels >= FEW:
        return ops.matmul(across, x)
    # Products with so few columns are slow: the channels stand aside.
    x = ops.reshape(ops.permute(x, [0, 1, 3, 2]), (count * height * channels, columns))
    x = ops.matmul(x, ops.permute(across, [1, 0]))
    return ops.permute(ops.reshape(x, (count, height, channels, width)), [0, 1, 3, 2])
