"""The base of layers that cut, pad or stretch spatial axes."""
from dragon.vm.keras.core.config import standardize_data_format
from dragon.vm.keras.core.settings import int_tuple
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer


def both_sides(value, rank, name):
    """Return two numbers, for the start and the end, for each of `rank` axes.

    Parameters
    ----------
    value : Union[int, Sequence]
        One number, or for each axis a number or a pair.
    rank : int
        How many axes.
    name : str
        Of the argument, for errors.

    """
    if isinstance(value, int):
        if value < 0:
            raise ValueError(f"`{name}` cannot be negative. Received: {name}={value}.")
        return ((value, value),) * rank
    if not hasattr(value, "__len__"):
        raise ValueError(f"`{name}` should be either an int, a tuple of {rank} ints, one for each axis, or a tuple of "
                         f"{rank} tuples of 2 ints, for start and end. Received: {name}={value}.")
    if len(value) != rank:
        raise ValueError(f"`{name}` should have {rank} elements. Received: {name}={value}.")
    return tuple(int_tuple(entry, 2, f"entry {axis + 1} of {name}", allow_zero=True)
                 for axis, entry in enumerate(value))


class Spatial(Layer):
    """A layer that changes the sizes of `rank` spatial axes."""

    rank = None

    def prepare(self, data_format):
        """Check and take where the channels are."""
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    first_axis = property(lambda self: 1 if self.data_format == "channels_last" else 2, doc="The first spatial axis.")

    def resized(self, size, axis):
        """Return what becomes of a size along the spatial axis of that number."""
        raise NotImplementedError(f"{type(self).__name__}: resized")

    def compute_output_shape(self, input_shape):
        made, first = list(input_shape), self.first_axis
        for axis in range(self.rank):
            size = made[first + axis]
            made[first + axis] = None if size is None else self.resized(size, axis)
        if any(size is not None and size <= 0 for size in made[first:first + self.rank]):
            what = ("Values in `cropping` argument should be smaller than the corresponding spatial dimension of the "
                    "input")
            if self.rank == 1:
                what = "`cropping` parameter of `Cropping1D` layer must be smaller than the input length"
            raise ValueError(f"{what}. Received: input_shape={input_shape}, cropping={self.cropping}")
        return tuple(made)
