"""`torch.sparse_coo_tensor` and its kin."""
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor, default_dtype
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse import invariants
from dragon.vm.torch.core.sparse.parts import BLOCKS, COMPRESSED, ROW_MAJOR, is_sparse, make, make_coordinates
from dragon.vm.torch.core.tensor import Tensor, ops

INT64 = OBJECTS["int64"]


def strided_of(who, what, data, dtype=None, device=None):
    """Return data as a strided tensor, with the history that it has."""
    if is_sparse(data):
        raise TypeError(f"{who}: got a sparse tensor as {what}, expected a strided one")
    if isinstance(data, (str, bytes)) or data is None:
        raise TypeError(f"{who}: got '{type(data).__name__}' as {what}, expected a tensor or nested numbers")
    if not isinstance(data, Tensor) and device is None and dtype is None and isinstance(data, (list, tuple)):
        return as_tensor(data)
    return as_tensor(data, dtype=dtype, device=device)


def own(values, requires_grad):
    """Return values as a new tensor's own: behind a step of their history, or a leaf that asks for gradients."""
    if requires_grad:
        return ops.view(values.detach(), values.shape).requires_grad_()
    return ops.view(values, values.shape)


@function
def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False,
                      requires_grad=False, check_invariants=None, is_coalesced=None, layout=None):
    """Return a tensor that holds values at coordinates; those of equal ones count together.

    Parameters
    ----------
    indices : Union[Tensor, Sequence], optional
        One row for each sparse axis, one column for each value. With nothing but a size, the tensor is all zero.
    values : Union[Tensor, Sequence, number], optional
        One entry, of any shape, for each column.
    size : Sequence[int], optional
        The shape; without it, just large enough.
    dtype : dtype, optional
        That of the values by default.
    device : device, optional
        That of the values by default.
    requires_grad : bool, optional, default=False
        Whether gradients are wanted with respect to the new tensor.
    check_invariants : bool, optional
        Whether to look at the indices; by default as `torch.sparse.check_sparse_tensor_invariants` says.
    is_coalesced : bool, optional
        Whether the indices are known to be in order, each there once.

    Returns
    -------
    Tensor
        Of layout `torch.sparse_coo`.

    Examples
    --------
    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])

    """
    require_layout("sparse_coo_tensor", layout, "sparse_coo")
    if values is None and (indices is None) != (size is None):
        shape = size if indices is None else indices
        return finish(empty_coordinates(shape, dtype or default_dtype(), device), requires_grad)
    values = strided_of("sparse_coo_tensor", "values", values, dtype, device)
    indices = strided_of("sparse_coo_tensor", "indices", indices, INT64, values.device)
    if indices.ndim != 2:
        raise RuntimeError(f"sparse_coo_tensor: got indices of shape {tuple(indices.shape)}, expected a matrix: one "
                           "row for each sparse dim")
    if values.ndim == 0:
        values = ops.expand(ops.reshape(values, (1,)), (indices.shape[1],))
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(f"sparse_coo_tensor: got {indices.shape[1]} columns of indices and {values.shape[0]} "
                           "values, expected as many: indices and values must have same nnz")
    size = smallest(indices, values) if size is None else tuple(int(one) for one in size)
    if len(size) != indices.shape[0] + values.ndim - 1:
        raise RuntimeError(f"sparse_coo_tensor: got size {size} for {indices.shape[0]} sparse and {values.ndim - 1} "
                           f"dense dims, expected {indices.shape[0] + values.ndim - 1} sizes")
    if tuple(values.shape[1:]) != size[indices.shape[0]:]:
        raise RuntimeError(f"sparse_coo_tensor: got values of shape {tuple(values.shape)}, expected "
                           f"{(values.shape[0], *size[indices.shape[0]:])} for size {size}")
    if invariants.wanted(check_invariants):
        invariants.check_coordinates(indices, values, size, is_coalesced)
    return make_coordinates(indices.detach(), own(values, requires_grad), size, bool(is_coalesced))


def finish(made, requires_grad):
    """Return a new sparse tensor, which asks for gradients if wanted."""
    return made.requires_grad_() if requires_grad else made


def require_layout(who, wanted, *names):
    """Raise for a `layout=` that is not among those of a function."""
    if wanted is not None and wanted not in [getattr(layouts, name) for name in names]:
        raise RuntimeError(f"{who}: got layout={wanted!r}, expected {' or '.join('torch.' + name for name in names)}")


def empty_coordinates(size, dtype, device, sparse=None):
    """Return a tensor of coordinates without any values."""
    size = tuple(int(one) for one in size)
    sparse = len(size) if sparse is None else sparse
    where = as_device(device)
    return make_coordinates(ops.zeros((sparse, 0), dtype=INT64, device=where),
                            ops.zeros((0, *size[sparse:]), dtype=dtype, device=where), size, True)


def empty_compressed(who, size, layout, dtype, device):
    """Return a compressed tensor without any values."""
    if layout in BLOCKS or len(size) < 2:
        raise RuntimeError(f"{who}: got layout=torch.{layout} and size {tuple(size)}, expected a layout without blocks "
                           "and at least 2 dims")
    *batches, rows, columns = (int(one) for one in size)
    where, lines = as_device(device), rows if layout in ROW_MAJOR else columns
    return make(layout, (ops.zeros((*batches, lines + 1), dtype=INT64, device=where),
                         ops.zeros((*batches, 0), dtype=INT64, device=where),
                         ops.zeros((*batches, 0), dtype=dtype, device=where)), (*batches, rows, columns))


def empty_of(who, size, layout, dtype, device, requires_grad=False):
    """Return a tensor of a sparse layout without any values: what `zeros` and `empty` of it are."""
    dtype = default_dtype() if dtype is None else dtype
    if layout is layouts.sparse_coo:
        return finish(empty_coordinates(size, dtype, device), requires_grad)
    return finish(empty_compressed(who, size, repr(layout).removeprefix("torch."), dtype, device), requires_grad)


def smallest(indices, values):
    """Return the size that just holds the indices."""
    if indices.shape[1] == 0:
        return (*(0 for _ in range(indices.shape[0])), *values.shape[1:])
    lowest, highest = ops.amin(indices, 1).tolist(), ops.amax(indices, 1).tolist()
    for axis, index in enumerate(lowest):
        if index < 0:
            raise RuntimeError(f"sparse_coo_tensor: found negative index {index} for dim {axis}, expected none below 0")
    return (*(index + 1 for index in highest), *values.shape[1:])


def compressed(who, layout, starts, places, values, size, dtype, device, requires_grad, check_invariants):
    """Return a tensor of a compressed layout."""
    values = strided_of(who, "values", values, dtype, device)
    names = COMPRESSED[layout]
    starts = strided_of(who, names[0], starts, None, values.device)
    places = strided_of(who, names[1], places, None, values.device)
    if places.numel() == 0 and not places.dtype.name.startswith("int"):
        places = places.long()  # an empty list tells no dtype
    size = tuple(int(one) for one in size) if size is not None else fitting(layout, starts, places, values)
    if invariants.wanted(check_invariants):
        invariants.check_compressed(layout, starts, places, values, size)
    elif starts.ndim < 1 or places.ndim < 1 or starts.shape[-1] < 1:
        raise RuntimeError(f"{who}: got {names[0]} of shape {tuple(starts.shape)} and {names[1]} of shape "
                           f"{tuple(places.shape)}, expected vectors, or batches of them")
    return make(layout, (starts.detach(), places.detach(), own(values, requires_grad)), size)


def fitting(layout, starts, places, values):
    """Return the size that just holds a compressed tensor."""
    batches = starts.ndim - 1
    height, width = values.shape[batches + 1:batches + 3] if layout in BLOCKS else (1, 1)
    lines = starts.shape[-1] - 1
    across = int(ops.max(places)) + 1 if places.numel() else 0
    rows, columns = (lines, across) if layout in ROW_MAJOR else (across, lines)
    inner = values.shape[batches + (3 if layout in BLOCKS else 1):]
    return (*starts.shape[:-1], rows * height, columns * width, *inner)


def _compressed(layout):
    """Register `torch.<layout>_tensor`."""
    name, (first, second) = layout + "_tensor", COMPRESSED[layout]

    def create(*parts, size=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
               check_invariants=None, **spelled):
        given = dict(zip((first, second, "values", "size"), parts), **spelled)
        size = given.pop("size", size)
        missing = [part for part in (first, second, "values") if part not in given]
        if missing or len(given) > 3 or len(parts) > 4:
            raise TypeError(f"{name}: got {len(parts)} arguments and {', '.join(spelled) or 'no names'}, expected "
                            f"{first}, {second}, values and perhaps size")
        require_layout(name, layout, own_layout)
        return compressed(name, own_layout, given[first], given[second], given["values"], size, dtype, device,
                          requires_grad, check_invariants)
    own_layout = layout
    return function(named(create, name, f"Return a tensor of layout `torch.{layout}` from {first}, {second} and "
                                        "values."))


for _layout in COMPRESSED:
    _compressed(_layout)


@function
def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None,
                             device=None, pin_memory=False, requires_grad=False, check_invariants=None):
    """Return a tensor of a compressed layout, which `layout=` names."""
    require_layout("sparse_compressed_tensor", layout or layouts.strided, *COMPRESSED)
    return compressed("sparse_compressed_tensor", repr(layout).removeprefix("torch."), compressed_indices,
                      plain_indices, values, size, dtype, device, requires_grad, check_invariants)
