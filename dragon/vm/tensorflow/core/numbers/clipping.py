"""Tensors and gradients within bounds."""
from dragon import _C
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.bounds import greater_of, lesser_of
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.tensor import ops


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Return the numbers with those outside of bounds replaced by the bounds.

    Parameters
    ----------
    t : Tensor
        The numbers.
    clip_value_min, clip_value_max : Union[number, Tensor]
        The bounds.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of the same shape.

    Examples
    --------
    >>> tf.clip_by_value([-2.0, 0.5, 7.0], 0.0, 1.0)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0. , 0.5, 1. ], dtype=float32)>

    """
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_value(t.values, clip_value_min, clip_value_max), t.indices, t.dense_shape)
    x = take(t)
    low, high = (take(bound, None if isinstance(bound, _C.Tensor) else x.dtype)
                 for bound in (clip_value_min, clip_value_max))
    return greater_of(lesser_of(x, high), low)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Return the numbers scaled down, if need be, to a length (along some axes) of at most `clip_norm`."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_norm(t.values, clip_norm, axes), t.indices, t.dense_shape)
    x = take(t)
    bound = take(clip_norm, None if isinstance(clip_norm, _C.Tensor) else x.dtype)
    squares = ops.sum(x * x, axes, True)
    some = squares > 0
    # The root of zero has no gradient.
    length = ops.where(some, ops.sqrt(ops.where(some, squares, ops.ones_like(squares))), squares)
    return x * bound / greater_of(length, bound)


def global_norm(t_list, name=None):
    """Return the length of all numbers of several tensors together; None is passed over."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received: {type(t_list)}")
    parts = [take(item.values if isinstance(item, IndexedSlices) else item) for item in t_list if item is not None]
    if not parts:
        raise ValueError(f"tf.linalg.global_norm: expected at least one tensor. Received: {t_list!r}")
    return ops.sqrt(ops.sum(ops.stack([ops.sum(part * part) for part in parts])))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Return several tensors scaled down, if need be, to a common length of at most `clip_norm`, and that length."""
    norm = global_norm(t_list) if use_norm is None else take(use_norm)
    bound = take(clip_norm, None if isinstance(clip_norm, _C.Tensor) else norm.dtype)
    scale = bound * lesser_of(1 / norm, 1 / bound)
    # Of an infinite or undefined length nothing is left but that fact.
    scale = scale + (norm - norm)

    def clip(item):
        if item is None:
            return None
        if isinstance(item, IndexedSlices):
            return IndexedSlices(item.values * scale, item.indices, item.dense_shape)
        return take(item) * ops.cast(scale, take(item).dtype)
    return [clip(item) for item in t_list], norm
