"""An array of processes: where this one stands, and with whom it does things along each axis."""
from dragon.distributed.errors import DistributedError


class Mesh:
    """An array of processes.

    Parameters
    ----------
    shape : Sequence[int]
        How many processes there are along each axis.
    coordinate : Optional[Sequence[int]]
        Where this process stands; None outside.
    groups : Sequence[dragon.distributed.group.ProcessGroup]
        For each axis, the group of those that differ from this process in their place along it alone.

    """

    def __init__(self, shape, coordinate, groups):
        self.shape, self.groups = tuple(shape), tuple(groups)
        self.coordinate = None if coordinate is None else tuple(coordinate)

    ndim = property(lambda self: len(self.shape), doc="int: the number of axes.")

    def run(self, axis, call):
        """Make a call of the number of an axis's group in its turn, after what was begun there before."""
        group = self.groups[axis]
        if group.number is None:
            raise DistributedError(f"mesh: got a call along axis {axis}, whose group of {group.size} processes was "
                                   "destroyed, expected one that is there: make a new mesh")
        return call(group.number)
