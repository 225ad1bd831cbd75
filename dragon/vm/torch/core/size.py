"""Shapes as PyTorch shows them."""
import math

from dragon import _C


class Size(_C.Shape):
    """The sizes of a tensor's axes.

    Parameters
    ----------
    iterable : Iterable[int], optional
        The sizes.

    Examples
    --------
    >>> size = torch.zeros(2, 3).size()
    >>> size
    torch.Size([2, 3])
    >>> size.numel(), size[0]
    (6, 2)

    """

    __slots__ = ()

    def numel(self):
        """Return how many elements a tensor of this shape has."""
        return math.prod(self)

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self))

    def __mul__(self, count):
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)
