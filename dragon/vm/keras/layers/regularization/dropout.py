"""Dropout: elements, or whole channels, are left out at random."""
from dragon.vm.keras.core.config import standardize_data_format
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.regularization.noise import Noise


def valid_noise_shape(shape):
    """Return a noise shape as a tuple, or raise for what is none."""
    if shape is None:
        return None
    wrong = "Invalid value received for argument `noise_shape`. Expected "
    if isinstance(shape, str) or not hasattr(shape, "__iter__"):
        raise ValueError(f"{wrong}a tuple or list of integers. Received: noise_shape={shape}")
    shape = tuple(shape)
    for position, size in enumerate(shape):
        if size is not None and not isinstance(size, int):
            raise ValueError(f"{wrong}all elements to be integers or None. Received element at index {position}: "
                             f"{size} (type: {type(size).__name__})")
        if size is not None and size <= 0:
            raise ValueError(f"{wrong}all dimensions to be positive integers or None. Received negative or zero value "
                             f"at index {position}: {size}")
    return shape


class Dropout(Noise):
    """Set elements to zero with a probability in training, and scale the rest so that the sum stays. ...

    Examples
    --------
    >>> layer = keras.layers.Dropout(0.5, seed=1)
    >>> np.asarray(layer(np.ones(3, "float32")))
    array([1., 1., 1.], dtype=float32)
    >>> np.unique(layer(np.ones(1000, "float32"), training=True))
    array([0., 2.], dtype=float32)

    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(rate, seed, **kwargs)
        self.noise_shape = valid_noise_shape(noise_shape)

    def disturbed(self, inputs):
        """Return the inputs with elements left out."""
        from dragon.vm.keras.random import dropout
        return dropout(inputs, self.rate, noise_shape=self.drawn_shape(inputs), seed=self.seed_generator)

    def drawn_shape(self, inputs):
        """Return the shape of what is drawn, None for that of the input."""
        return self.noise_shape


class BaseSpatialDropout(Dropout):
    """A dropout of whole channels of `rank` axes.

    Parameters
    ----------
    data_format : str, optional
        "channels_last" or "channels_first"; `keras.config.image_data_format()` if None. Sequences have none.

    """

    rank = None

    def __init__(self, rate, data_format=None, seed=None, name=None, dtype=None):
        super().__init__(rate, seed=seed, name=name, dtype=dtype)
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def drawn_shape(self, inputs):
        """Return 1 for each place of a channel."""
        shape, ones = tuple(inputs.shape), (1,) * self.rank
        return (shape[0], *ones, shape[-1]) if self.data_format == "channels_last" else (*shape[:2], *ones)

    def get_config(self):
        return {"rate": self.rate, "seed": self.seed, "name": self.name, "dtype": self.dtype,
                "data_format": self.data_format}


class SpatialDropout1D(BaseSpatialDropout, rank=1):
    """Leave out whole features of sequences at random; see `Dropout` for the arguments."""

    def __init__(self, rate, seed=None, name=None, dtype=None):
        super().__init__(rate, "channels_last", seed=seed, name=name, dtype=dtype)


class SpatialDropout2D(BaseSpatialDropout, rank=2):
    """Leave out whole channels of images at random; see `BaseSpatialDropout` for the arguments."""


class SpatialDropout3D(BaseSpatialDropout, rank=3):
    """Leave out whole channels of volumes at random; see `BaseSpatialDropout` for the arguments."""
