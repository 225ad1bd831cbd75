"""Sizes that are not known, in every place of every function and layer, beside genuine Keras."""
import numpy as np
import pytest

import dragon.vm.keras as keras
import dragon.vm.tensorflow as tf
from harness import genuine
from harness.keras_ops import nn_rows, numpy_rows
from harness.keras_unknown import survey
from harness.keras_unknown_layers import ROWS_OF_LAYERS
from harness.subresults import each

LIKE = {"agree", "finer", "both fail", "genuine fails"}
# Where genuine Keras is wrong (slogdet, corrcoef, ndim, where, values whose last axis is unknown), guesses (split,
# istft), or takes kernels of unknown size.
OTHERWISE = {"slogdet", "corrcoef", "ndim", "where", "split", "istft", "nn.separable_conv", "nn.dot_product_attention"}
NOT_THERE = {"nn.ctc_decode", "image.ssim", "slice"}  # Python's own loops over numbers, windows beyond small images


@each("row", numpy_rows.ROWS + nn_rows.ROWS, ids=repr)
def test_functions(row):
    if row.name in OTHERWISE | NOT_THERE:
        return
    for how, _, opened, found, wanted in survey(keras, genuine.keras, [row]):
        assert how in LIKE, (opened, found, wanted)


@each("row", ROWS_OF_LAYERS, ids=repr)
def test_layers(row):
    for how, _, opened, found, wanted in survey(keras, genuine.keras, [row]):
        assert how in LIKE, (opened, found, wanted)


@pytest.mark.parametrize("one, other, shape", [
    ((None, 5), (5,), (None, 5)), ((None,), (5,), (5,)), ((None,), (1,), (None,)), ((None,), (None,), (None,)),
    ((None, None, 4), (None, 5, 4), (None, 5, 4)), ((None, 1), (3,), (None, 3)), ((None,), (0,), (0,))])
def test_sums(one, other, shape):
    for ops, symbol in ((keras.ops, keras.KerasTensor), (genuine.keras.ops, genuine.keras.KerasTensor)):
        assert tuple(ops.add(symbol(one), symbol(other)).shape) == shape


def make_layer(keras, tf, call):
    class Own(keras.layers.Layer):
        def call(self, x):
            return call(tf, x)
    return Own()


CALLS = {
    "reshape": lambda tf, x: tf.reshape(x, [tf.shape(x)[0], -1]),
    "zeros": lambda tf, x: tf.zeros((tf.shape(x)[0], 4)),
    "concat": lambda tf, x: tf.concat([tf.zeros((tf.shape(x)[0], 1, 4)), x], 1),
    "tile": lambda tf, x: tf.tile(tf.ones((1, 2, 3)), [tf.shape(x)[0], 1, 1]),
    "range": lambda tf, x: x + tf.cast(tf.range(tf.shape(x)[1]), tf.float32)[None, :, None],
    "product": lambda tf, x: tf.reshape(x, [tf.reduce_prod(tf.shape(x))]),
    "stack": lambda tf, x: tf.reshape(x, tf.stack([tf.shape(x)[0], tf.shape(x)[1] // 2, 8])),
    "cut": lambda tf, x: x[:, :3], "last": lambda tf, x: x[:, -1:], "first": lambda tf, x: x[:, 0],
    "mask": lambda tf, x: tf.boolean_mask(x, x[..., 0] > 0), "where": lambda tf, x: tf.where(x > 0),
    "strided": lambda tf, x: x[:, ::2], "gather": lambda tf, x: tf.gather(x, [0, 1], axis=1),
    "pad": lambda tf, x: tf.pad(x, [[0, 0], [1, 2], [0, 0]]),
    "position": lambda tf, x: x + tf.ones((6, 4)),
}


@each("name", CALLS)
@each("shape", [(6, 4), (None, 4)])
def test_layers_in_the_way_of_tensorflow(name, shape):
    """What such layers infer is no less than what genuine ones do, and holds for all sizes."""
    own = make_layer(keras, tf, CALLS[name])(keras.Input(shape))
    model = keras.Model(source := keras.Input(shape), make_layer(keras, tf, CALLS[name])(source))
    other = make_layer(genuine.keras, genuine.tf, CALLS[name])(genuine.keras.Input(shape))
    assert len(own.shape) == len(other.shape)
    assert all(wish in (None, size) for size, wish in zip(own.shape, other.shape))
    for count in (2, 5):
        x = np.random.RandomState(count).randn(count, 6, 4).astype("float32")
        found = model(x)
        np.testing.assert_allclose(found.numpy(), CALLS[name](genuine.tf, genuine.tf.constant(x)).numpy(), 1e-6, 1e-6)
        assert all(size in (None, real) for size, real in zip(own.shape, found.shape))


def test_concrete_functions():
    for side in (tf, genuine.tf):
        @side.function(input_signature=[side.TensorSpec((None, None, 4)), side.TensorSpec((3, 4))])
        def call(x, y):
            return {"sum": x + y, "flat": side.reshape(x, [-1, 2]), "cut": x[:2], "fixed": y * 2}
        outputs = call.get_concrete_function().structured_outputs
        assert {name: tuple(spec.shape) for name, spec in outputs.items()} == {
            "sum": (None, 3, 4), "flat": (None, 2), "cut": (None, None, 4), "fixed": (3, 4)}


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError):
        keras.ops.add(keras.KerasTensor((None, 3)), keras.KerasTensor((4,)))
    with pytest.raises(NotImplementedError, match="sizes that are not known"):
        keras.layers.Lambda(lambda x: x if x.shape[0] < 1000 else x[0])(keras.KerasTensor((None, 3)))
