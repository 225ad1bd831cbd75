"""Weights that data are run for, beside genuine Keras: GPTQ and AWQ on layers, on models, and in files."""
import keras as genuine
import numpy as np
import pytest
from harness.subresults import each
from keras.src.quantizers.awq import AWQ as GenuineAWQ
from keras.src.quantizers.gptq import GPTQ as GenuineGPTQ
from keras.src.quantizers.gptq_core import get_dataloader as genuine_windows

from dragon.vm import keras
from dragon.vm.keras.quantizers.awq import AWQ
from dragon.vm.keras.quantizers.calibration import get_dataloader
from dragon.vm.keras.quantizers.gptq import GPTQ

SIDES = {"here": (keras, GPTQ, AWQ), "genuine": (genuine, GenuineGPTQ, GenuineAWQ)}
LAYERS = {
    "dense": (lambda side: side.layers.Dense(7), (20,), (16, 20)),
    "queries": (lambda side: side.layers.EinsumDense("abc,cde->abde", (None, 3, 4), bias_axes="de"), (None, 14),
                (2, 8, 14)),
    "attention": (lambda side: side.layers.EinsumDense("abcd,cde->abe", (None, 10), bias_axes="e"), (None, 3, 4),
                  (2, 8, 3, 4)),
}
OPTIONS = {
    "four bits": {"group_size": -1}, "groups": {"group_size": 8}, "three bits": {"group_size": 8, "weight_bits": 3},
    "eight bits": {"group_size": 6, "weight_bits": 8, "symmetric": True},
    "in order": {"group_size": -1, "activation_order": True}, "one step": {"group_size": -1, "per_channel": False}}


def made(side, name, seed=0):
    """Return a built layer of a side with weights that both sides have, and inputs."""
    build, shape, whole = LAYERS[name]
    layer, numbers = build(SIDES[side][0]), np.random.default_rng(seed)
    layer.build((None, *shape))
    layer.set_weights([numbers.standard_normal(weight.shape).astype("float32") for weight in layer.get_weights()])
    return layer, numbers.standard_normal(whole).astype("float32")


def gathered(side, name, mode, options):
    layer, x = made(side, name)
    library, gptq, awq = SIDES[side]
    config = {"gptq": library.quantizers.GPTQConfig, "awq": library.quantizers.AWQConfig}[mode](None, None, **options)
    layer.quantize(config=config)
    before = np.asarray(layer(x))
    rounder = (gptq if mode == "gptq" else awq)(layer, config)
    rows = x.reshape(-1, rounder.rows)
    for part in (rows[:5], rows[5:]):
        (rounder.update_hessian_with_batch if mode == "gptq" else rounder.update_activation_magnitudes)(part)
    (rounder.quantize_and_correct_layer if mode == "gptq" else rounder.quantize_layer)()
    return layer, before, np.asarray(layer(x))


@each("name", LAYERS)
@each("options", OPTIONS)
@pytest.mark.long("layers of all kinds are calibrated with all options, by genuine Keras as well")
def test_gptq_makes_the_integers_of_genuine_keras(name, options):
    here, before, after = gathered("here", name, "gptq", OPTIONS[options])
    there, same, wanted = gathered("genuine", name, "gptq", OPTIONS[options])
    np.testing.assert_allclose(before, same, rtol=1e-5, atol=1e-5)
    assert [(w.name, w.shape, w.dtype) for w in here.weights] == [(w.name, tuple(w.shape), w.dtype) for w in
                                                                  there.weights]
    np.testing.assert_array_equal(here.kernel, there.kernel)
    np.testing.assert_allclose(after, wanted, rtol=1e-4, atol=1e-4)
    assert here.dtype_policy.name == there.dtype_policy.name
    assert np.abs(after - before).max() > 0


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("size", [-1, 8])
def test_awq_makes_the_integers_of_genuine_keras(name, size):
    options = {"group_size": size, "num_grid_points": 7}
    here, before, after = gathered("here", name, "awq", options)
    there, _, wanted = gathered("genuine", name, "awq", options)
    assert [(w.name, w.shape) for w in here.weights] == [(w.name, tuple(w.shape)) for w in there.weights]
    np.testing.assert_allclose(here.awq_scales, there.awq_scales, rtol=1e-5)
    np.testing.assert_array_equal(here.kernel, there.kernel)
    np.testing.assert_allclose(after, wanted, rtol=1e-4, atol=1e-4)


def test_errors_that_are_made_up_for_are_smaller():
    errors = {}
    for name, options in {"gptq": {}, "rounded": None}.items():
        layer, x = made("here", "dense")
        numbers = np.random.default_rng(1)  # inputs that go together
        x = (numbers.standard_normal((200, 4)) @ numbers.standard_normal((4, 20))).astype("float32")
        before = np.asarray(layer(x))
        config = keras.quantizers.GPTQConfig(None, None, weight_bits=3, group_size=-1)
        layer.quantize(config=config)
        rounder = GPTQ(layer, config)
        if options is not None:
            rounder.update_hessian_with_batch(x)
        rounder.quantize_and_correct_layer()
        errors[name] = np.square(np.asarray(layer(x)) - before).mean()
    assert errors["gptq"] < errors["rounded"] / 1.5


def blocks():
    class Block(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.attention = keras.layers.MultiHeadAttention(2, 4)
            self.dense = keras.layers.Dense(8)

        def call(self, x):
            return x + self.dense(self.attention(x, x))
    inputs = keras.Input((6,), dtype="int32")
    embedding, first, second, head = keras.layers.Embedding(30, 8), Block(), Block(), keras.layers.Dense(3)
    model = keras.Model(inputs, head(second(first(embedding(inputs)))))
    return model, {"pre_block_layers": [embedding], "sequential_blocks": [first, second]}


TOKENS = [np.random.default_rng(3).integers(0, 30, 50)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["GPTQConfig", "AWQConfig"])
def test_a_model_goes_to_a_file_and_back(kind, tmp_path):
    keras.utils.set_random_seed(0)
    model, structure = blocks()
    x = TOKENS[0][:24].reshape(4, 6)
    before = model.predict(x, verbose=0)
    config = getattr(keras.quantizers, kind)(TOKENS, object(), num_samples=8, sequence_length=6, group_size=4,
                                             quantization_layer_structure=structure)
    model.quantize(config=config, filters=lambda layer: layer is not model.layers[-1])
    after = model.predict(x, verbose=0)
    assert 0 < np.abs(after - before).max() < 0.4 * np.abs(before).max()
    assert all(layer.is_calibrated for layer in model._flatten_layers() if hasattr(layer, "is_calibrated")
               if layer is not model.layers[-1])
    model.save_weights(tmp_path / "few.weights.h5")
    again, structure = blocks()
    config.quantization_layer_structure = structure
    again.quantize(config=config, filters=lambda layer: layer is not again.layers[-1])
    again.load_weights(tmp_path / "few.weights.h5")
    np.testing.assert_allclose(again.predict(x, verbose=0), after, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["GPTQConfig", "AWQConfig"])
@pytest.mark.parametrize("name", LAYERS)
def test_files_are_read_by_genuine_keras(kind, name, tmp_path):
    """Those of genuine Keras 3.15.1 have no zeros, and nobody reads them."""
    layer, _, wanted = gathered("here", name, kind[:-6].lower(), {"group_size": 4})
    keras.Sequential([keras.Input(LAYERS[name][2][1:]), layer]).save(tmp_path / "few.keras")
    for library in (keras, genuine):
        read = library.saving.load_model(tmp_path / "few.keras")
        np.testing.assert_allclose(read.predict(made("here", name)[1], verbose=0), wanted, rtol=1e-4, atol=1e-4)


def test_groups_far_from_zero_have_zero_in_their_range():
    """The integer of zero is a byte: genuine Keras's wraps round, and the weights come back as others."""
    layer = keras.layers.Dense(3, use_bias=False)
    layer.build((None, 4))
    weights = np.array([[0.5, -0.5, 9.0], [0.6, -0.7, 9.1], [0.7, -0.6, 9.2], [0.8, -0.9, 9.1]], "float32")
    layer.set_weights([weights])
    config = keras.quantizers.GPTQConfig(None, None, weight_bits=8, group_size=-1)
    layer.quantize(config=config)
    GPTQ(layer, config).quantize_and_correct_layer()
    np.testing.assert_allclose(layer(np.eye(4, dtype="float32")), weights, rtol=0.01)


def test_layers_lie_as_their_longest_axis_says():
    """Where genuine Keras's matrix is not the one that is summed over, statistics are brought into its rows."""
    for equation, inner, shape, whole in (("ab,bcd->acd", (8, 32), (3,), (50, 3)),
                                          ("abc,bcd->ad", (8,), (8, 4), (50, 8, 4))):
        layer = keras.layers.EinsumDense(equation, inner)
        layer.build((None, *shape))
        x = np.random.default_rng(0).standard_normal(whole).astype("float32")
        wanted = np.asarray(layer(x))
        config = keras.quantizers.GPTQConfig(None, None, weight_bits=8, group_size=-1)
        layer.quantize(config=config)
        rounder = GPTQ(layer, config)
        rounder.watch(keras.ops.convert_to_tensor(x))
        assert np.linalg.matrix_rank(rounder.hessian) == rounder.rows
        rounder.quantize_and_correct_layer()
        np.testing.assert_allclose(layer(x), wanted, atol=0.05)


@pytest.mark.parametrize("strategy", ["linspace", "random"])
def test_windows_are_those_of_genuine_keras(strategy):
    class Letters:
        def tokenize(self, text):
            return [ord(letter) % 50 for letter in text]
    for dataset in (["some words", "and more of them"], [np.arange(9), np.array([[4, 5]])]):
        options = {"num_samples": 5, "strategy": strategy, "eos_id": 99}
        np.testing.assert_array_equal(get_dataloader(Letters(), 4, dataset, **options),
                                      genuine_windows(Letters(), 4, dataset, **options))
    strided = get_dataloader(Letters(), 4, ["some words"], num_samples=5, stride=3)
    assert strided.shape == (5, 1, 4) and strided.dtype == np.int32


def test_what_is_refused():
    layer, x = made("here", "dense")
    config = keras.quantizers.GPTQConfig(None, None, group_size=-1)
    with pytest.raises(ValueError, match="Implicitly enabling GPTQ"):
        layer.dtype_policy = "gptq/4/-1_from_float32"
    with pytest.raises(TypeError, match="Unsupported layer type for AWQ"):
        AWQ(keras.layers.Flatten())
    with pytest.raises(ValueError, match="cannot be empty"):
        GPTQ(layer).update_hessian_with_batch(x[:0])
    with pytest.raises(ValueError, match=r"rank >= 2 \(got rank 1\)"):
        AWQ(layer).update_activation_magnitudes(x[0])
    with pytest.raises(ValueError, match="do not match input features"):
        GPTQ(layer).update_hessian_with_batch(x[:, :4])
    model = keras.Sequential([keras.Input((20,)), layer])
    with pytest.raises(ValueError, match="For mode='gptq', a valid quantization structure"):
        model.quantize(config=config)
    config.quantization_layer_structure = {"sequential_blocks": [layer]}
    with pytest.raises(ValueError, match="requires a dataset and a tokenizer"):
        model.quantize(config=config)
    with pytest.raises(NotImplementedError, match="lora is not currently supported with GPTQ"):
        layer.enable_lora(2)
    with pytest.warns(UserWarning, match="was in no block that data were run through"):
        layer.save_own_variables({})
    turned = keras.layers.EinsumDense("ab,cb->ac", (4,))
    turned.build((None, 3))
    with pytest.raises(NotImplementedError, match="summed over in front"):
        turned.quantize(config=config)
    for wrong, said in ((("abc",), "must be an iterable"), (([],), "is empty")):
        with pytest.raises((TypeError, ValueError), match=said):
            get_dataloader(None, 4, *wrong)
    with pytest.raises(ValueError, match="Unknown strategy: last"):
        get_dataloader(None, 4, TOKENS, strategy="last")
