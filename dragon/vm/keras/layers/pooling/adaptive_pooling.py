"""Pools that give as many places as one asks for, whatever the size of the input."""
from dragon.vm.keras.core.config import standardize_data_format
from dragon.vm.keras.core.configuration import of_ranks
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.windows.geometry import with_spatial
from dragon.vm.shared.windows.pooling import adaptive_pool


class AdaptivePooling(Layer):
    """A pool over as many nearly equal parts of `rank` axes as the result has places.

    Parameters
    ----------
    output_size : Union[int, Sequence[int]]
        The spatial size of the result.

    """

    rank = None
    kind = None

    def __init__(self, output_size, data_format=None, **kwargs):
        count = 1 if isinstance(output_size, int) else (
            len(output_size) if isinstance(output_size, (tuple, list)) else None)
        if count is None or not isinstance(output_size, int) and count != self.rank:
            # Keras tells a wrong length from a wrong type along one axis only.
            kind = ValueError if self.rank == 1 and count is not None else TypeError
            raise kind(f"`output_size` must be an integer or a tuple of {self.rank} integers. Received: {output_size} "
                       f"of type {type(output_size)}")
        super().__init__(**kwargs)
        self.output_size = (output_size,) * self.rank if isinstance(output_size, int) else tuple(output_size)
        self.data_format = standardize_data_format(data_format)

    def call(self, inputs):
        return adaptive_pool(self.kind, inputs, self.output_size, self.data_format)

    def compute_output_shape(self, input_shape):
        channels = input_shape[-1 if self.data_format == "channels_last" else 1]
        return with_spatial(input_shape, channels, self.output_size, self.data_format)


AdaptiveAveragePooling1D, AdaptiveAveragePooling2D, AdaptiveAveragePooling3D = of_ranks(
    AdaptivePooling, "AdaptiveAveragePooling{}D",
    "Means of as many parts of {} as one asks for; see `AdaptivePooling` for the arguments.", kind="avg")
AdaptiveMaxPooling1D, AdaptiveMaxPooling2D, AdaptiveMaxPooling3D = of_ranks(
    AdaptivePooling, "AdaptiveMaxPooling{}D",
    "Maxima of as many parts of {} as one asks for; see `AdaptivePooling` for the arguments.", kind="max")
