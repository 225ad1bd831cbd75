"""Layers around recurrent and other layers, and convolutional LSTMs, beside the genuine ones."""
import numpy as np
import pytest
from harness.keras_layer import check_layer
from harness.subresults import each

X = (3, 5, 4)
MASK = np.array([[1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [1, 1, 1, 1, 1]], bool)


@each("mode", ["concat", "sum", "ave", "mul", None])
@each("masked", [False, True])
@each("options", [{"return_sequences": True}, {"return_state": True}])
def test_bidirectional(mode, masked, options):
    """Both directions, merged."""
    def make(keras, more):
        inner = keras.layers.LSTM if masked else keras.layers.GRU
        return keras.layers.Bidirectional(inner(6, name="inner", **options, **more), merge_mode=mode, name="probe")
    check_layer(make, X, masks=MASK if masked else None, training=(False,), mixed=False, symbolic=False)


def test_bidirectional_shapes():
    """Symbolic outputs."""
    def make(keras, more):
        return keras.layers.Bidirectional(keras.layers.LSTM(6, name="inner", return_sequences=True), name="probe",
                                          **more)
    check_layer(make, X, training=(False,), mixed=False)


@pytest.mark.parametrize("inner, shape", [
    (lambda layers: layers.Dense(3, name="inner"), (2, 5, 4)),
    (lambda layers: layers.LSTM(3, name="inner"), (2, 3, 5, 4)),
    (lambda layers: layers.Conv2D(3, 2, name="inner"), (2, 3, 5, 4, 2)),
    (lambda layers: layers.BatchNormalization(name="inner"), (4, 3, 5)),
])
def test_time_distributed(inner, shape):
    """Every step goes through the same layer."""
    def make(keras, more):
        return keras.layers.TimeDistributed(inner(keras.layers), name="probe")
    check_layer(make, shape, mixed=False)


@pytest.mark.parametrize("name, shape, config", [
    ("ConvLSTM1D", (2, 3, 6, 2), {"return_sequences": True, "return_state": True}),
    ("ConvLSTM1D", (2, 3, 6, 2), {"padding": "same", "dilation_rate": 2, "use_bias": False}),
    ("ConvLSTM2D", (2, 3, 6, 5, 2), {"padding": "same", "strides": 2, "return_sequences": True}),
    ("ConvLSTM2D", (2, 3, 6, 5, 2), {"unit_forget_bias": False, "activation": "relu", "go_backwards": True,
                                     "return_sequences": True}),
    ("ConvLSTM3D", (2, 2, 4, 3, 3, 2), {}),
])
def test_convolutional(name, shape, config):
    """Convolutions in the gates."""
    masks = None if name == "ConvLSTM3D" else np.array([[1, 0, 1], [1, 1, 0]], bool)
    check_layer(name, shape, {"filters": 2, "kernel_size": 2, **config}, masks=masks, training=(False,), mixed=False)


def test_convolutional_dropout():
    """Masks of their own for all gates."""
    check_layer("ConvLSTM1D", (2, 3, 6, 2), {"filters": 2, "kernel_size": 2, "dropout": 0.3, "recurrent_dropout": 0.2,
                                             "seed": 1}, training=(True,), mixed=False)
