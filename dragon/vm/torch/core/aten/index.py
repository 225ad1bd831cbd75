"""Elements by their places: subscripts of tensors, unique elements, rows of tables."""
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.dtypes import OBJECTS


def subscript(indices):
    """Return what stands in brackets for a list of index tensors, in which None is a whole axis."""
    return tuple(slice(None) if index is None else index for index in indices)


def unique(self, dim, sorted, return_inverse, return_counts):
    """Return (elements, places, counts), empty tensors for what is not asked for."""
    torch = api()
    made = torch.unique(self, sorted, return_inverse, return_counts, dim=dim)
    made = list(made) if isinstance(made, tuple) else [made]
    inverse = made.pop(1) if return_inverse else self.new_empty((0,), dtype=OBJECTS["int64"])
    return made[0], inverse, made[1] if return_counts else self.new_empty((0,), dtype=OBJECTS["int64"])
