"""Tensors of coordinates: in order, each place once; and as dense ones."""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.sparse.keys import count_up, find, joint_keys, keys_of, product
from dragon.vm.torch.core.sparse.parts import (is_coalesced, is_coordinates, layout_of, make_coordinates, parts_of,
                                               rule, sparse_dim, with_values)
from dragon.vm.torch.core.tensor import ops


def rows_of(indices):
    """Return the indices along each axis as vectors."""
    return [indices[axis] for axis in range(indices.shape[0])]


def add_up(values, place, count):
    """Return sums of values by place; of bools, whether one of them holds."""
    box = (count, *values.shape[1:])
    if values.dtype.name == "bool":
        counted = ops.index_add(ops.zeros(box, dtype=OBJECTS["int64"], device=values.device), 0, place, values.long())
        return ops.gt(counted, 0)
    return ops.index_add(ops.zeros(box, dtype=values.dtype, device=values.device), 0, place, values)


def require_coordinates(who, x):
    """Raise unless a tensor is of layout `torch.sparse_coo`."""
    if not is_coordinates(x):
        raise RuntimeError(f"{who}: got a tensor of layout {layout_of(x)!r}, expected torch.sparse_coo")


@rule()
def coalesce(self):
    """Return the tensor with its indices in order and the values of equal ones added up; itself if it is that."""
    require_coordinates("coalesce", self)
    if is_coalesced(self):
        return self
    indices, values = parts_of(self)
    count, rank = values.shape[0], indices.shape[0]
    if rank == 0:  # all values stand at the one place that there is
        if count > 1:
            indices, values = indices[:, :1], add_up(values, ops.zeros_like(count_up(count, values)), 1)
        return make_coordinates(indices, values, self.shape, True)
    if count < 2:
        return make_coordinates(indices, values, self.shape, True)
    keys, order = ops.sort(keys_of(rows_of(indices), self.shape[:rank]), 0, False)
    differs = ops.ne(keys[1:], keys[:-1])
    indices, values = ops.index_select(indices, 1, order), ops.index_select(values, 0, order)
    if not bool(ops.all(differs)):
        first = ops.cat((ops.ones((1,), dtype=differs.dtype, device=differs.device), differs), 0)
        place = ops.sub(ops.cumsum(first.long(), 0), 1)
        indices = ops.index_select(indices, 1, ops.nonzero(first)[:, 0])
        values = add_up(values, place, indices.shape[1])
    return make_coordinates(indices, values, self.shape, True)


def to_dense(x):
    """Return a tensor of coordinates as a strided one."""
    indices, values = parts_of(x)
    rank, dense = indices.shape[0], tuple(values.shape[1:])
    if rank == 0:
        place = ops.zeros_like(count_up(values.shape[0], values))
        return ops.reshape(add_up(values, place, 1), tuple(x.shape))
    box = tuple(x.shape[:rank])
    filled = add_up(values, keys_of(rows_of(indices), box), product(box))
    return ops.reshape(filled, (*box, *dense))


def from_dense(x, sparse=None):
    """Return a strided tensor in coordinates; the last axes beyond `sparse` of them stay dense."""
    sparse = x.ndim if sparse is None else sparse
    held = ops.ne(x.detach(), 0)
    if sparse < x.ndim:
        held = ops.any(ops.reshape(held, (*x.shape[:sparse], product(x.shape[sparse:]))), -1)
    if sparse == 0:
        count = int(bool(ops.any(held)))
        indices = ops.zeros((0, count), dtype=OBJECTS["int64"], device=x.device)
        return make_coordinates(indices, ops.unsqueeze(x, 0)[:count], x.shape, True)
    indices = ops.contiguous(ops.transpose(ops.nonzero(held), 0, 1))
    return make_coordinates(indices, take(x, indices), x.shape, True)


def take(x, indices):
    """Return the elements, or slices, of a strided tensor at columns of indices."""
    rank = indices.shape[0]
    if rank == 0:
        return ops.expand(ops.unsqueeze(x, 0), (indices.shape[1], *x.shape))
    box = tuple(x.shape[:rank])
    flat = ops.reshape(x, (product(box), *x.shape[rank:]))
    return ops.index_select(flat, 0, keys_of(rows_of(indices), box))


def look_up(x, indices):
    """Return the values of a tensor of coordinates at columns of indices: 0 where it has none."""
    x = coalesce(x)
    mine, values = parts_of(x)
    if mine.shape[0] == 0:
        whole = values if values.shape[0] else ops.zeros((1, *values.shape[1:]), dtype=values.dtype,
                                                         device=values.device)
        return ops.expand(whole, (indices.shape[1], *values.shape[1:]))
    if values.shape[0] == 0:
        return ops.zeros((indices.shape[1], *values.shape[1:]), dtype=values.dtype, device=values.device)
    have, wanted = joint_keys(rows_of(mine), rows_of(indices), x.shape[:sparse_dim(x)])
    place, found = find(wanted, have)
    picked = ops.index_select(values, 0, place)
    mask = ops.reshape(found, (-1, *(1 for _ in values.shape[1:])))
    return ops.where(mask, picked, ops.zeros_like(picked))


def in_pattern(x, mask):
    """Return a tensor's values at the places of a tensor of coordinates, as a tensor with its indices."""
    indices = parts_of(mask)[0]
    return with_values(mask, take(x, indices) if not is_coordinates(x) else look_up(x, indices))
