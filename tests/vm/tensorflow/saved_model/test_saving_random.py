"""Functions that draw, saved here: genuine TensorFlow draws the numbers that follow from seeds, and others anew."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as ours
from harness import genuine

X = np.array([1.0, 2.0, 3.0], "float32")

# Numbers of a seed or of a state that is saved: the same ones wherever the function runs.
SEEDED = {
    "uniform": lambda tf, keras, x: tf.random.stateless_uniform(tf.shape(x), [1, 2], -1.0, 5.0),
    "normal": lambda tf, keras, x: tf.random.stateless_normal([2, 3], [1, 2], 3.0, 2.0),
    "truncated": lambda tf, keras, x: tf.random.stateless_truncated_normal([4], [3, 4]),
    "integers": lambda tf, keras, x: tf.random.stateless_uniform([5], [1, 2], 3, 90, tf.int32),
    "all integers": lambda tf, keras, x: tf.random.stateless_uniform([5], [1, 2], None, None, tf.int32),
    "categories": lambda tf, keras, x: tf.random.stateless_categorical(tf.reshape(x, [1, -1]), 6, [1, 2]),
    "split": lambda tf, keras, x: tf.random.split([1, 2], 3),
    "folded": lambda tf, keras, x: tf.random.fold_in([1, 2], 7),
    "seed of numbers": lambda tf, keras, x: tf.random.stateless_uniform([3], tf.cast(x[:2], tf.int32)),
    "dropout of Keras": lambda tf, keras, x: keras.random.dropout(x, 0.5, seed=3),
    "normal of Keras": lambda tf, keras, x: keras.random.normal((3,), 1.0, 2.0, seed=3),
    "categories of Keras": lambda tf, keras, x: keras.random.categorical(tf.reshape(x, [1, -1]), 4, seed=3),
    "integers of Keras": lambda tf, keras, x: keras.random.randint((4,), 2, 80, seed=3)}

# Numbers that are others at each call, and what holds for them.
ANEW = {
    "uniform": lambda tf, x: tf.random.uniform(tf.concat([tf.shape(x), [9]], 0), 2.0, 5.0),
    "normal": lambda tf, x: tf.random.normal([9], 3.0, 0.1),
    "truncated": lambda tf, x: tf.random.truncated_normal([9], 3.0, 0.1),
    "integers": lambda tf, x: tf.random.uniform([9], 2, 5 + 2 ** 20, tf.int32, seed=4),
    "categories": lambda tf, x: tf.random.categorical(tf.zeros([1, 1000]), 9),
    "order": lambda tf, x: tf.random.shuffle(tf.range(100)),
    "dropout": lambda tf, x: tf.nn.dropout(tf.ones([64]), 0.5),
    "within a loop": lambda tf, x: tf.map_fn(lambda row: row + tf.random.uniform([]), x),
    "within a branch": lambda tf, x: tf.cond(x[0] > 0, lambda: tf.random.normal([3]), lambda: tf.zeros([3]))}


def save(call, folder):
    module = ours.Module()
    module.f = ours.function(call, input_signature=[ours.TensorSpec([None])])
    ours.saved_model.save(module, str(folder))
    return genuine.tf.saved_model.load(str(folder)).f, ours.saved_model.load(str(folder)).f


@pytest.mark.parametrize("name", SEEDED)
def test_numbers_of_seeds(tmp_path, name):
    function = SEEDED[name]
    theirs, again = save(lambda x: function(ours, keras, x), tmp_path)
    expected = np.asarray(function(genuine.tf, genuine.keras, genuine.tf.constant(X)))
    for found in (theirs(X), theirs(X), again(ours.constant(X))):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ANEW)
def test_other_numbers_at_each_call(tmp_path, name):
    function = ANEW[name]
    theirs, _ = save(lambda x: function(ours, x), tmp_path)
    expected, drawn = np.asarray(function(genuine.tf, genuine.tf.constant(X))), [theirs(X).numpy() for _ in range(3)]
    for found in drawn:
        assert found.shape == expected.shape and found.dtype == expected.dtype
        assert len(np.unique(found)) == len(np.unique(expected)) or name == "dropout"
        assert abs(found.mean() - expected.mean()) < {"integers": 9e5, "categories": 800}.get(name, 2.0)
    assert not np.array_equal(drawn[0], drawn[1]) and not np.array_equal(drawn[1], drawn[2])


def test_generators_go_on(tmp_path):
    module, reference = ours.Module(), genuine.tf.random.Generator.from_seed(5)
    module.generator = ours.random.Generator.from_seed(5)
    module.f = ours.function(lambda: (module.generator.normal([3]), module.generator.uniform([2], 0, 99, "int32")),
                             input_signature=[])
    ours.saved_model.save(module, str(tmp_path))
    theirs, again = (tf.saved_model.load(str(tmp_path)) for tf in (genuine.tf, ours))
    for _ in range(3):
        expected = reference.normal([3]).numpy(), reference.uniform([2], 0, 99, genuine.tf.int32).numpy()
        for call in (theirs, again):
            for found, value in zip(call.f(), expected):
                np.testing.assert_allclose(found.numpy(), value, rtol=1e-6)


def noisy(keras):
    """Return a model that draws in training."""
    L = keras.layers
    return keras.Sequential([keras.Input((6,)), L.Dropout(0.5, seed=1), L.GaussianNoise(0.5, seed=2),
                             L.GaussianDropout(0.3, seed=3), L.AlphaDropout(0.2, seed=4)])


def test_layers_that_draw_in_training(tmp_path):
    module, model, theirs = ours.Module(), noisy(keras), noisy(genuine.keras)
    module.model = model
    module.f = ours.function(lambda x: model(x, training=True), input_signature=[ours.TensorSpec([None, 6])])
    ours.saved_model.save(module, str(tmp_path))
    loaded, again = (tf.saved_model.load(str(tmp_path)) for tf in (genuine.tf, ours))
    for count in (3, 2, 3):
        x = np.random.default_rng(count).normal(size=(count, 6)).astype("float32")
        expected = theirs(x, training=True).numpy()
        np.testing.assert_allclose(loaded.f(x).numpy(), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(again.f(ours.constant(x)).numpy(), expected, rtol=1e-5, atol=1e-6)
