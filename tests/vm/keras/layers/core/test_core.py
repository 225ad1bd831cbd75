"""Dense layers, tables and their like, beside the genuine ones."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, check_layer, guest, near
from harness.subresults import each

NUMBERS = np.array([[0, 3, 1], [2, 0, 0]], "int32")

DENSE = [
    ({"units": 3}, (2, 4)),
    ({"units": 3, "activation": "relu", "kernel_initializer": "he_normal"}, (2, 5, 4)),
    ({"units": 2, "use_bias": False, "activation": "softmax"}, (2, 3)),
    ({"units": 3, "kernel_regularizer": "l2", "bias_regularizer": "l1", "activity_regularizer": "l2",
      "kernel_constraint": "max_norm", "bias_constraint": "non_neg", "bias_initializer": "ones"}, (2, 4)),
    ({"units": 3, "activation": "tanh"}, (2, 2, 3, 4)),
]


@pytest.mark.parametrize("config, shape", DENSE)
def test_dense(config, shape):
    """Dense layers."""
    check_layer("Dense", shape, config)


EINSUM = [
    ({"equation": "ab,bc->ac", "output_shape": 3, "bias_axes": "c"}, (2, 4)),
    ({"equation": "abc,cd->abd", "output_shape": [None, 3], "bias_axes": "d", "activation": "relu"}, (2, 5, 4)),
    ({"equation": "...x,xy->...y", "output_shape": 3, "bias_axes": "y"}, (2, 5, 4)),
    ({"equation": "abc,cde->abde", "output_shape": [None, 2, 3], "bias_axes": "de",
      "kernel_initializer": "he_normal"}, (2, 5, 4)),
    ({"equation": "abde,dec->abc", "output_shape": [None, 3], "kernel_regularizer": "l2"}, (2, 5, 2, 4)),
    ({"equation": "ab...,bc->ac...", "output_shape": 3, "bias_axes": "c"}, (2, 4, 5)),
]


def is_right_in_halves(equation, shape):
    """Return whether genuine TensorFlow computes a product of float16.

    On processors with products of float16 (AVX512-FP16) its kernels get "...x,xy->...y" wrong by whole numbers, so
    that there is nothing to be compared with; `tf.matmul` of the same numbers is right.
    """
    x, kernel = (np.random.default_rng(0).standard_normal(size).astype("float32") for size in (shape, (shape[-1], 3)))
    half = genuine.tf.einsum(equation, genuine.tf.cast(x, "float16"), genuine.tf.cast(kernel, "float16"))
    return np.allclose(half, np.einsum(equation, x, kernel), 0.02, 0.02)


@pytest.mark.parametrize("config, shape", EINSUM)
def test_einsum_dense(config, shape):
    """Dense layers by equation."""
    wrong = config["equation"] == "...x,xy->...y" and not is_right_in_halves(config["equation"], shape)
    check_layer("EinsumDense", shape, config, mixed=not wrong)


EMBEDDING = [
    {"input_dim": 4, "output_dim": 3},
    {"input_dim": 4, "output_dim": 3, "mask_zero": True, "embeddings_regularizer": "l2"},
    {"input_dim": 5, "output_dim": 2, "embeddings_initializer": "ones", "embeddings_constraint": "unit_norm"},
]


@each("dtype", ["int32", "int64", "float32", "uint8"])
@each("config", EMBEDDING)
def test_embedding(config, dtype):
    """Tables, asked in several dtypes."""
    check_layer("Embedding", NUMBERS.astype(dtype), config)


@pytest.mark.parametrize("config", [
    {}, {"tie_weights": False}, {"mask_zero": True}, {"logit_soft_cap": 5.0}, {"reverse_dtype": "float32"}])
def test_reversible_embedding(config):
    """Tables, both ways."""
    config = {"input_dim": 4, "output_dim": 3, **config}
    vectors = np.random.default_rng(0).standard_normal((2, 5, 3)).astype("float32")

    def back(side):
        symbol = side.keras.KerasTensor((None, 5, 3))
        return [array(side.layer(vectors, reverse=True))], tuple(side.layer(symbol, reverse=True).shape)
    check_layer("ReversibleEmbedding", NUMBERS, config, more=back)


def test_embedding_takes_weights():
    """A table may be given."""
    table = np.arange(6, dtype="float32").reshape(3, 2)
    layer = guest("keras").layers.Embedding(3, 2, weights=[table])
    np.testing.assert_array_equal(array(layer(np.array([2, 0]))), table[[2, 0]])


def steps_with_padding():
    """Return sequences some of whose steps are all zero."""
    steps = np.random.default_rng(0).standard_normal((2, 4, 3)).astype("float32")
    steps[0, 2:] = 0
    steps[1, 1, 0] = 0
    return steps


@pytest.mark.parametrize("config", [{}, {"mask_value": 0.5}])
def test_masking(config):
    """Padding is found and set to zero."""
    check_layer("Masking", steps_with_padding() + config.get("mask_value", 0.0), config)


def double(x):
    """Return twice the input."""
    return x * 2


def scaled(x, factor=1.0, training=False):
    """Return the input times a factor, negative in training."""
    return x * (-factor if training else factor)


@pytest.mark.parametrize("more, function", [
    ({}, double), ({"output_shape": (3,)}, double), ({"arguments": {"factor": 3.0}}, scaled)])
def test_lambda(more, function):
    """Functions as layers; their configs name them by module, so these are compared without being read."""
    kerases = guest("keras"), genuine.keras
    inputs = np.ones((2, 3), "float32")
    ours, theirs = (keras.layers.Lambda(function, name="probe", **more) for keras in kerases)
    near([array(ours(inputs))], [array(theirs(inputs))], "outputs")
    assert ours.get_config()["arguments"] == theirs.get_config()["arguments"]
    assert tuple(ours.compute_output_shape((None, 3))) == tuple(theirs.compute_output_shape((None, 3)))


def test_lambda_expressions_cross():
    """A nameless function is written as code that the other side reads, if it is told to trust it."""
    kerases = guest("keras"), genuine.keras
    factor = 3.0
    layers = [keras.layers.Lambda(lambda x: x * factor, name="probe") for keras in kerases]
    configs = [layer.get_config() for layer in layers]
    inputs = np.ones((2, 3), "float32")
    for layer, config in zip(layers, reversed(configs)):
        with pytest.raises(ValueError, match="safe_mode"):
            type(layer).from_config(dict(config))
        again = type(layer).from_config(dict(config), safe_mode=False)
        np.testing.assert_array_equal(array(again(inputs)), 3 * inputs)


LORA = [
    ("Dense", {"units": 3}, (2, 4)),
    ("EinsumDense", {"equation": "abc,cde->abde", "output_shape": [None, 2, 3], "bias_axes": "de"}, (2, 5, 4)),
    ("Embedding", {"input_dim": 4, "output_dim": 3}, NUMBERS),
    ("Conv2D", {"filters": 2, "kernel_size": 3}, (1, 5, 5, 2)),
]


@pytest.mark.parametrize("alpha", [None, 4.0])
@pytest.mark.parametrize("name, config, inputs", LORA)
def test_lora(name, config, inputs, alpha):
    """Low-rank products: which weights train, what they give, what is saved."""
    def saved(side):
        store = {}
        side.layer.save_own_variables(store)
        return [array(value) for value in store.values()], list(store)
    check_layer(name, inputs, {**config, "lora_rank": 2, "lora_alpha": alpha}, more=saved)


BAD = [
    ("Dense", {"units": 0}, ValueError, "units=0"),
    ("Dense", {"units": "3"}, ValueError, "units=3"),
    ("Embedding", {"input_dim": 0, "output_dim": 2}, ValueError, "input_dim=0"),
    ("Embedding", {"input_dim": 2, "output_dim": True}, ValueError, "output_dim=True"),
]


@pytest.mark.parametrize("name, config, kind, text", BAD)
def test_bad_arguments(name, config, kind, text):
    """Errors end in what was received, on both sides."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(kind, match=text):
            getattr(keras.layers, name)(**config)


def test_bad_calls():
    """Inputs that do not fit, equations that say nothing, rows that are not there."""
    keras = guest("keras")
    layer = keras.layers.Dense(2)
    layer(np.ones((2, 3), "float32"))
    with pytest.raises(ValueError, match="expected axis -1"):
        layer(np.ones((2, 4), "float32"))
    with pytest.raises(ValueError, match="Invalid einsum equation"):
        keras.layers.EinsumDense("ab->ab", 3)(np.ones((2, 3), "float32"))
    with pytest.raises((ValueError, IndexError)):
        keras.layers.Embedding(3, 2)(np.array([3]))
