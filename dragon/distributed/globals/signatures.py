"""What the processes along one axis of a mesh hold of a tensor: parts of it, all of it, or what sums up to it."""
import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Broadcast:
    """Each process has all of it."""

    def __str__(self):
        return "B"


@dataclasses.dataclass(frozen=True, slots=True)
class Split:
    """Each process has a part, cut along an axis.

    Parameters
    ----------
    axis : int
        The axis of the tensor.
    pieces : int, optional, default=1
        The axis is cut into so many pieces first, and each process has a part of each piece, one after the other.

    """

    axis: int
    pieces: int = 1

    def __str__(self):
        return f"S({self.axis})" if self.pieces == 1 else f"S({self.axis}, {self.pieces})"


@dataclasses.dataclass(frozen=True, slots=True)
class Partial:
    """Each process has a tensor of the whole shape; all of them reduced are the tensor.

    Parameters
    ----------
    reduction : str, optional, default="sum"
        "sum", "average", "product", "maximum" or "minimum".

    """

    reduction: str = "sum"

    def __str__(self):
        return f"P({self.reduction})"


BROADCAST, SUM = Broadcast(), Partial()


def is_split(signature, axis=None):
    """Return whether a signature cuts a tensor, along an axis if one is named."""
    return type(signature) is Split and axis in (None, signature.axis)


def is_partial(signature):
    """Return whether a signature leaves a reduction to be done."""
    return type(signature) is Partial
