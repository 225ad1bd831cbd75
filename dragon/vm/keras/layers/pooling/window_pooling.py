"""Means and maxima of windows."""
from dragon.vm.keras.core.config import standardize_data_format
from dragon.vm.keras.core.configuration import of_ranks
from dragon.vm.keras.core.settings import int_tuple
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.ops.nn.pooling import pooled
from dragon.vm.shared.windows.pooling import average_pool, max_pool, pooled_shape


class WindowPooling(Layer):
    """A pool along `rank` axes.

    Parameters
    ----------
    pool_size : Union[int, Sequence[int]]
        The window; 2 along each axis for maxima, unless given.
    strides : Union[int, Sequence[int]], optional
        The steps of the window; the window itself if None.
    padding : str, optional, default="valid"
        "valid" or "same".

    """

    _arguments = "pool_size padding ..."

    rank = None

    def __init__(self, pool_size, strides=None, padding="valid", data_format=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.pool_size = int_tuple(pool_size, self.rank, "pool_size")
        self.strides = int_tuple(pool_size if strides is None else strides, self.rank, "strides", allow_zero=True)
        self.padding = padding
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self._build_at_init()

    def compute_output_shape(self, input_shape):
        if self.padding not in ("valid", "same"):
            raise ValueError("Argument `padding` must be either 'valid' or 'same'. "
                             f"Received: padding={self.padding}")
        return pooled_shape(input_shape, self.pool_size, self.strides, self.padding, self.data_format)


class AveragePooling(WindowPooling):
    """The means of windows."""

    def call(self, inputs):
        return pooled(average_pool, inputs, self.pool_size, self.strides, self.padding, self.data_format)


class MaxPooling(WindowPooling):
    """The largest elements of windows."""

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None, name=None, **kwargs):
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)

    def call(self, inputs):
        return pooled(max_pool, inputs, self.pool_size, self.strides, self.padding, self.data_format)


AveragePooling1D, AveragePooling2D, AveragePooling3D = of_ranks(
    AveragePooling, "AveragePooling{}D", "The means of windows along {}. ...")
MaxPooling1D, MaxPooling2D, MaxPooling3D = of_ranks(
    MaxPooling, "MaxPooling{}D", "The largest elements of windows along {}. ...")
