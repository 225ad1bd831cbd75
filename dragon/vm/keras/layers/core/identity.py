"""`Identity`: what comes in goes out."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.layer import Layer


class Identity(Layer):
    """Return the inputs as they are."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        """Return the inputs."""
        return inputs

    def compute_output_shape(self, input_shape):
        """Return the shape of the inputs."""
        return input_shape

    def compute_output_spec(self, inputs):
        """Return symbolic tensors like the inputs."""
        return tree.map_structure(lambda x: KerasTensor(x.shape, dtype=x.dtype, sparse=x.sparse), inputs)
