"""Sums, norms and softmax of sparse tensors, and whether two are alike."""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.sparse.compressed import as_coordinates
from dragon.vm.torch.core.sparse.conversions import to_layout
from dragon.vm.torch.core.sparse.coordinates import add_up, coalesce, rows_of
from dragon.vm.torch.core.sparse.keys import keys_of
from dragon.vm.torch.core.sparse.parts import (is_coordinates, is_sparse, layout_of, make_coordinates, name_of,
                                               parts_of, rule, sparse_dim, values_of)
from dragon.vm.torch.core.tensor import Tensor, ops


def axes_of(who, x, dim):
    """Return axes from 0, in order, each once."""
    axes = [dim] if hasattr(dim, "__index__") else list(dim)
    for axis in axes:
        if not -x.ndim <= axis < x.ndim:
            raise IndexError(f"{who}: Dimension out of range: got dim {axis}, expected {-x.ndim} to {x.ndim - 1}")
    axes = sorted(int(axis) % x.ndim for axis in axes)
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"{who}: got dim {tuple(dim)}, expected each dim once")
    return axes


@rule("sum")
def sum(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """Return the sum of all elements, or along axes as a sparse tensor."""
    everything = dim is None or hasattr(dim, "__len__") and len(dim) == 0
    if everything or is_coordinates(input) and len(axes_of("sum", input, dim)) == input.ndim:
        made = ops.sum(values_of(input), dtype=dtype)
        made = ops.reshape(made, (1,) * input.ndim) if keepdim else made
        return made if out is None else out.copy_(made)
    if dtype is None and not (input.dtype.is_floating_point or input.dtype.is_complex):
        dtype = OBJECTS["int64"]
    made = sum_along("sum", as_coordinates(input), dim, keepdim, dtype)
    if not is_coordinates(input):
        if not keepdim:
            raise RuntimeError(f"sum: got keepdim=False for a tensor of layout {layout_of(input)!r}, expected True")
        made = to_layout(made, name_of(input))
    return made if out is None else out.copy_(made)


def sum_along(who, x, dim, keepdim, dtype):
    """Return the sum of a tensor of coordinates along axes."""
    axes, rank = axes_of(who, x, dim), sparse_dim(x)
    indices, values = parts_of(x)
    inner = [axis - rank + 1 for axis in axes if axis >= rank]
    if inner:
        values = ops.sum(values, inner, keepdim, dtype=dtype)
    elif dtype is not None:
        values = values.to(dtype)
    gone = [axis for axis in axes if axis < rank]
    rows = [ops.zeros_like(row) if axis in gone else row for axis, row in enumerate(rows_of(indices))
            if keepdim or axis not in gone]
    shape = [1 if axis in axes else size for axis, size in enumerate(x.shape) if keepdim or axis not in axes]
    if len(gone) == rank:  # nothing sparse is left
        return ops.reshape(ops.sum(values, 0), tuple(shape))
    made = make_coordinates(ops.stack(rows, 0), values, shape, x.is_coalesced() and not gone)
    return coalesce(made) if gone else made


@rule("norm")
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """Return the norm of all elements as one vector."""
    if dim is not None and len(axes_of("norm", input, dim)) not in (0, input.ndim):
        raise RuntimeError("norm: got some of the dims, expected none or all: sparse tensors have full reductions only")
    x = coalesce(input) if is_coordinates(input) else input
    made = ops.linalg_vector_norm(values_of(x), 2 if p in ("fro", None) else p, dtype=dtype)
    made = ops.reshape(made, (1,) * input.ndim) if keepdim else made
    return made if out is None else out.copy_(made)


@rule("linalg_norm", "linalg_vector_norm", "vector_norm")
def vector_norm(x, ord=None, dim=None, keepdim=False, *, dtype=None, out=None):
    """Return the norm of all elements as one vector."""
    return norm(x, "fro" if ord is None else ord, dim, keepdim, out, dtype)


@rule("native_norm")
def native_norm(input, p=2, *options):
    """Return the norm of all elements."""
    return norm(input, p, *options)


@rule("any")
def any(input, dim=None, keepdim=False, *, out=None):
    """Return whether any element is not zero."""
    if dim is not None:
        raise NotImplementedError("any: got a dim for a sparse tensor, expected none")
    made = ops.any(values_of(coalesce(as_coordinates(input))))
    return made if out is None else out.copy_(made)


def softmax_along(who, input, dim, dtype, logarithm):
    """Return the softmax over the values that are held along an axis; what is not held counts as minus infinity."""
    if not is_sparse(input) or not is_coordinates(input):
        raise RuntimeError(f"{who}: got a tensor of layout {layout_of(input)!r}, expected torch.sparse_coo")
    (axis,), x = axes_of(who, input, dim), coalesce(input)
    indices, values = parts_of(x)
    rank = indices.shape[0]
    if dtype is not None:
        values = values.to(dtype)
    if not values.dtype.is_floating_point:
        raise RuntimeError(f"{who}: got {values.dtype}, expected a real float")
    if axis >= rank:
        compute = ops.log_softmax if logarithm else ops.softmax
        return make_coordinates(indices, compute(values, axis - rank + 1), x.shape, True)
    if values.shape[0] == 0:
        return make_coordinates(indices, values, x.shape, True)
    others = [(row, size) for place, (row, size) in enumerate(zip(rows_of(indices), x.shape)) if place != axis]
    if others:
        keys = keys_of(*zip(*others))
        _, group, _ = ops.unique(keys, return_inverse=True)
    else:
        group = ops.zeros_like(indices[0])
    count = int(ops.max(group)) + 1
    start = ops.full((count, *values.shape[1:]), float("-inf"), dtype=values.dtype, device=values.device)
    highest = ops.index_reduce(start, 0, group, values.detach(), "amax")
    shifted = ops.sub(values, ops.index_select(highest, 0, group))
    powers = ops.exp(shifted)
    total = ops.index_select(add_up(powers, group, count), 0, group)
    made = ops.sub(shifted, ops.log(total)) if logarithm else ops.div(powers, total)
    return make_coordinates(indices, made, x.shape, True)


def aligned(a, b):
    """Return the values of two sparse tensors at all places that one of them holds."""
    a, b = coalesce(as_coordinates(a)), coalesce(as_coordinates(b))
    from dragon.vm.torch.core.sparse.coordinates import look_up
    both = ops.cat((parts_of(a)[0], parts_of(b)[0]), 1)
    return look_up(a, both), look_up(b, both)


def _compare(name):
    """Register a comparison of two sparse tensors at the places that they hold; elsewhere they are equal."""
    def compare(input, other, *args, **kwargs):
        if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
            raise TypeError(f"{name}: got '{type(other).__name__}', expected two tensors")
        if tuple(input.shape) != tuple(other.shape):
            return False
        if not (is_sparse(input) and is_sparse(other)):
            pair = [x.to_dense() if is_sparse(x) else x for x in (input, other)]
        else:
            pair = aligned(input, other)
        return FUNCTIONS[name](*pair, *args, **kwargs)
    rule(name)(compare)


for _name in ("equal", "allclose"):
    _compare(_name)


@rule("isclose", "eq", "ne", "__eq__", "__ne__")
def compare_elements(input, other, *args, **kwargs):
    """Refuse: where neither holds a value the answer is not zero, which no sparse tensor tells."""
    raise NotImplementedError("eq: got a sparse tensor, expected strided ones: most answers would not be 0; "
                              ".to_dense() makes one, and torch.equal and torch.allclose take sparse tensors")
