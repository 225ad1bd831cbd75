"""The same model twice: Dragon's and the genuine one, with the same weights."""
import numpy

from dragon.vm import keras
from harness import genuine


def random(*shape, seed=0):
    """Return numbers from 0 to 1."""
    return numpy.random.RandomState(seed).rand(*shape).astype("float32")


def make_mlp(keras, outputs=3, activation="softmax"):
    """Return a small model with two layers."""
    return keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(8, activation="relu"),
                             keras.layers.Dense(outputs, activation=activation)])


def make_two_outputs(keras):
    """Return a functional model with two inputs and two named outputs."""
    a, b = keras.layers.Input((5,), name="a"), keras.layers.Input((4,), name="b")
    joined = keras.layers.Concatenate()([a, b])
    hidden = keras.layers.Dense(6, activation="tanh")(joined)
    return keras.Model([a, b], [keras.layers.Dense(1, name="value")(hidden),
                                keras.layers.Dense(3, activation="softmax", name="kind")(hidden)])


def make_twins(make, **options):
    """Return (Dragon's model, the genuine one) with the same weights."""
    ours, theirs = make(keras, **options), make(genuine.keras, **options)
    ours.set_weights(theirs.get_weights())
    return ours, theirs


def compile_twins(twins, optimizer=lambda keras: keras.optimizers.SGD(0.1), **options):
    """Compile both; options that are functions are called with either `keras`."""
    for model, module in zip(twins, (keras, genuine.keras)):
        model.compile(optimizer(module), **{name: value(module) if callable(value) else value
                                            for name, value in options.items()})


def assert_alike(ours, theirs, rtol=1e-4, atol=1e-5):
    """Compare numbers in dictionaries, lists and arrays."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            assert_alike(one, other, rtol, atol)
        return
    numpy.testing.assert_allclose(numpy.asarray(ours), numpy.asarray(theirs), rtol=rtol, atol=atol)
