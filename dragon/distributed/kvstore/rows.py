"""Gradients of which few rows are there, and sums of gradients."""
from dataclasses import dataclass
from typing import Any

from dragon import _C, ops
from dragon.tensor import tensor


@dataclass
class Rows:
    """Some rows of a tensor; all others are zero.

    Parameters
    ----------
    indices : Tensor
        Their numbers, integers; a row that is named twice counts twice.
    values : Tensor
        The rows.

    """

    indices: Any
    values: Any

    def __post_init__(self):
        self.indices, self.values = as_native(self.indices, "Rows"), as_native(self.values, "Rows")
        if self.indices.ndim != 1 or not self.values.ndim or len(self.indices) != len(self.values):
            raise ValueError(f"Rows: got indices of shape {tuple(self.indices.shape)} and values of shape "
                             f"{tuple(self.values.shape)}, expected one number for each row")
        self.indices = ops.cast(self.indices, "int64")

    def merged(self):
        """Return the same with each row named once, in ascending order."""
        if not len(self.indices):
            return self
        places, inverse, _ = ops.unique(self.indices, return_inverse=True)
        start = ops.full((len(places), *self.values.shape[1:]), 0, dtype=self.values.dtype)
        return Rows(places, ops.index_add(start, 0, inverse, self.values))

    def whole(self, like):
        """Return all rows, as many as another tensor has."""
        checked_indices(self.indices, like)
        if tuple(self.values.shape[1:]) != tuple(like.shape[1:]):
            raise ValueError(f"kvstore: got rows of shape {tuple(self.values.shape[1:])}, expected those of a value of "
                             f"shape {tuple(like.shape)}")
        return ops.index_add(ops.full_like(like, 0), 0, self.indices, ops.cast(self.values, like.dtype))


def as_native(value, who):
    """Return a tensor of any face, or an array, as a tensor of the engine without a history."""
    if isinstance(value, _C.Tensor):
        return value.detach() if hasattr(value, "detach") else ops.copy(value).detach()
    if type(value).__module__ == "numpy":
        return tensor(value)
    raise TypeError(f"{who}: got {type(value).__name__} {value!r:.60}, expected a tensor or an array")


def checked_indices(indices, like):
    """Raise an IndexError where a row is not there."""
    count = like.shape[0] if like.ndim else 0
    if not len(indices):
        return
    first, last = int(ops.amin(indices)), int(ops.amax(indices))
    if first < 0 or last >= count:
        raise IndexError(f"kvstore: got row numbers from {first} to {last}, expected 0 to {count - 1}: the value has "
                         f"shape {tuple(like.shape)}")


def total(values, like, device):
    """Return the sum of several gradients on one device; of nothing but rows, these rows, each once."""
    if all(isinstance(value, Rows) for value in values):
        return Rows(ops.cat([value.indices.to(device) for value in values]),
                    ops.cat([value.values.to(device) for value in values])).merged()
    found = None
    for value in values:
        value = (value.whole(like) if isinstance(value, Rows) else value).to(device)
        found = value if found is None else ops.add(found, value)
    return found
