"""Models with recurrent, attention and preprocessing layers in files, read by both Kerases."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, guest

TEXTS = ["the cat sat", "a dog sat on the cat", "dogs and cats"]


def recurrent(keras):
    """Return a model of recurrent layers and attention."""
    layers = keras.layers
    inputs = keras.Input((6,), dtype="int32")
    x = layers.Embedding(9, 8, mask_zero=True)(inputs)
    x = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(x)
    x = layers.RNN([layers.GRUCell(5), layers.SimpleRNNCell(6)], return_sequences=True)(x)
    x = layers.MultiHeadAttention(2, 3)(x, x)
    x = layers.TimeDistributed(layers.Dense(3))(x)
    return keras.Model(inputs, layers.GRU(4, reset_after=False)(x)), np.array([[1, 2, 3, 0, 0, 0], [4, 5, 6, 7, 8, 1]])


def structured(keras):
    """Return a model of layers that learnt from numbers."""
    layers = keras.layers
    data = np.random.default_rng(0).standard_normal((20, 3)).astype("float32")
    moments, bins = layers.Normalization(), layers.Discretization(num_bins=4, output_mode="one_hot")
    moments.adapt(data)
    bins.adapt(data)
    inputs = keras.Input((3,))
    both = layers.Concatenate()([moments(inputs), layers.Flatten()(bins(inputs)), layers.Rescaling(2.0)(inputs)])
    return keras.Model(inputs, layers.Dense(2)(both)), data


def words(keras):
    """Return a model of texts."""
    layers = keras.layers
    text = layers.TextVectorization(output_mode="tf_idf")
    text.adapt(TEXTS)
    inputs = keras.Input((1,), dtype="string")
    return keras.Model(inputs, layers.Dense(2)(text(inputs))), np.array(TEXTS)[:, None]


def images(keras):
    """Return a model that augments images."""
    layers = keras.layers
    inputs = keras.Input((8, 8, 3))
    x = layers.RandomRotation(0.1, seed=1)(layers.RandomFlip(seed=2)(inputs))
    x = layers.ConvLSTM1D(2, 3)(layers.Resizing(6, 5)(x))
    return keras.Model(inputs, layers.CenterCrop(2, 2)(layers.Reshape((2, 2, 1))(layers.Flatten()(x)[:, :4]))), \
        np.random.default_rng(0).random((2, 8, 8, 3)).astype("float32")


@pytest.mark.parametrize("make", [recurrent, structured, words, images])
def test_files(make, tmp_path):
    """A file of one Keras gives the same numbers in both."""
    sides = [(guest("keras"), guest("tensorflow")), (genuine.keras, genuine.tf)]
    for writer, (keras, tf) in enumerate(sides):
        keras.utils.set_random_seed(0)
        model, data = make(keras)
        path = str(tmp_path / f"{make.__name__}{writer}.keras")
        wanted = array(model(tf.constant(data.tolist() if data.dtype.kind == "U" else data)))
        model.save(path)
        for other, constant in ((side[0], side[1].constant) for side in sides):
            again = other.models.load_model(path)
            found = array(again(constant(data.tolist() if data.dtype.kind == "U" else data)))
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=f"{make.__name__} {writer}")
