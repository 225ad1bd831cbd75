"""What must hold of indices, and whether it is looked at."""
import contextlib

from dragon.vm.torch.core.sparse.keys import keys_of
from dragon.vm.torch.core.sparse.parts import BLOCKS, COMPRESSED, ROW_MAJOR
from dragon.vm.torch.core.tensor import ops


class _State:
    """Whether constructors look at indices unless told otherwise."""

    checking = False


def wanted(asked):
    """Return whether to look at the indices of a new tensor."""
    return _State.checking if asked is None else bool(asked)


class check_sparse_tensor_invariants(contextlib.ContextDecorator):
    """Look at the indices of every new sparse tensor: in a `with` block, in a function it decorates, or from now on.

    Parameters
    ----------
    enable : bool, optional, default=True
        Whether to look.

    """

    def __init__(self, enable=True):
        self.state, self.before = bool(enable), None

    @staticmethod
    def is_enabled():
        """Return whether indices are looked at."""
        return _State.checking

    @staticmethod
    def enable():
        """Look at indices from now on."""
        _State.checking = True

    @staticmethod
    def disable():
        """Look at indices no longer."""
        _State.checking = False

    def __enter__(self):
        if self.before is not None:
            raise RuntimeError("check_sparse_tensor_invariants: got entered twice, expected a new one for each block")
        self.before, _State.checking = _State.checking, self.state

    def __exit__(self, *_):
        _State.checking, self.before = self.before, None


def check_coordinates(indices, values, size, is_coalesced=None):
    """Raise unless indices stand within a size."""
    rank = indices.shape[0]
    if indices.shape[1] and rank:
        lowest, highest = ops.amin(indices, 1).tolist(), ops.amax(indices, 1).tolist()
        for axis, (low, high) in enumerate(zip(lowest, highest)):
            if low < 0:
                raise RuntimeError(f"sparse_coo_tensor: found negative index {low} for dim {axis}, expected none below "
                                   "0")
            if high >= size[axis]:
                raise RuntimeError(f"sparse_coo_tensor: got index {high} for dim {axis}, expected 0 to "
                                   f"{size[axis] - 1}: size is inconsistent with indices")
    if is_coalesced and indices.shape[1] > 1:
        keys = keys_of([indices[axis] for axis in range(rank)], size[:rank]) if rank else ops.zeros_like(indices)
        if not rank or not bool(ops.all(ops.lt(keys[:-1], keys[1:]))):
            raise RuntimeError("sparse_coo_tensor: cannot set is_coalesced to true if indices correspond to "
                               "uncoalesced COO tensor; expected them in order, each there once")


def check_compressed(layout, starts, places, values, size):
    """Raise unless the parts of a compressed tensor fit each other and a size."""
    who, (first, second) = layout + "_tensor", COMPRESSED[layout]

    def expect(holds, got, expected):
        if not holds:
            raise RuntimeError(f"{who}: got {got}, expected {expected}")

    for name, part in ((first, starts), (second, places)):
        expect(part.dtype.name in ("int32", "int64"), f"{name} of {part.dtype}", "int32 or int64")
    expect(starts.dtype == places.dtype, f"{first} of {starts.dtype} and {second} of {places.dtype}", "one dtype")
    batches, blocks = starts.ndim - 1, 2 if layout in BLOCKS else 0
    expect(places.ndim == starts.ndim and batches >= 0, f"{first} with {starts.ndim} and {second} with {places.ndim} "
           "dims", "as many, and at least one")
    expect(len(size) >= batches + 2, f"size {size} for {batches} batch dims", f"at least {batches + 2} sizes")
    inner = len(size) - batches - 2
    expect(values.ndim == batches + 1 + blocks + inner, f"values with {values.ndim} dims",
           f"{batches + 1 + blocks + inner} for size {size}")
    height, width = values.shape[batches + 1:batches + 3] if blocks else (1, 1)
    rows, columns = size[batches], size[batches + 1]
    expect(rows % max(height, 1) == 0 and columns % max(width, 1) == 0, f"blocks of {height} by {width}",
           f"sizes that divide {rows} and {columns}")
    rows, columns = rows // max(height, 1), columns // max(width, 1)
    lines, reach = (rows, columns) if layout in ROW_MAJOR else (columns, rows)
    expect(tuple(starts.shape) == (*size[:batches], lines + 1), f"{first} of shape {tuple(starts.shape)}",
           f"{(*size[:batches], lines + 1)} for size {size}")
    count = places.shape[-1]
    expect(tuple(places.shape) == (*size[:batches], count), f"{second} of shape {tuple(places.shape)}",
           f"batches of {size[:batches]}")
    expect(tuple(values.shape[:batches + 1]) == tuple(places.shape), f"values of shape {tuple(values.shape)}",
           f"one for each of {second}, whose shape is {tuple(places.shape)}")
    expect(bool(ops.all(ops.eq(starts[..., 0], 0))), f"{first} that do not begin with 0", f"{first}[..., 0] == 0")
    expect(bool(ops.all(ops.eq(starts[..., -1], count))), f"{first} that do not end with {count}",
           f"{first}[..., -1] == nnz")
    steps = ops.sub(starts[..., 1:], starts[..., :-1])
    expect(bool(ops.all(ops.ge(steps, 0))) and bool(ops.all(ops.le(steps, reach))),
           f"{first} with steps outside of 0 to {reach}", f"0 <= {first}[..., 1:] - {first}[..., :-1] <= {reach}")
    if places.numel() == 0:
        return
    expect(int(ops.min(places)) >= 0 and int(ops.max(places)) < reach, f"{second} from {int(ops.min(places))} to "
           f"{int(ops.max(places))}", f"0 to {reach - 1}")
    from dragon.vm.torch.core.sparse.compressed import line_indices
    many = ops.reshape(places, (-1,)).long()
    which = ops.repeat_interleave(ops.arange(0, many.shape[0] // count, dtype="int64", device=places.device), count)
    keys = ops.add(ops.mul(ops.add(ops.mul(which, lines), line_indices(starts, count)), reach), many)
    expect(bool(ops.all(ops.lt(keys[:-1], keys[1:]))), f"{second} out of order or twice",
           "those of one line in ascending order, each there once")
