"""The base of layers that give a number for each number."""
from dragon.vm.keras.layers.layer import Layer


class Elementwise(Layer):
    """A layer whose result has the shape, and the mask, of its input; subclasses end by calling `_build_at_init`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape):
        return input_shape
