"""Rows that have no values get one, and patches of volumes."""
import collections
import math

from dragon.vm.shared.arrays.creation import fill
from dragon.vm.shared.arrays.gathering import gather
from dragon.vm.shared.arrays.joining import concat
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import OutOfRangeError, invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import int64
from dragon.vm.shared.tensors.tensor import ops

Filled = collections.namedtuple("RaggedFillEmptyRows", (
    "output_value_rowids", "output_values", "empty_row_indicator", "reverse_index_map"))
Filled.__doc__ = "Values with the numbers of their rows, which rows had none, and where the given values went."
FilledGrad = collections.namedtuple("RaggedFillEmptyRowsGrad", ("d_values", "d_default_value"))
FilledGrad.__doc__ = "The gradients of the values and of what filled rows."


def ragged_fill_empty_rows(value_rowids, values, nrows, default_value, name=None):
    """Return values of rows, with one more in each row that has none.

    Parameters
    ----------
    value_rowids : Tensor
        int64: the number of the row of each value.
    values : Tensor
        The values.
    nrows : int
        How many rows there are.
    default_value : Tensor
        What goes into rows that have none.

    Returns
    -------
    RaggedFillEmptyRows
        Values with the numbers of their rows, which rows had none, and where the given values went.

    """
    values = take(values)
    rows, count = ops.cast(take(value_rowids), int64), int(nrows)
    if tuple(rows.shape) != tuple(values.shape[:1]) or rows.ndim != 1:
        raise invalid_argument(f"ragged_fill_empty_rows: got {tuple(rows.shape)} rows for values of shape "
                               f"{tuple(values.shape)}, expected one for each")
    if count < 0:
        raise invalid_argument(f"ragged_fill_empty_rows: got nrows={count}, expected none or more")
    if rows.shape[0] and (int(ops.amin(rows, 0)) < 0 or int(ops.amax(rows, 0)) >= count):
        raise invalid_argument(f"ragged_fill_empty_rows: got a row outside of 0 to {count - 1}")
    lengths = ops.scatter_add(ops.zeros((count,), dtype="int64"), 0, rows, ops.ones_like(rows))
    empty = ops.eq(lengths, 0)
    missing = ops.reshape(ops.argwhere(empty), (-1,))
    joint = ops.cat([rows, ops.cast(missing, int64)], 0)
    filling = fill((missing.shape[0],), convert_to_tensor(default_value, values.dtype))
    order = ops.argsort(joint, 0, stable=True)
    back = ops.argsort(order, 0)[:rows.shape[0]]
    return Filled(ops.index_select(joint, 0, order), gather(concat([values, filling], 0), order), empty,
                  ops.cast(back, int64))


def ragged_fill_empty_rows_grad(reverse_index_map, grad_values, name=None):
    """Return the gradients of the values and of what filled rows.

    Parameters
    ----------
    reverse_index_map : Tensor
        Where the given values went.
    grad_values : Tensor
        The gradient of the results.

    Returns
    -------
    RaggedFillEmptyRowsGrad
        Both gradients.

    """
    places, grad = ops.cast(take(reverse_index_map), int64), take(grad_values)
    own = ops.index_select(grad, 0, places)
    return FilledGrad(own, ops.sum(grad, 0) - ops.sum(own, 0))


def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """Return patches of volumes, each in the place of the channels.

    Parameters
    ----------
    input : Tensor
        Volumes (batch, depth, height, width, channels).
    ksizes, strides : Sequence[int]
        How large patches are and how far apart, for all five axes.
    padding : str
        "VALID" or "SAME".

    Returns
    -------
    Tensor
        (batch, depth, height, width, patch).

    """
    x, sizes, steps = take(input), list(map(int, ksizes)), list(map(int, strides))
    if x.ndim != 5 or len(sizes) != 5 or len(steps) != 5 or {sizes[0], sizes[4], steps[0], steps[4]} != {1}:
        raise invalid_argument(f"extract_volume_patches: got input of shape {tuple(x.shape)}, ksizes={ksizes}, "
                               f"strides={strides}, expected five axes, and 1 for the batch and the channels")
    for word, given in (("ksizes", sizes), ("strides", steps)):
        if min(given) < 1:
            raise OutOfRangeError(None, None, f"extract_volume_patches: got {word}={given}, expected numbers from 1")
    if padding not in ("VALID", "SAME"):
        raise invalid_argument(f"extract_volume_patches: got padding={padding!r}, expected 'VALID' or 'SAME'")
    counts, pads = [], []
    for size, patch, step in zip(x.shape[1:4], sizes[1:4], steps[1:4]):
        count = math.ceil(size / step) if padding == "SAME" else max((size - patch) // step + 1, 0)
        missing = max((count - 1) * step + patch - size, 0) if padding == "SAME" else 0
        counts.append(count)
        pads.append((missing // 2, missing - missing // 2))
    x = ops.pad(x, [0, 0, *(side for pair in reversed(pads) for side in pair)], "constant", 0)
    for axis, (count, patch, step) in enumerate(zip(counts, sizes[1:4], steps[1:4]), 1):
        # The places of each patch along an axis become an axis of their own behind it.
        places = ops.unsqueeze(ops.arange(0, count, dtype="int64") * step, -1) + ops.arange(0, patch, dtype="int64")
        at = 2 * axis - 1
        shape = tuple(x.shape)
        x = ops.reshape(ops.index_select(x, at, ops.reshape(places, (-1,))),
                        (*shape[:at], count, patch, *shape[at + 1:]))
    x = ops.permute(x, (0, 1, 3, 5, 2, 4, 6, 7))
    return ops.reshape(x, (x.shape[0], *counts, math.prod(sizes) * x.shape[-1]))
