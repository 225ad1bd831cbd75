"""`tf.random` gives TensorFlow's numbers: of seeds, of counted calls, of generators."""
import numpy as np
import pytest

import dragon.vm.tensorflow as mine
from harness import genuine
from harness.subresults import each

# What is drawn, by a module `tf`.
DRAWS = {
    "normal": lambda tf: tf.random.normal([3, 5]),
    "normal of a mean": lambda tf: tf.random.normal([4], 2.0, 3.0),
    "normal in float64": lambda tf: tf.random.normal([4], dtype=tf.float64),
    "truncated": lambda tf: tf.random.truncated_normal([7]),
    "uniform": lambda tf: tf.random.uniform([5], -1.0, 2.0),
    "uniform integers": lambda tf: tf.random.uniform([6], 3, 9, dtype=tf.int32),
    "uniform int64": lambda tf: tf.random.uniform([6], maxval=2 ** 40, dtype=tf.int64),
    "own seed": lambda tf: tf.concat([tf.random.normal([3], seed=4), tf.random.normal([3], seed=4)], 0),
    "shuffle": lambda tf: tf.random.shuffle(tf.range(9)),
    "shuffle of rows": lambda tf: tf.random.shuffle(tf.reshape(tf.range(12), (4, 3))),
    "categorical": lambda tf: tf.random.categorical([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], 6),
    "two calls": lambda tf: tf.stack([tf.random.uniform([2]), tf.random.uniform([2])]),
    "stateless normal": lambda tf: tf.random.stateless_normal([3, 2], seed=[7, 1]),
    "stateless uniform": lambda tf: tf.random.stateless_uniform([3], [1, 2], minval=0, maxval=50, dtype=tf.int64),
    "stateless truncated": lambda tf: tf.random.stateless_truncated_normal([6], tf.constant([1, 2]), mean=1.0),
    "stateless categorical": lambda tf: tf.random.stateless_categorical([[0.0, 1.0]], 8, seed=[3, 3]),
    "stateless gamma": lambda tf: tf.random.stateless_gamma([5], seed=[3, 3], alpha=1.5),
    "stateless binomial": lambda tf: tf.random.stateless_binomial([5], seed=[3, 3], counts=20.0, probs=0.3),
    "split": lambda tf: tf.random.split([1, 2], 3),
    "fold in": lambda tf: tf.random.fold_in([1, 2], 5),
    "generator": lambda tf: generator_draws(tf),
}
CLOSE = dict(rtol=2e-6, atol=1e-6)


def generator_draws(tf):
    generator = tf.random.Generator.from_seed(3)
    parts = [generator.normal([3]), generator.uniform([3]), generator.truncated_normal([2])]
    return tf.concat([*parts, tf.cast(generator.state, tf.float32)], 0)


@each("name", DRAWS)
def test_equals_tensorflow(name):
    found = []
    for tf in (mine, genuine.tf):
        tf.random.set_seed(5)
        found.append(DRAWS[name](tf))
    assert found[0].dtype.name == found[1].dtype.name
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), **CLOSE)


def test_captured_functions_draw_anew():
    draw = mine.function(lambda: mine.random.normal([4]))
    found = [draw().numpy() for _ in range(4)]
    assert len({value.tobytes() for value in found}) == 4


def test_distributions():
    mine.random.set_seed(1)
    assert abs(mine.random.poisson([4000], 3.0).numpy().mean() - 3) < 0.2
    gamma = mine.random.gamma([4000], 2.0, beta=4.0)
    assert gamma.shape == [4000] and abs(gamma.numpy().mean() - 0.5) < 0.05


def test_seeds_fix_poisson_numbers():
    draws = []
    for _ in range(2):
        mine.random.set_seed(4)
        draws.append([mine.random.poisson([50], 3.0).numpy(), mine.random.poisson([50], 3.0, seed=2).numpy(),
                      mine.random.poisson([50], 3.0, seed=2).numpy()])
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not any(np.array_equal(draws[0][a], draws[0][b]) for a, b in ((0, 1), (1, 2)))


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"seed must have shape \[2\]"):
        mine.random.stateless_normal([2], seed=[1, 2, 3])
    with pytest.raises(ValueError, match="maxval"):
        mine.random.uniform([2], minval=3, dtype=mine.int32)
    with pytest.raises(NotImplementedError, match="Philox"):
        mine.random.stateless_normal([2], seed=[1, 2], alg="threefry")
