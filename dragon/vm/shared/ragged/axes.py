"""Axes of ragged tensors: new ones, those of size 1 away, and parts of one."""
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.ragged.making import take_rows
from dragon.vm.shared.ragged.tensor import RaggedTensor, axis_within
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


def expand_dims(ragged, axis):
    """Return a ragged tensor with a further axis of size 1."""
    import numpy as np
    axis = axis_within(axis, ragged.ndim + 1)
    if axis == 0:
        return RaggedTensor._of(ragged, np.array([0, len(ragged)]), ragged._splits_dtype)
    if axis == 1:
        return RaggedTensor._of(ragged, np.arange(len(ragged) + 1), ragged._splits_dtype, 1)
    values = ragged._values
    return ragged.with_values(expand_dims(values, axis - 1) if isinstance(values, RaggedTensor)
                              else ops.unsqueeze(values, axis - 1))


def squeeze(input, axis=None):
    """Return a ragged tensor without axes of size 1, which are named."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = sorted({axis_within(one, input.ndim) for one in (axis if isinstance(axis, (list, tuple)) else [axis])})
    for one in reversed(axes):
        input = _without(input, one)
    return input


def _without(x, axis):
    """Return a tensor without one axis, whose size is 1."""
    if not isinstance(x, RaggedTensor):
        return ops.squeeze(x, [axis])
    if axis > 1:
        return x.with_values(_without(x._values, axis - 1))
    if (x._lengths() != 1).any() if axis else len(x) != 1:
        raise errors.InvalidArgumentError(None, None, f"Can not squeeze dim[{axis}], expected a dimension of 1. "
                                                      f"Received: {x.shape}")
    return x._values


def split(value, num_or_size_splits, axis=0, num=None):
    """Return pieces of a ragged tensor along an axis that is not ragged: so many equal ones, or of the sizes given."""
    import numpy as np
    sizes = array_of(convert_to_tensor(num_or_size_splits))
    if not sizes.ndim and sizes == 1:
        return [value]
    axis = axis_within(axis, value.ndim)
    extent = value.shape[axis]
    if extent is None:
        raise ValueError(f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` {axis}.")
    if not sizes.ndim:
        if sizes < 1:
            raise ValueError(f"`num_or_size_splits` must be >=1 if it is an `int`. Received {sizes}.")
        if extent % sizes:
            raise errors.InvalidArgumentError(None, None, f"Cannot exactly split the RaggedTensor along dimension "
                                                          f"{axis}: {extent} in {sizes} pieces")
        sizes = np.full(int(sizes), extent // int(sizes))
    if num is not None and int(num) != len(sizes):
        raise ValueError("`num` does not match the size of `num_or_size_split`. "
                         f"Received `num`: {num} and size of `num_or_size_split`: {len(sizes)}.")
    if sizes.sum() != extent or (sizes < 0).any():
        raise errors.InvalidArgumentError(None, None, f"The sum of `num_or_size_splits` must be the size of axis "
                                                      f"{axis}, {extent}. Received: {sizes.tolist()}")
    ends = np.cumsum(sizes)
    return [_narrow(value, axis, int(end - size), int(end)) for end, size in zip(ends, sizes)]


def _narrow(x, axis, begin, end):
    """Return a part of an axis that is not ragged."""
    import numpy as np
    if not isinstance(x, RaggedTensor):
        return ops.narrow(x, axis, begin, end - begin)
    if not axis:
        return take_rows(x, np.arange(begin, end))
    if axis > 1:
        return x.with_values(_narrow(x._values, axis - 1, begin, end))
    places = (x._splits[:-1, None] + np.arange(begin, end)).reshape(-1)
    values = take_rows(x._values, places) if isinstance(x._values, RaggedTensor) else (
        ops.index_select(x._values, 0, wrap_array(places)))
    return RaggedTensor._of(values, np.arange(len(x) + 1) * (end - begin), x._splits_dtype, end - begin)
