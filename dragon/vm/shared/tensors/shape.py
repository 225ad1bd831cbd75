"""`tf.TensorShape`: a tuple of sizes, some of which, or even their number, may not be known."""
import operator

from dragon import _C
from dragon.core.capture.sizes import is_followed
from dragon.vm.shared.naming import known_as


@known_as("tensorflow")
class TensorShape(_C.Shape):
    """The sizes of a tensor's axes; None where a size is not known.

    Parameters
    ----------
    dims : Union[Sequence[Optional[int]], int, None]
        The sizes; None says that not even their number is known.

    """

    _unknown = False

    def __new__(cls, dims):
        if isinstance(dims, TensorShape):
            return dims
        if dims is None:
            return UNKNOWN
        if not hasattr(dims, "__iter__"):
            dims = (dims,)
        return _C.Shape.__new__(cls, tuple(map(_as_size, dims)))

    def __repr__(self):
        return f"TensorShape({None if self._unknown else self._shown()})"

    def __str__(self):
        if self._unknown:
            return "<unknown>"
        sizes = self._shown()
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"

    def _shown(self):
        """Return the sizes as texts have them: None for one that may be another when the graph runs."""
        return [None if is_followed(size) else size for size in self]

    def __reduce__(self):
        return TensorShape, (self._sizes(),)

    def _sizes(self):
        return None if self._unknown else [*self]

    def __eq__(self, other):
        if isinstance(other, TensorShape):
            return self._unknown == other._unknown and tuple.__eq__(self, other)
        try:
            return self == TensorShape(other)
        except (TypeError, ValueError):
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return tuple.__hash__(self)

    def __bool__(self):
        return not self._unknown

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return TensorShape(other).concatenate(self)

    def __concat__(self, other):
        return self.concatenate(other)

    rank = property(lambda self: None if self._unknown else tuple.__len__(self), doc="Optional[int]: how many axes.")

    ndims = rank

    dims = property(lambda self: self._sizes(), doc="Optional[List[Optional[int]]]: the sizes.")

    def as_list(self):
        """Return the sizes as a list."""
        if self._unknown:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return [*self]

    def num_elements(self):
        """Return how many elements a tensor of this shape has; None if that is not known."""
        if not self.is_fully_defined():
            return None
        count = 1
        for size in self:
            count *= size
        return count

    def is_fully_defined(self):
        """Return whether all sizes are known."""
        return not self._unknown and None not in tuple(self)

    def assert_is_fully_defined(self):
        """Raise a ValueError unless all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined.")

    def is_compatible_with(self, other):
        """Return whether some shape fits both descriptions."""
        other = TensorShape(other)
        if self._unknown or other._unknown:
            return True
        return len(self) == len(other) and all(mine is None or theirs is None or mine == theirs
                                               for mine, theirs in zip(self, other))

    def assert_is_compatible_with(self, other):
        """Raise a ValueError unless some shape fits both descriptions."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def is_subtype_of(self, other):
        """Return whether every shape that fits this description fits the other."""
        other = TensorShape(other)
        if other._unknown:
            return True
        return not self._unknown and len(self) == len(other) and all(
            theirs is None or mine == theirs for mine, theirs in zip(self, other))

    def most_specific_compatible_shape(self, other):
        """Return the narrowest description that both fit."""
        other = TensorShape(other)
        if self._unknown or other._unknown or len(self) != len(other):
            return TensorShape(None)
        return TensorShape([mine if mine == theirs else None for mine, theirs in zip(self, other)])

    def merge_with(self, other):
        """Return what both descriptions say together; they must not contradict each other."""
        other = TensorShape(other)
        if self._unknown or other._unknown:
            return other if self._unknown else self
        self.assert_is_compatible_with(other)
        return TensorShape([theirs if mine is None else mine for mine, theirs in zip(self, other)])

    def concatenate(self, other):
        """Return the axes of this shape followed by the other's."""
        other = TensorShape(other)
        if self._unknown or other._unknown:
            return TensorShape(None)
        return TensorShape((*self, *other))

    def with_rank(self, rank):
        """Return the shape if it may have so many axes."""
        if self._unknown:
            return TensorShape([None] * rank)
        if len(self) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def with_rank_at_least(self, rank):
        """Return the shape unless it has fewer axes."""
        if not self._unknown and len(self) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """Return the shape unless it has more axes."""
        if not self._unknown and len(self) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self


class UnknownShape(TensorShape):
    """The shape of which nothing is known; its own class, so that others need not ask."""

    _unknown = True

    def __new__(cls):
        return _C.Shape.__new__(cls)

    def __len__(self):
        raise ValueError("Cannot take the length of shape with unknown rank.")

    def __iter__(self):
        raise ValueError("Cannot iterate over a shape with unknown rank.")

    def __getitem__(self, key):
        if not isinstance(key, slice):
            return None
        start, stop = key.start or 0, key.stop
        if key.step not in (None, 1) or stop is None or start < 0 or stop < 0:
            return self
        return TensorShape([None] * max(stop - start, 0))


UNKNOWN = UnknownShape()


def _as_size(size):
    """Return a size as an int, or None."""
    if size is None or isinstance(size, int) and size >= 0 and type(size) is not bool:
        return size  # a symbolic size of a capture stays what it is
    size = getattr(size, "value", size) if not hasattr(size, "__index__") else size
    if size is None:
        return None
    if not hasattr(size, "__index__"):
        raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got value '{size!r}' "
                        f"with type '{type(size)!r}'")
    plain = size if isinstance(size, int) and not isinstance(size, bool) else size.__index__()
    if plain == -1:
        return None
    if plain < 0:
        raise ValueError(f"Dimension {plain} must be >= 0")
    return plain


def as_shape(value):
    """Return what a `shape=` argument stands for, tensors included, as a tuple of ints."""
    if isinstance(value, _C.Tensor):
        sizes = getattr(value, "_sizes", None)
        value = (value.tolist() if value.size else []) if sizes is None else sizes
    if not isinstance(value, (list, tuple)):
        value = value.tolist() if hasattr(value, "tolist") else [value]
        value = value if isinstance(value, list) else [value]
    return tuple(size if isinstance(size, int) else _known(size) for size in value)


def _known(size):
    """Return a size that is a tensor, or a number of another library, as an int."""
    beside = getattr(size, "_sizes", None) if isinstance(size, _C.Tensor) else None
    if beside is not None:
        return beside
    if isinstance(size, _C.Tensor) and not size.ndim:
        size = size.item()
    try:
        return size if isinstance(size, int) else operator.index(size)
    except TypeError:
        raise TypeError(f"Expected sizes as integers. Received: {size!r}") from None
