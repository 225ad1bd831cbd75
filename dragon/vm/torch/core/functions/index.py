"""Reading and writing by index, mask or place, where PyTorch has several ways to say it."""
from dragon import _C
from dragon.core import accelerator
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.destination import deliver, write
from dragon.vm.torch.core.known.worked_out import broadcast
from dragon.vm.torch.core.register import both, function, method, overload
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse.tables import SparseElements
from dragon.vm.torch.core.tensor import Tensor, ops

INT64 = OBJECTS["int64"]


@method
def copy_(self, src, non_blocking=False):
    """Copy another tensor's elements, broadcast and cast, into this one."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    before = accelerator.let_copies_queue(True) if non_blocking else None
    try:
        return write(self, src)
    except _C.InvalidValue as error:
        known = broadcast(str(tuple(self.shape)), str(tuple(src.shape)))
        if known is None:
            raise
        raise _C.InvalidValue(f"copy_: {error}. {known}") from None
    finally:
        if before is not None:
            accelerator.let_copies_queue(before)


@overload("where")
def where(condition, input=None, other=None, *, out=None):
    """Return elements of one tensor or another; of a condition alone, the places where it holds."""
    if other is None:
        if input is not None:
            raise TypeError("where: got one choice, expected two tensors or numbers, or the condition alone")
        return ops.nonzero_tuple(condition)
    return ops.where(condition, input, other, out=out)


@method
def where(self, condition, other):  # noqa: F811 (the method has its own order of arguments)
    """Return this tensor's elements where a condition holds, else another's."""
    return ops.where(condition, self, other)


@both
def nonzero(input, *, out=None, as_tuple=False):
    """Return the places of elements that are not zero: as rows, or one tensor for each axis."""
    return ops.nonzero_tuple(input) if as_tuple else ops.nonzero(input, out=out)


@both
def nonzero_static(input, *, size, fill_value=-1, out=None):
    """Return the first `size` places of elements that are not zero; missing ones are `fill_value`."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: got size {size}, expected none below 0")
    places = ops.nonzero(input)[:size]
    missing = size - places.shape[0]
    if missing:
        places = ops.cat([places, ops.full((missing, places.shape[1]), fill_value, dtype=INT64, device=input.device)])
    return deliver(places, out)


def _scatter(name):
    operator = getattr(ops, name)

    def scatter(input, dim, index, src=None, *, value=None, reduce=None, **out):
        src = value if src is None else src
        if src is None:
            raise TypeError(f"{name}: got neither src nor value, expected one of them")
        return operator(input, dim, index, src, reduce=reduce, **out)
    return named(scatter, name, "Write a tensor's elements, or one number, to places along an axis.")


both(_scatter("scatter"))
method(_scatter("scatter_"))


@overload("gather", of="both")
def gather(input, dim, index, *, sparse_grad=False, out=None):
    """Return the elements at places along an axis."""
    if sparse_grad and out is None:
        return SparseElements.apply(input, dim, index)
    return ops.gather(input, dim, index, out=out)


@overload("repeat_interleave", of="both")
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Return the elements repeated; of counts alone, each index as often as its count says."""
    if repeats is None:
        return ops.repeat_interleave(ops.arange(input.numel(), dtype=input.dtype), input, output_size=output_size)
    return ops.repeat_interleave(input, repeats, dim, output_size=output_size)


def _write_slice(made, place, src):
    """Write a tensor of the same shape over a slice of another; return the latter."""
    if tuple(place.shape) != tuple(src.shape):
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, "
                           f"slice size = {list(place.shape)}")
    write(place, src)
    return made


def _index_copy(name):
    operator = getattr(ops, name)

    def index_copy(input, dim, index, source, **out):
        if isinstance(source, Tensor) and source.ndim == 0 and input.ndim == 1:  # one number for one index
            source = ops.reshape(source, (1,))
        return operator(input, dim, index, source, **out)
    return named(index_copy, name, "Write slices of another tensor to places along an axis.")


both(_index_copy("index_copy"))
method(_index_copy("index_copy_"))


@both
def select_scatter(input, src, dim, index):
    """Return a copy in which one slice of an axis is `src`."""
    made = ops.clone(input)
    return _write_slice(made, ops.select(made, dim, index), src)


@both
def slice_scatter(input, src, dim=0, start=None, end=None, step=1, *, out=None):
    """Return a copy in which a slice of an axis is `src`."""
    made = ops.clone(input)
    return deliver(_write_slice(made, ops.slice(made, dim, start, end, step), src), out)


@both
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """Return a copy in which a diagonal is `src`."""
    made = ops.clone(input)
    place = ops.diagonal(made, offset, dim1, dim2)
    if tuple(place.shape) != tuple(src.shape):
        raise RuntimeError(f"diagonal_scatter: got src of shape {tuple(src.shape)}, expected {tuple(place.shape)}")
    write(place, src)
    return made


@both
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """Return a copy in which the elements at these strides are `src`."""
    made = ops.clone(input)
    write(ops.as_strided(made, size, stride, storage_offset), src)
    return made


@method
def fill_diagonal_(self, fill_value, wrap=False):
    """Write one number to the main diagonal; `wrap` goes on below a tall matrix' square."""
    if self.ndim < 2:
        raise RuntimeError(f"fill_diagonal_: got {self.ndim} dims, expected at least 2")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(f"fill_diagonal_: got shape {tuple(self.shape)}, expected equal sizes for more than 2 dims")
    step, columns = sum(self.strides), min(self.shape)
    ops.fill_(ops.as_strided(self, (columns,), (step,)), fill_value)
    if wrap and self.ndim == 2 and self.shape[0] > self.shape[1] + 1:
        rows, width = self.shape
        for row in range(width + 1, rows, width + 1):
            below = self[row:]
            ops.fill_(ops.as_strided(below, (min(below.shape),), (step,)), fill_value)
    return self


@method
def fill_(self, value):
    """Write one number to every element."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                               f"{value.ndim} dimensions.")
        return write(self, value)
    return _fill_places(self, value)


def _fill_places(x, value):
    """Write one number to every place, once to those that an axis repeats."""
    try:
        return ops.fill_(x, value)
    except _C.InvalidValue:
        places = x
        for axis, (size, stride) in enumerate(zip(x.shape, x.strides)):
            places = ops.narrow(places, axis, 0, 1) if size > 1 and stride == 0 else places
        if places is x:
            raise
        ops.fill_(places, value)
        return x


@function
def fill(input, value):
    """Return a tensor of the same shape, full of one number."""
    if isinstance(value, Tensor):
        return ops.clone(ops.expand(value.to(input.dtype), input.shape))
    return ops.fill(input, value)


@both
def zero_(input):
    """Write zeros to every element."""
    return _fill_places(input, 0)


function(fill_.__wrapped__)


@function
def unravel_index(indices, shape):
    """Return the coordinates, one tensor for each axis, of places in a flattened shape."""
    if not isinstance(indices, Tensor) or indices.dtype.is_floating_point or indices.dtype.is_complex or (
            indices.dtype.name == "bool"):
        kind = indices.dtype if isinstance(indices, Tensor) else type(indices).__name__
        raise TypeError(f"unravel_index: got indices of {kind}, expected a tensor of integers")
    indices = indices.to(INT64)
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    if any(size < 0 for size in shape):
        raise ValueError(f"unravel_index: got shape {shape}, expected no size below 0")
    coordinates, step = [], 1
    for size in reversed(shape):
        coordinates.append(ops.remainder(ops.floor_divide(indices, max(step, 1)), max(size, 1)))
        step *= size
    return tuple(reversed(coordinates))


def _index_all(x, indices):
    return ops.index(x, [index for index in indices])


@function
def _unsafe_index(input, indices):
    return _index_all(input, indices)


def _inside(input, mask, indices):
    """Return indices with zeros where a mask does not hold."""
    return [None if index is None else ops.where(mask, index, 0) for index in indices]


@function
def _unsafe_masked_index(input, mask, indices, fill):
    """Return elements by index, and a number where the mask does not hold."""
    return ops.masked_fill(ops.index(input, _inside(input, mask, indices)), ops.logical_not(mask), fill)


@function
def _unsafe_masked_index_put_accumulate(input, mask, indices, values):
    """Return a copy to which values are added by index where the mask holds."""
    values = ops.masked_fill(values, ops.logical_not(mask), 0)
    return ops.index_put(input, _inside(input, mask, indices), values, True)


@function
def _unsafe_index_put(input, indices, values, accumulate=False):
    return ops.index_put(input, indices, values, accumulate)


@function
def _segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Return reductions of consecutive segments of an axis, given by lengths or by offsets."""
    reduce = {"amax": "max", "amin": "min"}.get(reduce, reduce)
    if reduce not in ("sum", "mean", "max", "min", "prod"):
        raise RuntimeError(f"segment_reduce: got reduce={reduce!r}, expected sum, mean, max, min or prod")
    if indices is not None:
        raise NotImplementedError("segment_reduce: got indices, expected lengths or offsets")
    if lengths is None:
        lengths = ops.sub(offsets[..., 1:], offsets[..., :-1])
    total = data.shape[axis]
    flat_lengths, lead = lengths.reshape(-1, lengths.shape[-1]), data.shape[:axis]
    rows = data.reshape(-1, *data.shape[axis:]) if axis else ops.unsqueeze(data, 0)
    made = [_segments(row, each, reduce, initial, total) for row, each in zip(ops.unbind(rows), flat_lengths)]
    return ops.reshape(ops.stack(made), (*lead, lengths.shape[-1], *data.shape[axis + 1:]))


def _segments(x, lengths, reduce, initial, total):
    """Return the reduced segments of the first axis."""
    count = lengths.numel()
    place = ops.repeat_interleave(ops.arange(count), lengths.to(INT64))
    start = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -float("inf"), "min": float("inf")}[reduce]
    start = start if initial is None else initial
    shape = (count, *x.shape[1:])
    x = x[:place.numel()]
    place = ops.expand(ops.reshape(place, (-1, *[1] * (x.ndim - 1))), x.shape)
    how = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}[reduce]
    made = ops.scatter_reduce(ops.full(shape, start, dtype=x.dtype), 0, place, x, how)
    if reduce == "mean":
        sizes = ops.reshape(lengths, (-1, *[1] * (x.ndim - 1))).to(x.dtype)
        empty = float("nan") if initial is None else initial
        made = ops.where(sizes > 0, ops.div(made, ops.clamp(sizes, 1)), empty).to(x.dtype)
    return made


@function
def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Return reductions of consecutive segments of an axis, given by lengths or by offsets."""
    return _segment_reduce(data, reduce, lengths=lengths, indices=indices, offsets=offsets, axis=axis,
                           unsafe=unsafe, initial=initial)
