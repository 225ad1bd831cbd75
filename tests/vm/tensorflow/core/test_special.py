"""`tf.math.special` and `tf.math.betainc` beside genuine ones, from the least numbers to the greatest."""
import pytest

from dragon.vm import tensorflow as ours
from harness.expressions import check
from harness.subresults import each

NUMBERS = ("[1e-30, 1e-8, 0.01, 0.1, 0.19, 0.2, 0.21, 0.3725, 0.49, 0.5, 0.51, 0.99, 1., 1.01, 1.49, 1.5, 1.51, "
           "1.99, 2., 2.01, 2.5, 3., 4.7, 5., 7.5, 10., 20., 39.9, 40., 40.1, 60., 88.]")
EXTREMES = "[0., -0.1, -1., -3., -50., 700., 1e4, 1e12, 1e30, float('inf'), float('-inf'), float('nan')]"
NAMES = "bessel_k0 bessel_k0e bessel_k1 bessel_k1e dawsn expint fresnel_cos fresnel_sin spence".split()
BETAS = """
tf.math.betainc(2., 3., tf.constant([0., 0.1, 0.4, 0.5, 0.9, 1.]))
tf.math.betainc(*tf.unstack(tf.constant([[0.5, 1., 30., 200.], [0.5, 2., 5., 300.], [0.3, 0.9, 0.8, 0.4]], tf.float64)))
tf.math.betainc(tf.constant([-1., 0., 1.]), tf.constant([1., 1., 0.]), 0.5)
tf.math.betainc([1., 2.], [1., 2.], tf.constant([-0.5, 1.5]))
tf.math.betainc([1., 2.], [1., 2., 3.], 0.5)
tf.math.betainc(1., 1., tf.constant([], tf.float32))
tf.math.betainc(1, 1, tf.constant(1))
"""


@each("dtype", ["float32", "float64"])
@each("name", NAMES)
def test_numbers(name, dtype):
    check(f"tf.math.special.{name}(tf.constant({NUMBERS}, tf.{dtype}))", 2e-6 if dtype == "float32" else 1e-11)


@each("name", NAMES)
def test_extremes(name):
    check(f"tf.math.special.{name}(tf.constant({EXTREMES}, tf.float64))", 1e-9)


@pytest.mark.parametrize("text", ["[]", "3.", "[[1.], [2.]]"])
def test_shapes(text):
    check(f"tf.math.special.spence(tf.constant({text}, tf.float32))")


@each("name", NAMES)
def test_gradient(name):
    check(f"""
v = tf.constant([0.3, 0.9, 1., 1.7, 2.5, 6.], tf.float64)
with tf.GradientTape() as t:
    t.watch(v)
    y = tf.math.special.{name}(v) * 2.
return t.gradient(y, v)""", 1e-9)


@pytest.mark.parametrize("text", BETAS.strip().split("\n"))
def test_incomplete_beta(text):
    check(text, 1e-5)


@pytest.mark.parametrize("great", [3001.0, 1e6, 1e8, 1e12])
def test_incomplete_beta_of_great_parameters(great):
    # At the middle it is a half, and one standard deviation below nearly what the normal distribution has.
    point = ours.constant([0.5, 0.5 - 0.5 / (2 * great + 1) ** 0.5], ours.float64)
    found = ours.math.betainc(ours.fill([2], ours.constant(great, ours.float64)), great, point).numpy()
    assert abs(found[0] - 0.5) < 1e-9 and abs(found[1] - 0.15865525393) < 0.07 / great + 1e-9


def test_gradient_of_incomplete_beta():
    check("""
a, b, x = tf.constant([2., 1.]), tf.constant([3., 1.]), tf.constant([0.2, 0.7])
with tf.GradientTape() as t:
    t.watch([a, b, x])
    y = tf.math.betainc(a, b, x)
return t.gradient(y, x)""")


def test_what_is_refused():
    check("tf.math.special.spence(tf.constant([1]))")
