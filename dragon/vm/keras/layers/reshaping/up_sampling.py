"""Making images larger without weights."""
from dragon.vm.keras.core.settings import int_tuple
from dragon.vm.keras.layers.reshaping.spatial import Spatial
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.tensor import ops


def repeated(x, factors, first):
    """Repeat every place along axes from `first` on: one copy of a view in which the new axes have stride 0."""
    shape = list(x.shape)
    split, wide = shape[:first], shape[:first]
    for axis, factor in enumerate(factors, start=first):
        split += [shape[axis], 1]
        wide += [shape[axis], factor]
        shape[axis] *= factor
    rest = list(x.shape)[first + len(factors):]
    return ops.reshape(ops.expand(ops.reshape(x, split + rest), wide + rest), shape)


class UpSampling(Spatial):
    """A layer that repeats every place along `rank` axes.

    Parameters
    ----------
    size : Union[int, Sequence[int]], optional, default=2
        How often.

    """

    def __init__(self, size=2, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.prepare(data_format)
        self.size = int_tuple(size, self.rank, "size")

    def resized(self, size, axis):
        """Return a size, that many times."""
        return size * self.size[axis]

    def call(self, inputs):
        return repeated(inputs, self.size, self.first_axis)


class UpSampling1D(UpSampling):
    """Repeat every step of sequences.

    Parameters
    ----------
    size : int, optional, default=2
        How often.

    """

    _left_out = "data_format"

    rank = 1

    def __init__(self, size=2, **kwargs):
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"Expected an integer value for `size`. Received: size={size} of type {type(size)}")
        if size <= 0:
            raise ValueError(f"Argument `size` should be a positive integer. Received: size={size}")
        super().__init__(1, "channels_last", **kwargs)
        self.size = size

    def resized(self, size, axis):
        return size * self.size

    def call(self, inputs):
        return repeated(inputs, (self.size,), 1)


class UpSampling2D(UpSampling, rank=2):
    """Make images larger by repeating rows and columns, or by interpolation.

    Parameters
    ----------
    size : Union[int, Sequence[int]], optional, default=(2, 2)
        How much larger.
    interpolation : str, optional, default="nearest"
        "nearest", or a name that `keras.ops.image.resize` knows.

    Examples
    --------
    >>> np.asarray(keras.layers.UpSampling2D((1, 2))(np.array([[[[1.0], [2.0]]]], "float32"))).ravel()
    array([1., 1., 2., 2.], dtype=float32)

    """

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(size, data_format, **kwargs)
        self.interpolation = expect(interpolation, str, "UpSampling2D", "interpolation").lower()

    def call(self, inputs):
        if self.interpolation == "nearest":
            return super().call(inputs)
        from dragon.vm.keras.ops.image import resize
        shape = self.compute_output_shape(tuple(inputs.shape))
        return resize(inputs, shape[self.first_axis:self.first_axis + 2], data_format=self.data_format,
                      interpolation=self.interpolation)


class UpSampling3D(UpSampling, rank=3):
    """Make volumes larger by repeating slices; see `UpSampling` for the arguments."""
