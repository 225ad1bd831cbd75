"""The similarity of pictures."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.images.similarity import find_similarities
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.image.framing import convert_image_dtype

SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _pair(a, b, limit):
    """Return two pictures as floats, and the greatest number that is possible."""
    a, b = take(a), take(b)
    if a.ndim < 3 or b.ndim < 3 or tuple(a.shape[-3:]) != tuple(b.shape[-3:]):
        raise ValueError(f"Expected pictures of one shape. Received shapes {a.shape} and {b.shape}")
    limit = convert_image_dtype(convert_to_tensor(limit, a.dtype), float32)
    return convert_image_dtype(a, float32), convert_image_dtype(b, float32), limit


def psnr(a, b, max_val, name=None):
    """Return the ratio of the greatest number to the difference of pictures, in decibels."""
    if (take(a).ndim < 3 or take(b).ndim < 3
            or any(size != other and 1 not in (size, other) for size, other in zip(a.shape[-3:], b.shape[-3:]))):
        raise invalid_argument(f"psnr: expected pictures of one shape. Received shapes {take(a).shape} and "
                               f"{take(b).shape}")
    a, b, limit = _pair(a, b, max_val)
    error = ops.mean(ops.square(a - b), [-3, -2, -1])
    return 20.0 * ops.log10(limit) - 10.0 * ops.log10(error)


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """Return the structural similarity of pictures.

    Parameters
    ----------
    img1, img2 : Tensor
        (..., height, width, channels).
    max_val : float
        The greatest number that is possible.
    filter_size : int, optional, default=11
        The width of windows.
    filter_sigma : float, optional, default=1.5
        The width of the bell within them.
    k1, k2 : float, optional
        What keeps quotients defined.
    return_index_map : bool, optional, default=False
        Whether similarities of windows are returned.

    Returns
    -------
    Tensor
        One number for each picture.

    """
    a, b, limit = _pair(img1, img2, max_val)
    found, _ = find_similarities(a, b, limit, int(filter_size), filter_sigma, k1, k2)
    return ops.mean(found, -1) if return_index_map else ops.mean(ops.mean(found, [-3, -2]), -1)


def ssim_multiscale(img1, img2, max_val, power_factors=SCALES, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """Return the `ssim` of pictures at several sizes, each half of the one before.

    Parameters
    ----------
    power_factors : Sequence[float], optional
        How much each size counts.

    """
    from dragon.vm.shared.arrays.array import pad
    a, b, limit = _pair(img1, img2, max_val)
    parts = []
    for number, power in enumerate(power_factors):
        if number:
            a, b = (_halved(pad(x, [[0, 0]] * (x.ndim - 3) + [[0, x.shape[-3] % 2], [0, x.shape[-2] % 2], [0, 0]],
                                "SYMMETRIC")) for x in (a, b))
        whole, contrast = find_similarities(a, b, limit, int(filter_size), filter_sigma, k1, k2)
        part = whole if number == len(power_factors) - 1 else contrast
        parts.append(ops.relu(ops.mean(part, [-3, -2])) ** power)
    product = parts[0]
    for part in parts[1:]:
        product = product * part
    return ops.mean(product, -1)


def _halved(x):
    rows, columns = x.shape[-3] // 2, x.shape[-2] // 2
    return ops.mean(ops.reshape(x, (*x.shape[:-3], rows, 2, columns, 2, x.shape[-1])), [-4, -2])
