"""Functions that train, saved here: genuine TensorFlow goes on with them as genuine Keras would have trained."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as ours
from harness import genuine

# No bias before a batch norm: its gradient is zero but for rounding, and Adam makes whole steps of that.
MODELS = {
    "relu": ((4,), lambda L: [L.Dense(5, "relu"), L.Dense(3)]),
    "smooth": ((4,), lambda L: [L.Dense(5, "tanh"), L.Dense(5, "gelu"), L.Dense(5, "sigmoid"), L.Dense(3)]),
    "bent": ((4,), lambda L: [L.Dense(5, "leaky_relu"), L.Dense(5, "elu"), L.Dense(5, "silu"), L.Dense(3, "softmax"),
                              L.Rescaling(3.0)]),
    "norms": ((4,), lambda L: [L.Dense(5, use_bias=False), L.BatchNormalization(), L.LayerNormalization(), L.Dense(3)]),
    "images": ((8, 8, 2), lambda L: [
        L.Conv2D(3, 3, strides=2, padding="same", use_bias=False), L.BatchNormalization(),
        L.Conv2D(4, 2, activation="relu"), L.MaxPooling2D(2, 1), L.Flatten(), L.Dense(3)]),
    "words": ((4,), lambda L: [L.Embedding(7, 3), L.GlobalAveragePooling1D(), L.Dense(3)])}
OPTIMIZERS = {"sgd": lambda keras: keras.optimizers.SGD(0.1, momentum=0.9),
              "adam": lambda keras: keras.optimizers.Adam(0.01)}


class Trainer:
    """A model, an optimizer and a step of training, in either framework."""

    def __init__(self, tf, keras, name, optimizer):
        shape, make = MODELS[name]
        dtype = "int32" if name == "words" else "float32"
        self.tf, self.module = tf, tf.Module()
        self.model = keras.Sequential([keras.Input(shape, dtype=dtype), *make(keras.layers)])
        self.loss = keras.losses.sparse_categorical_crossentropy
        self.optimizer = OPTIMIZERS[optimizer](keras)
        self.optimizer.build(self.model.trainable_variables)
        self.module.parts = [self.model, self.optimizer]
        signature = [tf.TensorSpec([None, *shape], dtype), tf.TensorSpec([None], tf.int32)]
        self.module.train = tf.function(self.step, input_signature=signature)
        self.module.predict = tf.function(lambda x: self.model(x, training=False), input_signature=signature[:1])

    def step(self, x, y):
        """Train once; returns the loss."""
        with self.tf.GradientTape() as tape:
            loss = self.tf.reduce_mean(self.loss(y, self.model(x, training=True), from_logits=True))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(list(zip(tape.gradient(loss, variables), variables)))
        return loss


def draw(name, count):
    """Return inputs and classes."""
    shape, draws = (count, *MODELS[name][0]), np.random.default_rng(count)
    x = draws.integers(0, 7, shape).astype("int32") if name == "words" else draws.normal(size=shape).astype("float32")
    return x, draws.integers(0, 3, count).astype("int32")


# Genuine Keras's Adam steps in the rows of an embedding that were read alone; here a gradient has all rows.
PAIRS = [(name, optimizer) for name in MODELS for optimizer in OPTIMIZERS if (name, optimizer) != ("words", "adam")]


@pytest.mark.parametrize(("name", "optimizer"), PAIRS)
def test_training_goes_on(tmp_path, name, optimizer):
    keras.utils.set_random_seed(0)
    mine, theirs = Trainer(ours, keras, name, optimizer), Trainer(genuine.tf, genuine.keras, name, optimizer)
    theirs.model.set_weights(mine.model.get_weights())
    first = draw(name, 6)
    np.testing.assert_allclose(mine.module.train(*map(ours.constant, first)).numpy(),
                               theirs.module.train(*first).numpy(), rtol=1e-4)
    before = [value.copy() for value in mine.model.get_weights()]
    ours.saved_model.save(mine.module, str(tmp_path / "program"))
    for value, other in zip(before, mine.model.get_weights()):
        np.testing.assert_array_equal(value, other)
    loaded, again = (tf.saved_model.load(str(tmp_path / "program")) for tf in (genuine.tf, ours))
    for count in (6, 4, 5):
        x, y = draw(name, count)
        expected = theirs.module.train(x, y).numpy()
        np.testing.assert_allclose(loaded.train(x, y).numpy(), expected, rtol=2e-4, atol=1e-5)
        np.testing.assert_allclose(again.train(ours.constant(x), ours.constant(y)).numpy(), expected, rtol=2e-4,
                                   atol=1e-5)
    x, _ = draw(name, 3)
    np.testing.assert_allclose(loaded.predict(x).numpy(), theirs.module.predict(x).numpy(), rtol=1e-3, atol=1e-3)


def Heads(L):
    """Return a layer of attention over what it is given."""
    class Own(L.Layer):
        def __init__(self):
            super().__init__()
            self.inner = L.MultiHeadAttention(2, 3)

        def build(self, shape):
            self.inner.build(shape, shape)

        def call(self, x):
            return self.inner(x, x, use_causal_mask=True)
    return Own()


# Layers whose gradients are further operators: what genuine TensorFlow computes by them is what it computes by its own.
SLOPES = {
    "lstm": ((6, 3), lambda L: [L.LSTM(4, return_sequences=True), L.GRU(3)]),
    "rows of any length": ((None, 3), lambda L: [L.Bidirectional(L.LSTM(4)), L.Dense(2)]),
    "backwards": ((5, 3), lambda L: [L.SimpleRNN(3, go_backwards=True, return_sequences=True), L.GRU(2)]),
    "masked": ((5, 3), lambda L: [L.Masking(), L.LSTM(4)]),
    "by channel": ((8, 8, 4), lambda L: [L.DepthwiseConv2D(3, depth_multiplier=2), L.SeparableConv2D(3, 3)]),
    "by channel along a line": ((9, 4), lambda L: [L.DepthwiseConv1D(3, depth_multiplier=2, padding="same")]),
    "grouped": ((8, 8, 4), lambda L: [L.Conv2D(6, 3, groups=2, strides=2, padding="same")]),
    "averages": ((8, 8, 2), lambda L: [L.AveragePooling2D(3), L.AveragePooling2D(2, padding="same", strides=1)]),
    "largest": ((8, 8, 2), lambda L: [L.MaxPooling2D(3, padding="same", strides=2), L.MaxPooling2D(2)]),
    "largest of a line": ((9, 2), lambda L: [L.MaxPooling1D(2), L.MaxPooling1D(2, padding="same", strides=1)]),
    "uneven": ((8, 8, 3), lambda L: [L.Conv2D(4, 3, strides=2, padding="same"), L.ZeroPadding2D(1), L.Cropping2D(1)]),
    "volumes": ((5, 5, 5, 2), lambda L: [L.Conv3D(3, 2, strides=2), L.Conv3DTranspose(2, 2, strides=2)]),
    "groups": ((6, 6, 4), lambda L: [L.GroupNormalization(2), L.PReLU()]),
    "attention": ((None, 4), lambda L: [L.Dense(4), Heads(L)]),
    "root mean square": ((5, 4), lambda L: [L.RMSNormalization(), L.LayerNormalization()])}


class Slopes:
    """A model and its gradients, in either framework."""

    def __init__(self, tf, keras, name):
        shape, make = SLOPES[name]
        self.tf, self.module = tf, tf.Module()
        self.module.model = self.model = keras.Sequential([keras.Input(shape), *make(keras.layers)])
        self.module.f = tf.function(self.gradients, input_signature=[tf.TensorSpec([None, *shape])])

    def gradients(self, x):
        """Return the gradients of a sum of cosines of the results, for the inputs and the weights."""
        with self.tf.GradientTape() as tape:
            tape.watch(x)
            total = self.tf.reduce_sum(self.tf.cos(self.model(x, training=True)))
        return tape.gradient(total, [x, *self.model.trainable_variables])


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.long("genuine TensorFlow reads what was saved, and traces its training")
def test_gradients(tmp_path, name):
    mine, theirs = Slopes(ours, keras, name), Slopes(genuine.tf, genuine.keras, name)
    theirs.model.set_weights(mine.model.get_weights())
    ours.saved_model.save(mine.module, str(tmp_path))
    loaded, again = (tf.saved_model.load(str(tmp_path)) for tf in (genuine.tf, ours))
    for count, length in ((2, 7), (3, 4)):
        shape = [length if size is None else size for size in SLOPES[name][0]]
        x = np.random.default_rng(count).normal(size=(count, *shape)).astype("float32")
        x[..., -1, :] *= 0 if name == "masked" else 1
        expected = [one.numpy() for one in theirs.gradients(genuine.tf.constant(x))]
        for found in (loaded.f(x), again.f(ours.constant(x))):
            for value, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(value.numpy(), other, rtol=2e-3, atol=1e-4)
