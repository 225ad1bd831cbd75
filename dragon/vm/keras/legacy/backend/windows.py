"""Convolutions, pools, padding and sizes of images and volumes."""
from dragon.vm.keras import ops as _ops
from dragon.vm.keras.core.config import image_data_format as _configured
from dragon.vm.keras.core.convert import convert_to_tensor as _tensor


def _format(data_format):
    data_format = data_format or _configured()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return data_format


def _padding(padding):
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """Return a convolution along one axis; "causal" looks at nothing that follows. ..."""
    data_format = _format(data_format)
    if padding == "causal":
        reach = dilation_rate * (kernel.shape[0] - 1)
        pads = ((0, 0), (reach, 0), (0, 0)) if data_format == "channels_last" else ((0, 0), (0, 0), (reach, 0))
        x, padding = _ops.pad(x, pads), "valid"
    return _ops.conv(x, kernel, strides, _padding(padding), data_format, dilation_rate)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """Return a convolution of images. ..."""
    return _ops.conv(x, kernel, strides, _padding(padding), _format(data_format), dilation_rate)


def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)):
    """Return a convolution of volumes. ..."""
    return _ops.conv(x, kernel, strides, _padding(padding), _format(data_format), dilation_rate)


def depthwise_conv2d(x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """Return a convolution of each channel of images with kernels of its own. ..."""
    return _ops.depthwise_conv(x, depthwise_kernel, strides, _padding(padding), _format(data_format), dilation_rate)


def separable_conv2d(x, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding="valid", data_format=None,
                     dilation_rate=(1, 1)):
    """Return a convolution of each channel, mixed by another of one pixel. ..."""
    if len(strides) != 2:
        raise ValueError(f"`strides` must be a tuple of 2 integers. Received: strides={strides}")
    return _ops.separable_conv(x, depthwise_kernel, pointwise_kernel, tuple(strides), _padding(padding),
                               _format(data_format), dilation_rate)


def _pool(x, rank, pool_size, strides, padding, data_format, pool_mode):
    for name, sizes in (("pool_size", pool_size), ("strides", strides)):
        if len(sizes) != rank:
            raise ValueError(f"`{name}` must be a tuple of {rank} integers. Received: {name}={sizes}")
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    pool = _ops.max_pool if pool_mode == "max" else _ops.average_pool
    return pool(x, tuple(pool_size), tuple(strides), _padding(padding), _format(data_format))


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Return the largest, or the mean, of each window of images. ..."""
    return _pool(x, 2, pool_size, strides, padding, data_format, pool_mode)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Return the largest, or the mean, of each window of volumes. ..."""
    return _pool(x, 3, pool_size, strides, padding, data_format, pool_mode)


def bias_add(x, bias, data_format=None):
    """Return a tensor with a bias of each channel, or of all elements of a sample, added. ..."""
    data_format, x, bias = _format(data_format), _tensor(x), _tensor(bias)
    rank = len(bias.shape)
    if rank not in (1, len(x.shape) - 1):
        raise ValueError(f"Unexpected bias dimensions {rank}. Expected it to be 1 or {len(x.shape) - 1} dimensions")
    if data_format == "channels_last" or rank == 1 == len(x.shape) - 1:
        return x + bias
    first = _ops.moveaxis(bias, -1, 0)
    return x + (_ops.reshape(first, (-1, *[1] * (len(x.shape) - 2))) if rank == 1 else first)


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """Return a tensor less a mean, over a deviation, times gamma plus beta. ..."""
    made = (_tensor(x) - mean) * _ops.rsqrt(_tensor(var) + epsilon)
    made = made if gamma is None else made * gamma
    return made if beta is None else made + beta


def temporal_padding(x, padding=(1, 1)):
    """Return sequences with zeros before and behind."""
    if len(padding) != 2:
        raise ValueError(f"Expected `padding` to be a tuple of 2 integers. Received: padding={padding}")
    return _ops.pad(x, ((0, 0), tuple(padding), (0, 0)))


def _pad_around(x, padding, count, data_format):
    if len(padding) != count or any(len(pair) != 2 for pair in padding):
        raise ValueError(f"Expected `padding` to be a tuple of {count} tuples of 2 integers. "
                         f"Received: padding={padding}")
    pairs = tuple(map(tuple, padding))
    last = _format(data_format) == "channels_last"
    return _ops.pad(x, ((0, 0), *pairs, (0, 0)) if last else ((0, 0), (0, 0), *pairs))


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Return images with zeros around them. ..."""
    return _pad_around(x, padding, 2, data_format)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Return volumes with zeros around them. ..."""
    return _pad_around(x, padding, 3, data_format)


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Return images that are larger by whole factors. ..."""
    data_format = _format(data_format)
    height, width = x.shape[1:3] if data_format == "channels_last" else x.shape[2:4]
    return _ops.image.resize(x, (height * height_factor, width * width_factor), interpolation=interpolation,
                             data_format=data_format)


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Return volumes that are larger by whole factors. ..."""
    first = 1 if _format(data_format) == "channels_last" else 2
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = _ops.repeat(x, factor, axis=axis)
    return x
