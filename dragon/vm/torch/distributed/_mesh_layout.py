"""How the axes of a mesh go through its ranks."""
import itertools
import math


class Grid:
    """Numbers in an array of some axes, each of which steps through a list of ranks by one stride or several.

    Parameters
    ----------
    axes : Sequence[Tuple[Tuple[int, int], ...]]
        For each axis its sizes and strides, one pair where the axis is no product of others.

    """

    def __init__(self, axes):
        self.axes = tuple(tuple(axis) for axis in axes)

    @classmethod
    def of_shape(cls, shape):
        """Return the grid that goes through a list in row-major order."""
        return cls([((size, math.prod(shape[place + 1:])),) for place, size in enumerate(shape)])

    shape = property(lambda self: tuple(math.prod(size for size, _ in axis) for axis in self.axes),
                     doc="tuple: how many places each axis has.")

    @staticmethod
    def joined(axes):
        """Return the axis that is several, one within the other: neighbours whose steps follow each other are one."""
        found = []
        for size, stride in (pair for axis in axes for pair in axis):
            if size == 1:
                continue
            if found and found[-1][1] == size * stride:
                found[-1] = found[-1][0] * size, stride
            else:
                found.append((size, stride))
        return tuple(found) or ((1, 1),)

    def offsets(self, axis):
        """Return the places that an axis steps through."""
        steps = [[place * stride for place in range(size)] for size, stride in self.axes[axis]]
        return [sum(each) for each in itertools.product(*steps)]

    def places(self):
        """Return all places, in row-major order of the axes."""
        return [sum(each) for each in itertools.product(*(self.offsets(axis) for axis in range(len(self.axes))))]

    def copies(self, total):
        """Return where in a list of some length the grid can begin: with its copies it goes through all of the list."""
        taken, found = set(), []
        for start in range(total):
            if start not in taken:
                found.append(start)
                taken.update(start + place for place in self.places())
        return found
