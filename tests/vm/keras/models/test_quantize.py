"""Layers of one's own may have a quantized form."""
import pytest

from dragon.vm import keras


class Counted(keras.layers.Layer):
    """A layer that notes how it is quantized, and gets a weight for it."""

    modes = ()

    def call(self, x):
        return x

    def quantize(self, mode=None, type_check=True, config=None):
        self.scale = self.add_weight(name="scale", shape=())
        self.modes = (*self.modes, mode, type(config).__name__)


def test_layers_of_ones_own():
    layer = Counted()
    model = keras.Sequential([keras.Input((3,)), layer])
    with pytest.warns(UserWarning, match="InputLayer does not have a `quantize`"):
        model.quantize("int8")
    assert layer.modes == ("int8", "Int8QuantizationConfig") and len(layer.weights) == 1


def test_a_model_without_quantized_layers_stays_as_it_is():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dropout(0.5)])
    with pytest.warns(UserWarning, match="Dropout does not have a `quantize`"):
        model.quantize("int8")
    with pytest.raises(ValueError, match="is not built yet"):
        keras.Sequential([Counted()]).quantize("int8")
