"""Tensors joined, cut into pieces and repeated."""
from dragon.vm.keras.ops.common import (as_axis, canonical_axis, cast_to, concrete, dtype_of, named, operation, ops,
                                        result_type, tensor)


def _join_list(xs):
    """Return tensors in the dtype they have in common."""
    xs = [tensor(x) for x in (xs if isinstance(xs, (list, tuple)) else ops.unbind(tensor(xs)))]
    dtypes = list(map(dtype_of, xs))
    dtype = result_type(*dtypes) if len(set(dtypes)) > 1 else dtypes[0]
    return [cast_to(x, dtype) for x in xs]


@operation(moves=(0,))
def concatenate(xs, axis=0):
    """Join tensors along an axis.

    Parameters
    ----------
    xs : Sequence[Tensor]
        The tensors; the dtype is the common one.
    axis : Optional[int], optional, default=0
        The axis; None joins all elements as one row.

    Returns
    -------
    Tensor
        The result.

    Examples
    --------
    >>> np.asarray(keras.ops.concatenate([np.array([[1, 2]]), np.array([[3, 4]])], axis=1))
    array([[1, 2, 3, 4]])

    """
    xs = _join_list(xs)
    if axis is None:
        return ops.cat([ops.reshape(x, (-1,)) for x in xs], 0)
    return ops.cat(xs, canonical_axis(axis, xs[0].ndim) if xs else axis)


@operation(moves=(0, 1))
def append(x1, x2, axis=None):
    """Join two tensors along an axis; as rows by default."""
    x1, x2 = _join_list([x1, x2])
    if axis is None:
        x1, x2, axis = ops.reshape(x1, (-1,)), ops.reshape(x2, (-1,)), 0
    return ops.cat([x1, x2], axis)


@operation(moves=(0,))
def hstack(xs):
    """Join tensors along their second axis; rows along the first."""
    xs = _join_list(xs)
    return ops.cat(xs, 0 if xs[0].ndim == 1 else 1)


def _split_places(size, sections):
    """Return the sizes of the pieces that places of an axis are cut into."""
    ends = [0, *[min(int(place), size) for place in sections], size]
    return [max(end - start, 0) for start, end in zip(ends, ends[1:])]


@operation(moves=(0,))
def split(x, indices_or_sections, axis=0):
    """Cut a tensor into pieces.

    Parameters
    ----------
    indices_or_sections : Union[int, Sequence[int]]
        Into how many equal pieces, or at which places.
    axis : int, optional, default=0
        Along which axis.

    Returns
    -------
    List[Tensor]
        Views.

    """
    x = tensor(x)
    axis = canonical_axis(axis, x.ndim)
    size = x.shape[axis]
    if not isinstance(indices_or_sections, int):
        return list(ops.split_with_sizes(x, _split_places(size, indices_or_sections), axis))
    if size % indices_or_sections:
        raise ValueError("`x` size along `axis` must be divisible by `indices_or_sections`. "
                         f"Received: indices_or_sections={indices_or_sections}, x.shape={tuple(x.shape)}, axis={axis}")
    return list(ops.split_with_sizes(x, [size // indices_or_sections] * indices_or_sections, axis))


@operation(moves=(0,))
def array_split(x, indices_or_sections, axis=0):
    """Cut a tensor into pieces that differ by one place at most."""
    return list(ops.tensor_split(tensor(x), indices_or_sections, axis))


@operation(moves=(0,))
def hsplit(x, indices_or_sections):
    """Cut a tensor along its second axis; a row along the first."""
    x = tensor(x)
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


@operation(moves=(0,))
def stack(x, axis=0):
    """Join tensors along a new axis.

    Parameters
    ----------
    x : Sequence[Tensor]
        Tensors of one shape.
    axis : int, optional, default=0
        Where the new axis stands.

    Returns
    -------
    Tensor
        With one axis more, as long as there are tensors.

    Examples
    --------
    >>> np.asarray(keras.ops.stack([np.array([1, 2]), np.array([3, 4])], axis=1))
    array([[1, 3],
           [2, 4]])

    """
    xs = _join_list(x)
    return ops.stack(xs, canonical_axis(axis, xs[0].ndim + 1) if xs else axis)


vstack = named(lambda xs: ops.cat(_join_list(xs), 0), "vstack", "Join tensors along their first axis.", moves=(0,))
dstack = named(lambda xs: ops.dstack(_join_list(xs)), "dstack", "Join tensors along their third axis.", moves=(0,))
vsplit = named(lambda x, indices_or_sections: split(x, indices_or_sections, 0), "vsplit",
               "Cut a tensor along its first axis.", moves=(0,))
dsplit = named(lambda x, indices_or_sections: split(x, indices_or_sections, 2), "dsplit",
               "Cut a tensor along its third axis.")


@operation(moves=(0,))
def tile(x, repeats):
    """Repeat a tensor along its axes.

    Parameters
    ----------
    repeats : Union[int, Sequence[int]]
        How often along each axis; more axes than the tensor has are put in front.

    """
    x = tensor(x)
    repeats = list(concrete(repeats))
    return ops.tile(x, [1] * (x.ndim - len(repeats)) + repeats)


@operation(moves=(0,))
def repeat(x, repeats, axis=None):
    """Repeat each element.

    Parameters
    ----------
    repeats : Union[int, Sequence[int], Tensor]
        How often all, or each place along the axis.
    axis : int, optional
        Along which axis; by default the elements count as one row.

    """
    x = tensor(x)
    x, axis = (ops.reshape(x, (-1,)), 0) if axis is None else (x, canonical_axis(axis, x.ndim))
    if isinstance(repeats, (list, tuple)) and len(repeats) == 1:
        repeats = repeats[0]
    if isinstance(repeats, int):
        if repeats < 0:
            raise ValueError(f"`repeats` must be numbers from 0 on. Received: repeats={repeats}")
        wide = ops.broadcast_to(ops.unsqueeze(x, axis + 1), (*x.shape[:axis + 1], repeats, *x.shape[axis + 1:]))
        return ops.flatten(wide, axis, axis + 1)
    if isinstance(repeats, (list, tuple)):  # plain numbers tell how long the result is without a look at a tensor
        import numpy as np
        counts = [as_axis(count, "repeats") for count in repeats]
        if len(counts) != x.shape[axis] or any(count < 0 for count in counts):
            raise ValueError(f"`repeats` must be {x.shape[axis]} numbers from 0 on, one for each place along the axis. "
                             f"Received: repeats={repeats}")
        return ops.index_select(x, axis, tensor(np.repeat(np.arange(len(counts)), counts), "int64"))
    return ops.repeat_interleave(x, tensor(repeats, "int64"), axis)
