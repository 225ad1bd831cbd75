"""keras.random draws the numbers that genuine Keras draws with TensorFlow, to the last bit."""
import numpy as np
import pytest

import dragon.vm.keras as keras
from harness import genuine
from harness.subresults import each

X = np.arange(12.0, dtype="float32").reshape(4, 3) + 1
DRAWS = {
    "normal": lambda r, s: r.normal((3, 4), 1.0, 2.0, seed=s),
    "normal64": lambda r, s: r.normal((3,), dtype="float64", seed=s),
    "normal of tensors": lambda r, s: r.normal((2, 3), X[0], X[1], seed=s),
    "uniform": lambda r, s: r.uniform((5,), -1.0, 2.0, seed=s),
    "truncated_normal": lambda r, s: r.truncated_normal((40, 4), seed=s),
    "randint": lambda r, s: r.randint((6,), 0, 100, seed=s),
    "randint8": lambda r, s: r.randint((6,), 0, 100, dtype="int8", seed=s),
    "dropout": lambda r, s: r.dropout(X, 0.3, seed=s),
    "dropout of rows": lambda r, s: r.dropout(X, 0.3, (None, 1), seed=s),
    "shuffle": lambda r, s: r.shuffle(X, seed=s),
    "shuffle of columns": lambda r, s: r.shuffle(X, axis=1, seed=s),
    "gamma": lambda r, s: r.gamma((3, 2), 2.5, seed=s),
    "gamma of tensors": lambda r, s: r.gamma((3, 2), np.array([0.5, 3], "float32"), seed=s),
    "beta": lambda r, s: r.beta((3, 2), 0.5, 2.0, seed=s),
    "binomial": lambda r, s: r.binomial((7,), 10.0, 0.3, seed=s),
    "categorical": lambda r, s: r.categorical(X, 4, seed=s),
}


@each("seed", [5, -3, 2 ** 40])
@each("name", DRAWS)
def test_draws_by_seed(name, seed):
    found = DRAWS[name](keras.random, seed)
    wanted = np.asarray(DRAWS[name](genuine.keras.random, seed))
    assert str(wanted.dtype) == found.dtype.name
    np.testing.assert_array_equal(found.numpy(), wanted)


def draw_on(module):
    """Draw by a generator and by the global one, several times."""
    module.utils.set_random_seed(42)
    generator = module.random.SeedGenerator(7)
    numbers = [module.random.uniform((3,), seed=source) for source in (None, generator, None, generator, generator)]
    return [np.asarray(x) for x in (*numbers, generator.state.value, module.random.SeedGenerator().state.value)]


def test_generators_count_on():
    for found, wanted in zip(draw_on(keras), draw_on(genuine.keras)):
        np.testing.assert_array_equal(found, wanted)


def test_generator_round_trip():
    made = keras.random.SeedGenerator.from_config(keras.random.SeedGenerator(3, name="source").get_config())
    assert (made.name, made.get_config()["seed"]) == ("source", 3)
    assert made.state.path == "source/seed_generator_state"


@pytest.mark.parametrize("call, says", [
    (lambda: keras.random.uniform((2,), dtype="int32"), "Received: dtype=int32"),
    (lambda: keras.random.randint((2,), 0, 3, dtype="float32"), "Received: dtype=float32"),
    (lambda: keras.random.normal((2,), seed=1.5), "Received: seed=1.5"),
    (lambda: keras.random.SeedGenerator(seed="x"), "Received: seed=x"),
    (lambda: keras.random.categorical(np.zeros(3, "float32"), 2), "Received: logits.shape=(3,)"),
    (lambda: keras.utils.set_random_seed("x"), "Received: seed=x"),
])
def test_errors_tell_what_was_received(call, says):
    with pytest.raises(ValueError, match=says.replace("(", r"\(").replace(")", r"\)")):
        call()
