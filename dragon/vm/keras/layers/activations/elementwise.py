"""What layers share that give a number for each number."""
from dragon.vm.keras.layers.layer import Layer


class Elementwise(Layer):
    """A layer without weights whose result has the shape, and the mask, of its input."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self._build_at_init()

    def compute_output_shape(self, input_shape):
        """Return the shape of the result."""
        return input_shape
