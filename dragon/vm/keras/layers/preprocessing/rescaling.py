"""Numbers times a scale plus an offset."""

from dragon.vm.keras.core.config import image_data_format
from dragon.vm.keras.core.convert import convert_to_tensor, dense_of, is_parted, with_values
from dragon.vm.keras.core.registry import with_objects
from dragon.vm.keras.layers.preprocessing.data_layer import DataLayer
from dragon.vm.keras.saving.serialization import serialize_keras_object
from dragon.vm.shared.tensors.tensor import ops


class Rescaling(DataLayer):
    """Multiply by a scale and add an offset, in training and in inference.

    Parameters
    ----------
    scale : Union[float, Sequence[float]]
        One factor, or one for each channel.
    offset : Union[float, Sequence[float]], optional, default=0.0
        What is added.

    Examples
    --------
    >>> np.asarray(keras.layers.Rescaling(1.0 / 255)(np.array([0, 255])))
    array([0., 1.], dtype=float32)

    """

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale
        self.offset = offset
        self.supports_masking = True

    def call(self, inputs):
        """Rescale the inputs."""
        if is_parted(inputs):
            return with_values(inputs, self.call) if not self.offset else self.call(dense_of(inputs))
        dtype = self.compute_dtype
        scale, offset = (value if isinstance(value, (int, float)) else convert_to_tensor(value, dtype=dtype)
                         for value in (self.scale, self.offset))
        rank = len(getattr(scale, "shape", ()))
        if rank and image_data_format() == "channels_first":
            scale = ops.reshape(scale, tuple(scale.shape) + (1,) * (3 - rank))
        return ops.add(ops.mul(convert_to_tensor(inputs, dtype=dtype), scale), offset)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        return {**super().get_config(), "scale": serialize_keras_object(self.scale),
                "offset": serialize_keras_object(self.offset)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**with_objects(config, "scale offset", custom_objects))
