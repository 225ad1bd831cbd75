"""The result of `tf.shape` while a function is captured: a tensor that follows the batch, and sizes beside it."""
from dragon.vm.shared.tensors.indexing import get_item
from dragon.vm.shared.tensors.tensor import Tensor, ops


class Sizes(Tensor):
    """One size or several, as a tensor; where a shape is asked for, the sizes themselves are taken."""

    def __getitem__(self, key):
        found = get_item(self, key)
        try:
            return with_sizes(found, self._sizes[key])
        except TypeError:
            return found

    def __iter__(self):
        return iter([self[place] for place in range(len(self._sizes))])

    def __add__(self, other):
        return _follow(self, Tensor.__add__(self, other), other, lambda size, by: size + by)

    def __sub__(self, other):
        return _follow(self, Tensor.__sub__(self, other), other, lambda size, by: size - by)

    def __mul__(self, other):
        return _follow(self, Tensor.__mul__(self, other), other, lambda size, by: size * by)

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other):
        return _follow(self, Tensor.__floordiv__(self, other), other, lambda size, by: size // by)

    __hash__ = Tensor.__hash__


def sizes_of(value):
    """Return the sizes beside a tensor, an int as it is, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else getattr(value, "_sizes", None)


def with_sizes(tensor, sizes):
    """Return a tensor with sizes beside it."""
    tensor.__class__ = Sizes
    tensor._sizes = sizes
    return tensor


def _follow(x, result, other, compute):
    """Return the result of an operator with the sizes that follow from those of its operands."""
    by = sizes_of(other)
    if not isinstance(by, int) or not isinstance(x._sizes, int) or result is NotImplemented:
        return result
    return with_sizes(result, compute(x._sizes, by))


def captured_shape(shape, dtype):
    """Return sizes as a tensor of a captured graph."""
    numbers = [ops.sum(ops.full((size,), 1, dtype=dtype), dtype=dtype) for size in shape]
    return with_sizes(ops.stack(numbers) if numbers else ops.zeros((0,), dtype=dtype), tuple(shape))


def joined(result, values):
    """Return what was stacked or concatenated of sizes with the sizes beside it, if all have some."""
    if not any(type(value) is Sizes for value in values):
        return result
    parts = []
    for value in values:
        sizes = list(value) if isinstance(value, (list, tuple)) else sizes_of(value)
        if sizes is None or isinstance(sizes, list) and not all(isinstance(size, int) for size in sizes):
            return result
        parts.extend([sizes] if isinstance(sizes, int) else sizes)
    return with_sizes(result, tuple(parts))
