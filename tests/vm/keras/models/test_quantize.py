"""What is not there yet of quantized models says so; layers of one's own may have a quantized form."""
import pytest

from dragon.vm import keras


class Counted(keras.layers.Layer):
    """A layer that notes how it is quantized."""

    modes = ()

    def quantize(self, mode=None, type_check=True, config=None):
        self.modes = (*self.modes, mode)


def test_a_model_without_quantized_layers_refuses():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    with pytest.warns(UserWarning), pytest.raises(NotImplementedError, match="no layer of 'sequential"):
        model.quantize("int8")
    with pytest.raises(NotImplementedError, match="Received: filters=dense"):
        model.quantize("int8", filters="dense")


def test_layers_of_ones_own():
    layer = Counted()
    model = keras.Sequential([layer])
    model.quantize("int8")
    assert layer.modes == ("int8",)
