"""Rows of tables, largest elements, noise, and elements that move between axes."""
from dragon.vm.shared.arrays.array import as_ints, indices_of
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.recording.lookups import note
from dragon.vm.shared.tensors.tensor import ops


def embedding_lookup(params, ids, max_norm=None, name=None):
    """Return rows of a table.

    Parameters
    ----------
    params : Union[Tensor, Sequence[Tensor]]
        The table, or parts of it that take turns: row i is in part i modulo their number.
    ids : Union[Tensor, RaggedTensor]
        Numbers of rows.
    max_norm : float, optional
        Longer rows are scaled to this length.

    """
    if hasattr(ids, "row_splits"):  # a ragged tensor
        return ids.with_values(embedding_lookup(params, ids.values, max_norm))
    ids = indices_of(ids, "ResourceGather")
    if params is None or isinstance(params, (list, tuple)) and not params:
        raise ValueError(f"`params` must be a table, or parts of one. Received: params={params}")
    if isinstance(params, (list, tuple)) and len(params) > 1:
        parts = [take(part) for part in params]
        rows = max(part.shape[0] for part in parts)
        table = ops.stack([ops.pad(part, [0, 0] * (part.ndim - 1) + [0, rows - part.shape[0]]) for part in parts], 1)
        table = ops.reshape(table, (-1, *tuple(table.shape)[2:]))
    else:
        table = take(params[0] if isinstance(params, (list, tuple)) else params)
    if table.ndim < 1:
        raise ValueError(f"`params` must be a table with at least one axis. Received: params={params}")
    flat = ops.reshape(table, (table.shape[0], -1))
    rows = ops.embedding(flat, ops.reshape(ids, (-1,)))
    if len(tuple(table.shape)) > 1:
        note(table, ops.reshape(ids, (-1,)), rows)
    found = ops.reshape(rows, (*tuple(ids.shape), *tuple(table.shape)[1:]))
    if max_norm is None:
        return found
    axes = list(range(ids.ndim, found.ndim))
    norm = ops.sqrt(ops.sum(ops.square(found), axes, keepdims=True))
    return ops.mul(found, ops.div(float(max_norm), ops.maximum(norm, ops.full_like(norm, float(max_norm)))))


def top_k(input, k=1, sorted=True, index_type="int32", name=None):
    """Return (values, indices) of the k largest elements along the last axis."""
    from dragon.vm.tensorflow.math import top_k as found
    return found(input, k=k, sorted=sorted, index_type=index_type)


def in_top_k(targets, predictions, k, name=None):
    """Return whether each row's target is among its k largest elements; ties count."""
    from dragon.vm.tensorflow.math import in_top_k as found
    return found(targets, predictions, k)


def zero_fraction(value, name=None):
    """Return the share of zeros."""
    from dragon.vm.tensorflow.math import zero_fraction as found
    return found(value)


def bias_add(value, bias, data_format=None, name=None):
    """Return a tensor plus one number per channel."""
    value, bias = take(value), take(bias)
    if data_format is not None and not isinstance(data_format, str):
        raise ValueError(f"`data_format` must be a string such as 'NHWC'. Received: data_format={data_format}")
    if bias.ndim != 1:
        raise ValueError(f"`bias` must have rank 1. Received: bias of shape {tuple(bias.shape)}")
    if data_format is None or not data_format.startswith("NC") or value.ndim == 2:
        return ops.add(value, bias)
    return ops.add(value, ops.reshape(bias, (-1, *(1,) * (value.ndim - 2))))


def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Return a tensor with a share of its elements zero, the others scaled up.

    Parameters
    ----------
    x : Tensor
        The tensor.
    rate : float
        The share of zeros, in [0, 1).
    noise_shape : Sequence[int], optional
        The shape of the noise, which is broadcast.
    seed : int, optional
        Together with `tf.random.set_seed` it fixes the noise.

    """
    from dragon.vm.tensorflow.random import uniform
    x = take(x)
    if not x.dtype.is_floating:
        raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. "
                         f"Received: x.dtype={x.dtype}")
    if isinstance(rate, (int, float)):
        if not 0 <= rate < 1:
            raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
        if rate == 0:
            return x
        scale, rate = 1 / (1 - rate), take(rate, x.dtype)
    else:
        rate = take(rate, x.dtype)
        scale = ops.div(1.0, ops.sub(1.0, rate))
    shape = [own if wish is None or wish == -1 else wish for own, wish in
             zip(tuple(x.shape), as_ints(noise_shape))] if noise_shape is not None else tuple(x.shape)
    kept = ops.ge(uniform(shape, dtype=x.dtype, seed=seed), rate)
    return ops.where(kept, ops.mul(x, scale), ops.zeros_like(x))


def _block(block_size, data_format, who):
    """Return the size of blocks as a number, and see that the format is one."""
    if data_format not in ("NHWC", "NCHW"):
        raise invalid_argument(f"{who}: expected data_format NHWC or NCHW. Received: {data_format!r}")
    size = int(block_size)
    if size < 2:
        raise invalid_argument(f"{who}: Block size should be greater than 1: {size}")
    return size


def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Return an image whose blocks of pixels lie in the channels."""
    x, b = take(input), _block(block_size, data_format, "space_to_depth")
    if data_format != "NHWC":
        return ops.permute(space_to_depth(ops.permute(x, (0, 2, 3, 1)), block_size), (0, 3, 1, 2))
    batch, height, width, channels = tuple(x.shape)
    if height % b or width % b:
        raise invalid_argument(f"Image height {height} and width {width} should be divisible by block_size: {b} "
                               "[Op:SpaceToDepth]")
    x = ops.reshape(x, (batch, height // b, b, width // b, b, channels))
    return ops.reshape(ops.permute(x, (0, 1, 3, 2, 4, 5)), (batch, height // b, width // b, b * b * channels))


def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """Return an image whose channels lie in blocks of pixels."""
    x, b = take(input), _block(block_size, data_format, "depth_to_space")
    if data_format != "NHWC":
        return ops.permute(depth_to_space(ops.permute(x, (0, 2, 3, 1)), block_size), (0, 3, 1, 2))
    batch, height, width, channels = tuple(x.shape)
    if channels % (b * b):
        raise invalid_argument(f"Input depth dimension {channels} should be divisible by: {b * b} [Op:DepthToSpace]")
    x = ops.reshape(x, (batch, height, width, b, b, channels // (b * b)))
    return ops.reshape(ops.permute(x, (0, 1, 3, 2, 4, 5)), (batch, height * b, width * b, channels // (b * b)))
