"""Axes of sparse tensors: exchanged, added, joined, picked."""
from dragon.vm.torch.core.sparse.compressed import as_coordinates, transposed
from dragon.vm.torch.core.sparse.coordinates import add_up, coalesce, rows_of
from dragon.vm.torch.core.sparse.keys import count_up, runs
from dragon.vm.torch.core.sparse.parts import (batch_dim, is_coalesced, is_coordinates, is_sparse, layout_of,
                                               make_coordinates, parts_of, refusal, replace, rule, sparse_dim)
from dragon.vm.torch.core.tensor import Tensor, ops


def axis_of(who, rank, dim):
    """Return an axis from 0."""
    axis = dim.__index__()
    if not -rank <= axis < rank:
        raise IndexError(f"{who}: Dimension out of range: got dim {dim}, expected {-rank} to {rank - 1}")
    return axis % rank


def require_coordinates(who, x):
    """Raise for compressed tensors, whose axes cannot be told apart like that."""
    if not is_coordinates(x):
        raise refusal(who, x)


@rule("permute", "transpose_copy")
def permute(input, *dims):
    """Return the tensor with its axes in another order; sparse and dense ones stay what they are."""
    if len(dims) == 1 and not hasattr(dims[0], "__index__"):
        dims = tuple(dims[0])
    axes = [axis_of("permute", input.ndim, dim) for dim in dims]
    if sorted(axes) != list(range(input.ndim)):
        raise RuntimeError(f"permute: got dims {dims} for {input.ndim} dims, expected each once")
    if axes == list(range(input.ndim)):
        return input.clone() if is_coordinates(input) else input
    if not is_coordinates(input):
        first = batch_dim(input)
        if axes == [*range(first), first + 1, first, *range(first + 2, input.ndim)]:
            return transposed(input)
        raise refusal("permute", input)
    rank = sparse_dim(input)
    if sorted(axes[:rank]) != list(range(rank)):
        raise RuntimeError(f"permute: got dims {dims}, expected sparse dims 0 to {rank - 1} among themselves, and "
                           "dense ones too")
    indices, values = parts_of(input)
    order = ops.stack([indices[axis] for axis in axes[:rank]], 0) if rank else indices
    values = ops.permute(values, (0, *(axis - rank + 1 for axis in axes[rank:])))
    kept = axes[:rank] == list(range(rank)) and is_coalesced(input)
    return make_coordinates(order, values, [input.shape[axis] for axis in axes], kept)


@rule("transpose", "swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    """Return the tensor with two axes exchanged."""
    first, second = axis_of("transpose", input.ndim, dim0), axis_of("transpose", input.ndim, dim1)
    axes = list(range(input.ndim))
    axes[first], axes[second] = second, first
    return permute(input, axes)


@rule("t", "T", "H", "adjoint", "numpy_T", "mT", "mH")
def t(input):
    """Return the transpose of a matrix."""
    if input.ndim > 2:
        raise RuntimeError(f"t: got {input.ndim} dims, expected at most 2")
    return transpose(input, 0, 1) if input.ndim == 2 else input


@rule("t_")
def t_(self):
    """Become the transpose."""
    require_coordinates("t_", self)
    return replace(self, t(self))


@rule("transpose_", "swapaxes_", "swapdims_")
def transpose_(self, dim0, dim1):
    """Exchange two axes, in place."""
    require_coordinates("transpose_", self)
    return replace(self, transpose(self, dim0, dim1))


@rule("unsqueeze")
def unsqueeze(input, dim):
    """Return the tensor with a new axis of size 1: a sparse one among sparse ones, a dense one behind them."""
    require_coordinates("unsqueeze", input)
    axis, rank = axis_of("unsqueeze", input.ndim + 1, dim), sparse_dim(input)
    indices, values = parts_of(input)
    shape = [*input.shape[:axis], 1, *input.shape[axis:]]
    if axis > rank:
        return make_coordinates(indices, ops.unsqueeze(values, axis - rank + 1), shape, is_coalesced(input))
    rows = rows_of(indices)
    rows.insert(axis, ops.zeros_like(count_up(indices.shape[1], indices)))
    return make_coordinates(ops.stack(rows, 0), values, shape, is_coalesced(input))


@rule("squeeze")
def squeeze(input, dim=None):
    """Return the tensor without axes of size 1, or without some of them."""
    require_coordinates("squeeze", input)
    axes = range(input.ndim) if dim is None else [axis_of("squeeze", input.ndim, one) for one in (
        [dim] if hasattr(dim, "__index__") else dim)]
    gone, rank = [axis for axis in axes if input.shape[axis] == 1], sparse_dim(input)
    indices, values = parts_of(input)
    kept = [row for axis, row in enumerate(rows_of(indices)) if axis not in gone]
    indices = ops.stack(kept, 0) if kept else indices[:0]
    shape = [size for axis, size in enumerate(input.shape) if axis not in gone]
    if any(axis >= rank for axis in gone):
        values = ops.reshape(values, (values.shape[0], *shape[len(kept):]))
    return make_coordinates(indices, values, shape, is_coalesced(input))


@rule("view")
def view(input, *args, **kwargs):
    """Refuse: there is no memory to be looked at in another shape."""
    raise NotImplementedError(f"view: got a tensor of layout {layout_of(input)!r}, expected a strided one: .to_dense() "
                              "makes one")


@rule("reshape", "flatten", "narrow_copy", "expand", "repeat", "tile")
def reshape(input, *args, **kwargs):
    """Refuse: shapes of sparse tensors do not change like that."""
    raise RuntimeError(f"reshape: got a tensor of layout {layout_of(input)!r}, expected a strided one: reshape is not "
                       "implemented for sparse tensors; .to_dense() makes one")


@rule("cat", "concat", "concatenate")
def cat(tensors, dim=0, *, out=None):
    """Return sparse tensors one after the other."""
    for place, tensor in enumerate(tensors):
        if not is_sparse(tensor) or not is_coordinates(tensor):
            raise RuntimeError(f"cat: Concatenating sparse tensors, got a tensor of layout {layout_of(tensor)!r} at "
                               f"position {place}, expected torch.sparse_coo")
    first = tensors[0]
    axis, rank = axis_of("cat", first.ndim, dim), sparse_dim(first)
    if any(sparse_dim(one) != rank or one.ndim != first.ndim for one in tensors):
        raise RuntimeError("cat: got tensors with different numbers of sparse or dense dims, expected the same")
    for one in tensors:
        if any(a != b for place, (a, b) in enumerate(zip(one.shape, first.shape)) if place != axis):
            raise RuntimeError(f"cat: got shapes {tuple(first.shape)} and {tuple(one.shape)}, expected all sizes but "
                               f"that of dim {axis} equal")
    total = sum(int(one.shape[axis]) for one in tensors)
    shape = [*first.shape[:axis], total, *first.shape[axis + 1:]]
    indices, values, start = [], [], 0
    for one in tensors:
        mine, held = parts_of(one)
        if axis < rank:
            mine = ops.stack([ops.add(row, start) if place == axis else row
                              for place, row in enumerate(rows_of(mine))], 0)
        elif held.shape[0]:  # beside what the others hold there are zeros
            before = [*held.shape[:axis - rank + 1], start, *held.shape[axis - rank + 2:]]
            after = [*held.shape[:axis - rank + 1], total - start - one.shape[axis], *held.shape[axis - rank + 2:]]
            held = ops.cat([ops.zeros(before, dtype=held.dtype, device=held.device), held,
                            ops.zeros(after, dtype=held.dtype, device=held.device)], axis - rank + 1)
        else:
            held = ops.zeros((0, *shape[rank:]), dtype=held.dtype, device=held.device)
        start += int(one.shape[axis])
        indices.append(mine)
        values.append(held)
    made = make_coordinates(ops.cat(indices, 1), ops.cat(values, 0), shape)
    return made if out is None else out.copy_(made)


@rule("stack")
def stack(tensors, dim=0, *, out=None):
    """Return sparse tensors along a new sparse axis."""
    return cat([unsqueeze(one, dim) for one in tensors], dim, out=out)


def _joined_along(name, axis):
    @rule(name, *({"vstack": ("row_stack",), "hstack": ()}[name]))
    def join(tensors, *, out=None):
        flat = tensors[0].ndim == 1
        if flat and name == "vstack":
            return stack(tensors, 0, out=out)
        return cat(tensors, 0 if flat else axis, out=out)
    return join


_joined_along("vstack", 0)
_joined_along("hstack", 1)


@rule("select", "select_copy")
def select(input, dim, index):
    """Return a slice without its axis; a number of a tensor whose indices are all gone."""
    axis = axis_of("select", input.ndim, dim)
    size = int(input.shape[axis])
    if not -size <= index < size:
        raise IndexError(f"select: got index {index} for dim {axis}, expected {-size} to {size - 1}")
    index = int(index) % size
    x = input if is_coordinates(input) else coalesce(as_coordinates(input))
    indices, values = parts_of(x)
    rank, shape = indices.shape[0], [*x.shape[:axis], *x.shape[axis + 1:]]
    if axis >= rank:
        return make_coordinates(indices, ops.select(values, axis - rank + 1, index), shape, is_coalesced(x))
    kept = ops.nonzero(ops.eq(indices[axis], index))[:, 0]
    values = ops.index_select(values, 0, kept)
    if rank == 1:
        return add_up(values, ops.zeros_like(kept), 1)[0]
    rows = [ops.index_select(row, 0, kept) for place, row in enumerate(rows_of(indices)) if place != axis]
    return make_coordinates(ops.stack(rows, 0), values, shape, is_coalesced(x) or kept.shape[0] == 0)


@rule("index_select")
def index_select(input, dim, index, *, out=None):
    """Return the places of an axis that a vector of integers lists."""
    require_coordinates("index_select", input)
    axis = axis_of("index_select", input.ndim, dim)
    indices, values = parts_of(input)
    rank, size = indices.shape[0], int(input.shape[axis])
    index = ops.reshape(index, (-1,)).long()
    shape = [*input.shape[:axis], index.shape[0], *input.shape[axis + 1:]]
    if index.shape[0] and not 0 <= int(ops.min(index)) <= int(ops.max(index)) < size:
        raise IndexError(f"index_select: got indices from {int(ops.min(index))} to {int(ops.max(index))}, expected 0 "
                         f"to {size - 1}: index out of range")
    if axis >= rank:
        made = make_coordinates(indices, ops.index_select(values, axis - rank + 1, index), shape, is_coalesced(input))
        return made if out is None else out.copy_(made)
    # Every value goes to all the places where its index is listed.
    ordered, place = ops.sort(index, 0, False)
    begins = ops.searchsorted(ordered, indices[axis])
    lengths = ops.sub(ops.searchsorted(ordered, indices[axis], right=True), begins)
    owner, within = runs(lengths)
    new = ops.index_select(place, 0, ops.add(ops.index_select(begins, 0, owner), within))
    rows = [new if number == axis else ops.index_select(row, 0, owner) for number, row in enumerate(rows_of(indices))]
    made = make_coordinates(ops.stack(rows, 0), ops.index_select(values, 0, owner), shape)
    return made if out is None else out.copy_(made)


@rule("narrow")
def narrow(input, dim, start, length):
    """Return a range of an axis."""
    require_coordinates("narrow", input)
    axis = axis_of("narrow", input.ndim, dim)
    size, start = int(input.shape[axis]), int(start)
    start = start + size if start < 0 else start
    if not 0 <= start <= start + length <= size:
        raise RuntimeError(f"narrow: got start {start} and length {length}, expected a range within 0 to {size}")
    indices, values = parts_of(input)
    shape = [*input.shape[:axis], int(length), *input.shape[axis + 1:]]
    if axis >= indices.shape[0]:
        values = ops.narrow(values, axis - indices.shape[0] + 1, start, length)
        return make_coordinates(indices, values, shape, is_coalesced(input))
    row = indices[axis]
    kept = ops.nonzero(ops.logical_and(ops.ge(row, start), ops.lt(row, start + length)))[:, 0]
    rows = [ops.index_select(ops.sub(row, start) if place == axis else row, 0, kept)
            for place, row in enumerate(rows_of(indices))]
    return make_coordinates(ops.stack(rows, 0), ops.index_select(values, 0, kept), shape, is_coalesced(input))


@rule("unbind")
def unbind(input, dim=0):
    """Return the slices along an axis."""
    return tuple(select(input, dim, index) for index in range(int(input.shape[dim])))


@rule("__getitem__")
def get_item(self, key):
    """Return a part: integers, slices of step 1, vectors of integers or bools, None and ..."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(one is Ellipsis for one in keys):
        place = next(place for place, one in enumerate(keys) if one is Ellipsis)
        given = sum(1 for one in keys if one is not None and one is not Ellipsis)
        keys[place:place + 1] = [slice(None)] * (self.ndim - given)
    found, axis = self, 0
    for one in keys:
        if one is None:
            found, axis = unsqueeze(found, axis), axis + 1
        elif isinstance(one, slice):
            if one != slice(None):
                start, stop, step = one.indices(int(found.shape[axis]))
                if step != 1:
                    raise NotImplementedError(f"__getitem__: got a slice of step {step} of a sparse tensor, expected 1")
                found = narrow(found, axis, start, max(stop - start, 0))
            axis += 1
        elif isinstance(one, (Tensor, list)) and not getattr(one, "ndim", 1) == 0:
            listed = one if isinstance(one, Tensor) else _vector(one)
            listed = ops.nonzero(listed)[:, 0] if listed.dtype.name in ("bool", "uint8") else listed
            if listed.ndim != 1:
                raise refusal("__getitem__", self)
            size = int(found.shape[axis])
            found = index_select(found, axis, ops.where(ops.lt(listed, 0), ops.add(listed, size), listed))
            axis += 1
        else:
            found = select(found, axis, one.__index__())
    return found


def _vector(numbers):
    """Return a list of integers or bools as a tensor."""
    from dragon.vm.torch.core.functions.creation import tensor
    return tensor(numbers)


@rule("sparse_resize_")
def sparse_resize_(self, size, sparse_dim, dense_dim):
    """Change the shape, and keep the values that there are: sizes may grow, and shrink where nothing is held."""
    require_coordinates("sparse_resize_", self)
    indices, values = parts_of(self)
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(f"sparse_resize_: got {len(size)} sizes for {sparse_dim} sparse and {dense_dim} dense dims, "
                           "expected as many")
    if values.shape[0] == 0:
        return sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)
    if indices.shape[0] != sparse_dim or any(a > b for a, b in zip(self.shape, size)):
        raise RuntimeError(f"sparse_resize_: got size {tuple(size)} with {sparse_dim} sparse dims for a tensor of "
                           f"{tuple(self.shape)} with {indices.shape[0]} that holds values, expected sizes as large "
                           "and as many sparse dims")
    inner = tuple(size[sparse_dim:])
    if inner != tuple(values.shape[1:]):
        wide = ops.zeros((values.shape[0], *inner), dtype=values.dtype, device=values.device)
        wide[(slice(None), *(slice(0, old) for old in values.shape[1:]))] = values
        values = wide
    return replace(self, make_coordinates(indices, values, size, is_coalesced(self)))


@rule("sparse_resize_and_clear_")
def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    """Become a tensor of a shape that holds no values."""
    from dragon.vm.torch.core.sparse.making import empty_coordinates
    require_coordinates("sparse_resize_and_clear_", self)
    return replace(self, empty_coordinates(size, self.dtype, self.device, sparse_dim))
