"""Cutting places off."""
from dragon.vm.keras.core.settings import int_tuple
from dragon.vm.keras.layers.reshaping.spatial import Spatial, both_sides
from dragon.vm.shared.tensors.tensor import ops


class Cropping(Spatial):
    """A layer that cuts places off at the start and the end of `rank` axes; the result is a view.

    Parameters
    ----------
    cropping : Union[int, Sequence]
        How many places: one number, or for each axis a number or a pair.

    """

    def __init__(self, cropping, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.prepare(data_format)
        self.cropping = both_sides(cropping, self.rank, "cropping")

    sides = property(lambda self: self.cropping, doc="What is cut off at the start and the end of each axis.")

    def resized(self, size, axis):
        """Return a size without what is cut off."""
        return size - sum(self.sides[axis])

    def call(self, inputs):
        shape, first = self.compute_output_shape(tuple(inputs.shape)), self.first_axis
        for axis, (start, end) in enumerate(self.sides, start=first):
            # Also where nothing is cut off: the mask of the inputs is not that of another tensor.
            if start or end or axis == first:
                inputs = ops.narrow(inputs, axis, start, shape[axis])
        return inputs


class Cropping1D(Cropping):
    """Cut steps off sequences.

    Parameters
    ----------
    cropping : Union[int, Sequence[int]], optional, default=(1, 1)
        How many at the start and at the end.

    """

    _left_out = "data_format"

    rank = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(0, "channels_last", **kwargs)
        self.cropping = int_tuple(cropping, 2, "cropping", allow_zero=True)

    sides = property(lambda self: (self.cropping,), doc="What is cut off at the start and the end.")


class Cropping2D(Cropping, rank=2):
    """Cut rows and columns off images; see `Cropping` for the arguments."""

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(Cropping, rank=3):
    """Cut slices off volumes; see `Cropping` for the arguments."""

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)
