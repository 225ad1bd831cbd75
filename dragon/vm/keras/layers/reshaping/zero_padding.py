"""Adding zeros around images and their like."""
from dragon.vm.keras.core.settings import int_tuple
from dragon.vm.keras.layers.reshaping.spatial import Spatial, both_sides
from dragon.vm.shared.tensors.tensor import ops


class ZeroPadding(Spatial):
    """A layer that adds zeros at the start and the end of `rank` axes.

    Parameters
    ----------
    padding : Union[int, Sequence], optional, default=1
        How many: one number, or for each axis a number or a pair.

    """

    def __init__(self, padding=1, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.prepare(data_format)
        self.padding = both_sides(padding, self.rank, "padding")

    sides = property(lambda self: self.padding, doc="What is added at the start and the end of each axis.")

    def resized(self, size, axis):
        """Return a size with what is added."""
        return size + sum(self.sides[axis])

    def call(self, inputs):
        # The engine counts from the last axis on.
        widths = [0, 0] if self.data_format == "channels_last" else []
        for start, end in reversed(self.sides):
            widths += [start, end]
        return ops.pad(inputs, widths)


class ZeroPadding1D(ZeroPadding, rank=1):
    """Add zeros around sequences.

    Parameters
    ----------
    padding : Union[int, Sequence[int]], optional, default=1
        How many at the start and at the end.

    """

    def __init__(self, padding=1, data_format=None, **kwargs):
        super().__init__(0, data_format, **kwargs)
        self.padding = int_tuple(padding, 2, "padding", allow_zero=True)

    sides = property(lambda self: (self.padding,), doc="What is added at the start and the end.")


class ZeroPadding2D(ZeroPadding, rank=2):
    """Add zeros around images: `(N, H, W, C)` becomes `(N, H + top + bottom, W + left + right, C)`. ...

    Examples
    --------
    >>> tuple(keras.layers.ZeroPadding2D(((1, 2), (3, 4)))(np.zeros((1, 10, 10, 3))).shape)
    (1, 13, 17, 3)

    """


class ZeroPadding3D(ZeroPadding, rank=3):
    """Add zeros around volumes; see `ZeroPadding` for the arguments."""
