"""Layers with weights of few bits, beside genuine Keras: numbers, gradients, files in both directions."""
import warnings

import keras as genuine
import numpy as np
import pytest

from dragon.vm import keras
from harness.subresults import each

LAYERS = {
    "dense": (lambda side, **more: side.layers.Dense(7, activation="relu", **more), (3, 11)),
    "dense of many axes": (lambda side, **more: side.layers.Dense(4, use_bias=False, **more), (2, 3, 10)),
    "einsum": (lambda side, **more: side.layers.EinsumDense("abc,cde->abde", (None, 3, 4), bias_axes="de", **more),
               (2, 5, 6)),
    "einsum of two": (lambda side, **more: side.layers.EinsumDense("btnh,nhd->btd", (None, 5), **more), (2, 3, 4, 6)),
    "embedding": (lambda side, **more: side.layers.Embedding(9, 7, **more), (2, 4)),
    "reversible": (lambda side, **more: side.layers.ReversibleEmbedding(9, 7, **more), (2, 4)),
    "untied": (lambda side, **more: side.layers.ReversibleEmbedding(9, 7, tie_weights=False, **more), (2, 4)),
}
CONFIGS = {
    "int8": lambda side: {"mode": "int8"},
    "int4": lambda side: {"mode": "int4"},
    "blocks of 3": lambda side: {"config": side.quantizers.Int4QuantizationConfig(block_size=3)},
    "channels": lambda side: {"config": side.quantizers.Int4QuantizationConfig(block_size=None)},
    "weights alone": lambda side: {"config": side.quantizers.Int8QuantizationConfig(activation_quantizer=None)},
    "own range": lambda side: {"config": side.quantizers.Int4QuantizationConfig(
        activation_quantizer=side.quantizers.AbsMaxQuantizer(axis=-1), block_size=-1)},
}


def inputs_of(name):
    shape = LAYERS[name][1]
    draw = np.random.RandomState(1)
    return draw.randint(0, 9, shape) if "embed" in name or name in ("reversible", "untied") else (
        draw.normal(size=shape).astype("float32"))


def both(name):
    """Return built layers of either side with the same weights."""
    made = [LAYERS[name][0](side) for side in (keras, genuine)]
    for layer in made:
        layer(inputs_of(name))
    made[0].set_weights([np.asarray(weight) for weight in made[1].weights])
    return made


@each("config", CONFIGS, size=20)
@each("name", LAYERS)
def test_numbers_are_those_of_genuine_keras(name, config):
    x = inputs_of(name)
    mine, theirs = both(name)
    for layer, side in ((mine, keras), (theirs, genuine)):
        layer.quantize(**CONFIGS[config](side))
    assert [(w.name, tuple(w.shape), w.dtype) for w in mine.weights] == [
        (w.name, tuple(w.shape), w.dtype) for w in theirs.weights]
    for one, other in zip(mine.weights, theirs.weights):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.asarray(mine(x)), np.asarray(theirs(x)), rtol=1e-4, atol=1e-5)
    if name in ("reversible", "untied"):
        scores = np.random.RandomState(2).normal(size=(2, 7)).astype("float32")
        np.testing.assert_allclose(np.asarray(mine(scores, reverse=True)), np.asarray(theirs(scores, reverse=True)),
                                   rtol=1e-4, atol=1e-5)
    assert mine.dtype_policy.name == theirs.dtype_policy.name
    assert mine.quantization_mode == theirs.quantization_mode


@pytest.mark.parametrize("config", CONFIGS)
def test_dots_stand_for_axes(config):
    """Genuine Keras ends in a TypeError of its own here."""
    x, made = np.random.RandomState(1).normal(size=(2, 3, 9)).astype("float32"), []
    for equation in ("...x,xy->...y", "abx,xy->aby"):
        layer = keras.layers.EinsumDense(equation, 5 if equation[0] == "." else (None, 5),
                                         kernel_initializer=keras.initializers.GlorotUniform(1))
        layer(x)
        layer.quantize(**CONFIGS[config](keras))
        made.append(np.asarray(layer(x)))
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("config", ["int8", "blocks of 3"])
@pytest.mark.parametrize("name", ["dense", "einsum", "embedding", "untied"])
def test_low_rank_products_are_merged_into_files(name, config):
    x, saved = inputs_of(name), []
    for layer, side in zip(both(name), (keras, genuine)):
        layer.quantize(**CONFIGS[config](side))
        layer.enable_lora(2, lora_alpha=3.0)
        draw = np.random.RandomState(4)
        for weight in layer.weights:
            if "lora" in weight.name:
                weight.assign(draw.normal(size=tuple(weight.shape)).astype("float32") / 10)
        store = {}
        layer.save_own_variables(store)
        saved.append((np.asarray(layer(x)), {key: np.asarray(value) for key, value in store.items()}))
    np.testing.assert_allclose(saved[0][0], saved[1][0], rtol=1e-4, atol=1e-4)
    assert sorted(saved[0][1]) == sorted(saved[1][1])
    for key, value in saved[0][1].items():
        assert value.dtype == saved[1][1][key].dtype
        # A number in the middle between two integers may become either.
        np.testing.assert_allclose(value, saved[1][1][key], rtol=1e-4, atol=1 if value.dtype == np.int8 else 1e-4)


@pytest.mark.parametrize("mode", ["int8", "int4", "float8"])
def test_models_are_read_in_both_directions(mode, tmp_path):
    x = np.random.RandomState(0).normal(size=(4, 6)).astype("float32")
    expected = None
    for one, other in ((keras, genuine), (genuine, keras)):
        model = one.Sequential([one.Input((6,)), one.layers.Dense(5, activation="relu", name="first"),
                                one.layers.EinsumDense("ab,bc->ac", 3, bias_axes="c", name="second")])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that inputs have no quantized form
            model.quantize(mode)
        model.save(tmp_path / "model.keras")
        expected = model.predict(x, verbose=0)
        again = other.models.load_model(tmp_path / "model.keras")
        np.testing.assert_allclose(again.predict(x, verbose=0), expected, rtol=1e-4, atol=1e-5)
        assert again.get_layer("first").quantization_mode == mode


def test_training_in_eight_bit_floats_follows_genuine_keras():
    x = np.random.RandomState(0).normal(size=(16, 8)).astype("float32")
    y = np.random.RandomState(1).normal(size=(16, 4)).astype("float32")
    made = []
    for side in (keras, genuine):
        layer = side.layers.Dense(4, kernel_initializer=side.initializers.GlorotUniform(3))
        model = side.Sequential([side.Input((8,)), layer])
        layer.quantize("float8")
        model.compile(side.optimizers.SGD(0.05), "mse")
        made.append((model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0).history["loss"],
                     {weight.path.split("/")[-1]: np.asarray(weight) for weight in layer.weights}))
    np.testing.assert_allclose(made[0][0], made[1][0], rtol=1e-4)
    for name, value in made[0][1].items():
        np.testing.assert_allclose(value, made[1][1][name], rtol=1e-3, atol=1e-5, err_msg=name)


def test_gradients_go_through_to_inputs():
    from dragon.vm import tensorflow as tf
    layer = keras.layers.Dense(3)
    x = tf.Variable(np.random.RandomState(0).normal(size=(2, 5)).astype("float32"))
    layer(x)
    layer.quantize("int8")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x))
    kernel = np.asarray(layer.float_weight())
    np.testing.assert_allclose(np.asarray(tape.gradient(loss, x)), np.tile(kernel.sum(1), (2, 1)), rtol=1e-5)


def test_filters_and_what_has_no_form():
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, name="one"), keras.layers.Dense(4, name="two")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.quantize("int8", filters="two")
    assert [layer.quantization_mode for layer in model.layers] == [None, "int8"]
    with pytest.raises(ValueError, match="filters"):
        model.quantize("int8", filters=3)
    with pytest.raises(ValueError, match="already quantized"):
        model.layers[1].quantize("int4")
    with pytest.raises(ValueError, match="isn't yet built"):
        keras.layers.Dense(2).quantize("int8")
    with pytest.raises(ValueError, match="Invalid quantization mode"):
        model.layers[0].quantize("int7")
    with pytest.raises(NotImplementedError, match="does not have a `quantize`"):
        class Own(keras.layers.Dense):
            pass
        own = Own(2)
        own(np.zeros((1, 2), "float32"))
        own.quantize("int8")


@keras.saving.register_keras_serializable(package="quantized maps")
class Around(keras.layers.Layer):
    """A layer that tells a file how its parts are quantized."""

    def __init__(self, dtype=None, **kwargs):
        super().__init__(dtype=dtype, **kwargs)
        self.dense = keras.layers.Dense(8, dtype=dtype, name="inner")

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        policies = keras.dtype_policies.DTypePolicyMap()
        if self.dense.quantization_mode is not None:
            policies[self.dense.path] = self.dense.dtype_policy
        return {**super().get_config(), "dtype": policies}


def test_parts_that_a_map_of_policies_quantizes_are_read(tmp_path):
    inputs = keras.Input((4,))
    model = keras.Model(inputs, Around()(inputs))
    model.quantize("int8")
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    x = np.random.RandomState(0).rand(16, 4).astype("float32")
    assert again.layers[1].dense.quantization_mode == "int8"
    np.testing.assert_allclose(np.asarray(again(x)), np.asarray(model(x)), rtol=1e-6)
