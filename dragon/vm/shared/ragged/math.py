"""Arithmetic, reductions and joins of ragged tensors, and TensorFlow's functions that take them beside dense ones."""

from dragon.core.python_operators import ARITHMETIC, COMPARISONS, function_of
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.ragged import later
from dragon.vm.shared.ragged.making import _from_lengths, from_tensor, join, stack_rows, take_rows
from dragon.vm.shared.ragged.tensor import RaggedTensor, axis_within
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.operators import QUOTIENT
from dragon.vm.shared.tensors.tensor import ops


def map_flat_values(op, *args, **kwargs):
    """Return a ragged tensor of what a function gives for the flat values of ragged arguments.

    Parameters
    ----------
    op : Callable
        Called with the arguments, ragged ones replaced by their flat values.
    *args : Any
        Its arguments; lists may hold ragged tensors.
    **kwargs : Any
        Its further arguments.

    """
    found = []

    def inner(value):
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        return [inner(part) for part in value] if isinstance(value, list) else value
    args = [inner(value) for value in args]
    kwargs = {name: inner(value) for name, value in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    for other in found[1:]:
        if not _same_rows(found[0], other):
            raise errors.InvalidArgumentError(
                None, None, "Inputs must have identical ragged splits. Received: rows of lengths "
                f"{found[0]._lengths().tolist()} and {other._lengths().tolist()}")
    result = op(*args, **kwargs)
    return found[0].with_flat_values(result)


def _same_rows(one, other):
    if not (isinstance(one, RaggedTensor) and isinstance(other, RaggedTensor)):
        return not isinstance(one, RaggedTensor) and not isinstance(other, RaggedTensor)
    return (len(one._splits) == len(other._splits) and bool((one._splits == other._splits).all())
            and _same_rows(one._values, other._values))


def _spread(dense, like):
    """Return a dense tensor's numbers as flat values of the rows of a ragged one; sizes of 1 are repeated."""
    import numpy as np
    extra = len(dense.shape) - like.ndim
    if extra > 0:
        raise errors.InvalidArgumentError(
            None, None, "Unable to broadcast: dimension size mismatch. "
            f"Received: shapes {like.shape} and {dense.shape}")
    shape = [1] * -extra + list(dense.shape)
    if all(size == 1 for size in shape[:like.ragged_rank + 1]):
        inner = shape[like.ragged_rank + 1:]
        return ops.reshape(dense, [1] * (len(like.flat_values.shape) - len(inner)) + inner)
    dense = ops.reshape(dense, shape)
    level, rows = like, np.arange(1 if shape[0] == 1 else len(like))
    if shape[0] != 1 and shape[0] != len(like):
        raise _mismatch(like, dense)
    rows = np.zeros(len(like), np.int64) if shape[0] == 1 else rows
    for axis in range(1, like.ragged_rank + 1):
        if shape[axis] != 1:
            lengths = level._lengths()
            if (lengths != shape[axis]).any():
                raise _mismatch(like, dense)
        rows = np.repeat(rows, level._lengths()) * shape[axis]
        if shape[axis] != 1:
            rows = rows + np.arange(level._splits[-1]) - np.repeat(level._splits[:-1], level._lengths())
        level = level._values
    flat = ops.reshape(dense, [int(np.prod(shape[:like.ragged_rank + 1])), *shape[like.ragged_rank + 1:]])
    return take_rows(flat, rows)


def _mismatch(ragged, dense):
    return errors.InvalidArgumentError(
        None, None, "Unable to broadcast: dimension size mismatch in dimension. Received: rows of lengths "
        f"{ragged._lengths().tolist()} and a tensor of shape {dense.shape}")


def elementwise(function, *operands):
    """Return what a function of dense tensors gives for tensors of which some are ragged."""
    like = max((one for one in operands if isinstance(one, RaggedTensor)), key=lambda one: one.ragged_rank)
    flat = []
    for one in operands:
        if isinstance(one, RaggedTensor):
            if not _same_rows(one, like):
                one = _align(one, like)
            flat.append(one.flat_values)
        elif hasattr(one, "shape") or isinstance(one, (list, tuple)):
            dense = convert_to_tensor(one) if hasattr(one, "dtype") else convert_to_tensor(one, dtype=like.dtype)
            flat.append(dense if not len(dense.shape) else _spread(dense, like))
        else:
            flat.append(one)
    return like.with_flat_values(function(*flat))


def _align(one, like):
    """Return a ragged tensor with rows like another's, where its own are of length 1."""
    import numpy as np
    if one.ragged_rank == like.ragged_rank == 1 and len(one) == len(like):
        lengths, wanted = one._lengths(), like._lengths()
        if ((lengths == wanted) | (lengths == 1)).all():
            starts = np.repeat(one._splits[:-1], wanted)
            within = np.arange(wanted.sum()) - np.repeat(np.cumsum(wanted) - wanted, wanted)
            return like.with_flat_values(take_rows(one._values, starts + within * np.repeat(lengths > 1, wanted)))
    raise errors.InvalidArgumentError(
        None, None, "Unable to broadcast: the rows of the ragged tensors differ. Received: lengths "
        f"{one._lengths().tolist()} and {like._lengths().tolist()}")


def _operator(name, function, reverse=False):
    def apply(self, other):
        return elementwise(function, other, self) if reverse else elementwise(function, self, other)
    apply.__name__ = name
    return apply


UNARY = ("neg", "abs", "invert")
for _name in (*ARITHMETIC, "and", "or", "xor"):
    _function = function_of(_name)
    setattr(RaggedTensor, f"__{_name}__", _operator(f"__{_name}__", _function))
    setattr(RaggedTensor, f"__r{_name}__", _operator(f"__r{_name}__", _function, True))
for _name in COMPARISONS:
    setattr(RaggedTensor, f"__{_name}__", _operator(f"__{_name}__", function_of(_name)))
for _name in UNARY:
    _function = function_of(_name)
    setattr(RaggedTensor, f"__{_name}__",
            lambda self, _function=_function: self.with_flat_values(_function(self.flat_values)))

REDUCTIONS = {"reduce_sum": "sum", "reduce_prod": "prod", "reduce_max": "amax", "reduce_min": "amin",
              "reduce_mean": "mean", "reduce_any": "amax", "reduce_all": "amin"}


def reduce(name, ragged, axis=None, keepdims=False):
    """Return a reduction of a ragged tensor.

    Parameters
    ----------
    name : str
        "reduce_sum" and the like.
    ragged : RaggedTensor
        What is reduced.
    axis : Union[int, Sequence[int]], optional
        Along which axes; all by default.
    keepdims : bool, optional, default=False
        Whether the axes stay with size 1.

    """
    if axis is None:
        found = _reduce_dense(name, ragged.flat_values, None)
        return ops.reshape(found, [1] * ragged.ndim) if keepdims else found
    if isinstance(axis, (list, tuple)):
        if name == "reduce_mean" and len(axis) > 1:
            return _mean_of_several(ragged, axis, keepdims)
        for one in sorted((ragged._axis(one) for one in axis), reverse=True):
            ragged = reduce(name, ragged, one, keepdims) if isinstance(ragged, RaggedTensor) else (
                _reduce_dense(name, ragged, one, keepdims))
        return ragged
    axis = ragged._axis(axis)
    if axis > 1:
        values = ragged._values
        inner = reduce(name, values, axis - 1, keepdims) if isinstance(values, RaggedTensor) else (
            _reduce_dense(name, values, axis - 1, keepdims))
        return ragged.with_values(inner)
    if isinstance(ragged._values, RaggedTensor):
        return _reduce_outer(name, ragged, axis, keepdims)
    import numpy as np
    if axis == 0:
        places = np.arange(ragged._splits[-1]) - np.repeat(ragged._splits[:-1], ragged._lengths())
        count = int(ragged._lengths().max(initial=0))
    else:
        places, count = ragged._row_ids(), len(ragged)
    found = segments(name, ragged._values, places, count)
    if not keepdims:
        return found
    return RaggedTensor._of(found, np.array([0, count]), ragged._splits_dtype) if axis == 0 else ops.unsqueeze(found, 1)


def _mean_of_several(ragged, axes, keepdims):
    """Return the mean of all numbers along several axes, whose rows count by their lengths."""
    flat = ragged.flat_values
    flat = flat if flat.dtype.is_floating else ops.cast(flat, QUOTIENT.get(flat.dtype, "float64"))
    total, count = (reduce("reduce_sum", ragged.with_flat_values(values), axes, keepdims)
                    for values in (flat, ops.ones_like(flat)))
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(ops.divide(total.flat_values, count.flat_values))
    return ops.divide(total, count)


def _reduce_outer(name, ragged, axis, keepdims):
    """Reduce along one of the two outer axes of rows of rows, by way of a dense box and its mask."""
    if keepdims:
        raise NotImplementedError(f"{name}: keepdims=True is not supported for axis {axis} of a ragged tensor with "
                                  f"more than one ragged axis. Received: shape {ragged.shape}")
    import numpy as np
    inner = ragged._values
    if axis == 1:
        # Rows of a group are joined by the place within them.
        lengths = inner._lengths()
        group = np.repeat(ragged._row_ids(), lengths)
        place = np.arange(inner._splits[-1]) - np.repeat(inner._splits[:-1], lengths)
        widths = np.zeros(len(ragged), np.int64)
        np.maximum.at(widths, ragged._row_ids(), lengths)
        starts = np.cumsum(widths) - widths
        return _from_lengths(segments(name, inner._values, starts[group] + place, int(widths.sum())), widths,
                             ragged._splits_dtype)
    rows = np.arange(ragged._splits[-1]) - np.repeat(ragged._splits[:-1], ragged._lengths())
    lengths = inner._lengths()
    widths = np.zeros(int(ragged._lengths().max(initial=0)), np.int64)
    np.maximum.at(widths, rows, lengths)
    starts = np.cumsum(widths) - widths
    place = np.arange(inner._splits[-1]) - np.repeat(inner._splits[:-1], lengths)
    return _from_lengths(segments(name, inner._values, starts[np.repeat(rows, lengths)] + place, int(widths.sum())),
                         widths, ragged._splits_dtype)


def _reduce_dense(name, x, axis, keepdims=False):
    kind = {"reduce_any": "any", "reduce_all": "all"}.get(name, REDUCTIONS[name])
    if kind == "mean" and not x.dtype.is_floating:
        x = ops.cast(x, QUOTIENT.get(x.dtype, "float64"))
    found = getattr(ops, kind)(x, axis=axis, keepdims=keepdims)
    return ops.cast(found, x.dtype) if found.dtype != x.dtype and kind in ("sum", "prod") else found


def segments(name, values, numbers, count):
    """Return the reduction of the rows of each number below `count`."""
    import numpy as np
    kind, dtype = REDUCTIONS[name], values.dtype
    if dtype.is_bool:
        return ops.cast(segments(name, ops.cast(values, "int32"), numbers, count), "bool") if count else (
            ops.cast(ops.zeros([0]), "bool"))
    index = wrap_array(np.asarray(numbers, np.int64))
    shape = [count, *values.shape[1:]]
    if kind in ("sum", "mean"):
        found = ops.index_add(ops.zeros(shape, dtype=dtype), 0, index, values)
        if kind == "sum":
            return found
        sizes = wrap_array(np.bincount(numbers, minlength=count).reshape([count] + [1] * (len(shape) - 1)))
        sizes = ops.cast(sizes, dtype if dtype.is_floating else QUOTIENT.get(dtype, "float64"))
        return ops.divide(ops.cast(found, sizes.dtype), sizes)
    first = 1 if kind == "prod" else dtype.min if kind == "amax" else dtype.max
    if name in ("reduce_any", "reduce_all"):
        first = 0 if kind == "amax" else 1
    return ops.index_reduce(ops.full(shape, first, dtype=dtype), 0, index, values, kind)


def concat(values, axis, name="concat"):
    """Return tensors, ragged or not, one after the other along an axis."""
    values = [_as_ragged(value) for value in values]
    rank = max(value.ndim for value in values)
    axis = axis_within(axis, rank)
    if axis == 0:
        return join(values)
    if axis == 1:
        return _join_rows(values)
    return values[0].with_values(concat([value._values for value in values], axis - 1))


def _as_ragged(value):
    if isinstance(value, RaggedTensor):
        return value
    if isinstance(value, (list, tuple)):
        from dragon.vm.shared.ragged.lists import constant
        return constant(value)
    tensor = convert_to_tensor(value)
    return from_tensor(tensor) if len(tensor.shape) > 1 else tensor


def _join_rows(values):
    """Return rows that are joined of the rows of several ragged tensors."""
    import numpy as np
    count = len(values[0])
    if any(len(value) != count for value in values):
        raise errors.InvalidArgumentError(
            None, None, f"Input tensors have incompatible shapes. Received: {[value.shape for value in values]}")
    lengths = np.stack([value._lengths() for value in values])
    offsets = np.cumsum([0] + [int(value._splits[-1]) for value in values][:-1])
    starts = np.stack([value._splits[:-1] for value in values]) + offsets[:, None]
    from dragon.vm.shared.ragged.making import ranges
    order = ranges(starts.T.reshape(-1), lengths.T.reshape(-1))
    return _from_lengths(take_rows(join([value._values for value in values]), order), lengths.sum(0),
                         values[0]._splits_dtype)


def stack(values, axis=0, name="stack"):
    """Return tensors, ragged or not, stacked along a new axis as a ragged tensor."""
    values = [value if isinstance(value, RaggedTensor) else convert_to_tensor(value) for value in values]
    rank = len(values[0].shape) + 1
    axis = axis_within(axis, rank)
    if rank == 1:
        return ops.stack(values)
    if axis == 0:
        return stack_rows(values)
    if axis == 1:
        import numpy as np
        count, number = int(values[0].shape[0]), len(values)
        rows = join(values)
        order = (np.arange(number) * count + np.arange(count)[:, None]).reshape(-1)
        rows = take_rows(rows, order)
        if not isinstance(rows, RaggedTensor) and len(rows.shape) == 1:
            return _from_lengths(rows, np.full(count, number), as_dtype("int64"))
        return _from_lengths(rows, np.full(count, number), as_dtype("int64"))
    values = [_as_ragged(value) for value in values]
    return values[0].with_values(stack([value._values for value in values], axis - 1))


def boolean_mask(data, mask, name=None):
    """Return the values that a mask marks, in rows like the mask's."""
    mask = mask if isinstance(mask, RaggedTensor) else convert_to_tensor(mask)
    if isinstance(mask, RaggedTensor):
        data = data if isinstance(data, RaggedTensor) else from_tensor(convert_to_tensor(data))
        if isinstance(mask._values, RaggedTensor):
            inner = boolean_mask(data._values, mask._values)
            return RaggedTensor._of(inner, mask._splits, data._splits_dtype)
        import numpy as np
        marked = array_of(mask._values)
        counts = np.add.reduceat(np.append(marked, False).astype(np.int64), mask._splits[:-1])
        counts = np.where(mask._lengths() == 0, 0, counts)
        return _from_lengths(take_rows(data._values, np.flatnonzero(marked)), counts, data._splits_dtype)
    import numpy as np
    marked = array_of(mask)
    if marked.ndim == 1:
        data = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
        return take_rows(data, np.flatnonzero(marked))
    return boolean_mask(data, from_tensor(mask, ragged_rank=marked.ndim - 1))


def gather(params, indices, axis=0):
    """Return the rows of tensors, ragged or not, at indices, ragged or not."""
    if axis not in (None, 0):
        return _gather_within(params, indices, axis)
    params = params if isinstance(params, RaggedTensor) else convert_to_tensor(params)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather(params, indices._values))
    places = array_of(convert_to_tensor(indices))
    found = take_rows(params, places.reshape(-1))
    if places.ndim == 1:
        return found
    if not isinstance(found, RaggedTensor):
        return ops.reshape(found, [*places.shape, *found.shape[1:]])
    return found[0] if not places.ndim else from_tensor(convert_to_tensor(places)).with_values(found)


def _gather_within(params, indices, axis):
    """Return what stands at ragged indices along an axis of a dense tensor; the axes before it stay in front."""
    import numpy as np
    if isinstance(params, RaggedTensor) or isinstance(indices._values, RaggedTensor):
        raise NotImplementedError("gather: along another axis than 0 only dense tensors are gathered from, at indices "
                                  f"of one ragged axis. Received: axis={axis}")
    params, flat = convert_to_tensor(params), convert_to_tensor(indices._values)
    axis, shape = axis_within(axis, len(params.shape)), tuple(params.shape)
    found = ops.index_select(params, axis, ops.reshape(flat, (-1,)))
    groups = int(np.prod(shape[:axis]))
    found = ops.reshape(found, (groups * flat.shape[0], *flat.shape[1:], *shape[axis + 1:]))
    made = _from_lengths(found, np.tile(indices._lengths(), groups), indices._splits_dtype)
    made = _from_lengths(made, np.full(groups, len(indices._lengths())), indices._splits_dtype, len(indices._lengths()))
    for place in range(axis - 1, 0, -1):
        rows = np.full(int(np.prod(shape[:place])), shape[place])
        made = _from_lengths(made, rows, indices._splits_dtype, shape[place])
    return made


def reverse(tensor, axis):
    """Return a ragged tensor with the entries along axes in the opposite order.

    Parameters
    ----------
    tensor : RaggedTensor
        The tensor.
    axis : Sequence[int]
        The axes.

    """
    for one in array_of(convert_to_tensor(axis)).reshape(-1):
        tensor = _reverse(tensor, axis_within(one, len(tensor.shape)))
    return tensor


def _reverse(tensor, axis):
    import numpy as np
    if not isinstance(tensor, RaggedTensor):
        return ops.flip(tensor, (axis,))
    if axis == 0:
        return take_rows(tensor, np.arange(len(tensor))[::-1])
    if axis > 1:
        return tensor.with_values(_reverse(tensor._values, axis - 1))
    lengths = tensor._lengths()
    places = np.repeat(tensor._splits[:-1] + tensor._splits[1:] - 1, lengths) - np.arange(int(tensor._splits[-1]))
    return _from_lengths(take_rows(tensor._values, places), lengths, tensor._splits_dtype, tensor._uniform)


def tile(input, multiples):
    """Return a ragged tensor several times, along each axis.

    Parameters
    ----------
    input : RaggedTensor
        The tensor.
    multiples : Sequence[int]
        How often, for each axis.

    """
    counts = array_of(convert_to_tensor(multiples)).reshape(-1)
    if len(counts) < input.ndim:
        raise IndexError(f"tile: got multiples={counts}, expected one for each of {input.ndim} axes")
    for axis, count in enumerate(counts):
        if count < 0:
            raise errors.invalid_argument(f"Expected multiples[{axis}] >= 0, but got {count}")
        input = _emptied(input, axis) if count == 0 else concat([input] * count, axis) if count > 1 else input
    return input


def _emptied(tensor, axis):
    """Return a tensor, ragged or not, with nothing along an axis."""
    import numpy as np
    if not isinstance(tensor, RaggedTensor):
        return ops.narrow(tensor, axis, 0, 0)
    if axis == 0:
        return take_rows(tensor, np.arange(0))
    if axis > 1:
        return tensor.with_values(_emptied(tensor._values, axis - 1))
    nothing = take_rows(tensor._values, np.arange(0))
    return _from_lengths(nothing, np.zeros_like(tensor._lengths()), tensor._splits_dtype)


later.teach[0]()
