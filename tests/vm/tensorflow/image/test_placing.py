"""`ScaleAndTranslate` and its gradient, beside genuine TensorFlow."""
import numpy as np
import pytest

import dragon.vm.tensorflow as mine
from harness import genuine
from harness.subresults import each

KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
PLACES = [((2, 7, 9, 3), (5, 12), (0.7, 1.4), (0.3, -1.2)), ((1, 7, 9, 64), (14, 4), (2, 0.5), (0, 0)),
          ((1, 1, 1, 1), (4, 4), (3, 3), (1, 0)), ((1, 7, 9, 1), (7, 9), (1, 1), (2, -3)),
          ((1, 7, 9, 3), (7, 9), (1, 1), (100, 0)), ((1, 20, 30, 3), (5, 6), (0.11, 0.13), (0.5, 0.7)),
          ((0, 3, 3, 2), (2, 2), (1, 1), (0, 0)), ((1, 5, 5, 2), (5, 5), (1e-6, 1e6), (0, 0))]


def place(tf, x, size, scale, translation, kernel="triangle", smooth=True):
    """Return the result."""
    return tf.raw_ops.ScaleAndTranslate(
        images=x, size=tf.constant(size, "int32"), scale=tf.constant(scale, "float32"),
        translation=tf.constant(translation, "float32"), kernel_type=kernel, antialias=smooth)


@each("smooth", [True, False])
@each("kernel", KERNELS)
def test_values_and_gradients(kernel, smooth):
    random = np.random.default_rng(0)
    for shape, *where in PLACES:
        x, found = random.normal(size=shape), []
        for tf in (mine, genuine.tf):
            image = tf.constant(x, "float32")
            with tf.GradientTape() as tape:
                tape.watch(image)
                made = place(tf, image, *where, kernel, smooth)
                total = tf.reduce_sum(made * made)
            found.append((made.numpy(), tape.gradient(total, image).numpy()))
        for one, other in zip(*found):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * max(1, np.abs(other).max(initial=0)))


@each("dtype", ["uint8", "int8", "int16", "uint16", "int32", "int64", "bfloat16", "float16",
                "float64"])
def test_dtypes(dtype):
    made, wanted = (place(tf, tf.cast(tf.reshape(tf.range(54.0), (1, 6, 9, 1)), dtype), (4, 12), (0.7, 1.3), (0.2, -1),
                          "keyscubic") for tf in (mine, genuine.tf))
    assert made.dtype.name == wanted.dtype.name == "float32"
    np.testing.assert_allclose(made.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4)


def test_the_gradient_by_its_name():
    slope, x = np.random.default_rng(1).normal(size=(2, 5, 12, 3)), np.zeros((2, 7, 9, 3))
    made, wanted = (tf.raw_ops.ScaleAndTranslateGrad(
        grads=tf.constant(slope, "float32"), original_image=tf.constant(x, "float32"),
        scale=tf.constant([0.7, 1.4]), translation=tf.constant([0.3, -1.2])).numpy() for tf in (mine, genuine.tf))
    np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-5)


ONES, TWO = np.ones((1, 3, 3, 1), "float32"), (1.0, 1.0)
WRONG = {"no size": (ONES, (0, 2), TWO, TWO), "three sizes": (ONES, (1, 2, 3), TWO, TWO),
         "one scale": (ONES, (2, 2), (1.0,), TWO), "a kernel": (ONES, (2, 2), TWO, TWO, "what"),
         "three axes": (ONES[0], (2, 2), TWO, TWO), "scale 0": (ONES, (2, 2), (0.0, 1.0), TWO),
         "a negative scale": (ONES, (2, 2), (-1.0, 1.0), TWO), "no rows": (ONES[:, :0], (2, 2), TWO, TWO),
         "no number": (ONES, (2, 2), (float("nan"), 1.0), TWO), "no channels": (ONES[..., :0], (2, 2), TWO, TWO),
         "truths": (ONES > 0, (2, 2), TWO, TWO)}


@each("name", WRONG)
def test_wrong_arguments(name):
    for tf in (mine, genuine.tf):
        with pytest.raises(tf.errors.InvalidArgumentError):
            place(tf, tf.constant(WRONG[name][0]), *WRONG[name][1:])
