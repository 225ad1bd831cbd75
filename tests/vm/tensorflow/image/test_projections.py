"""Images moved by projections, beside genuine TensorFlow: to the bit, as the last one decides which pixel is read."""
import itertools

import numpy as np
import pytest

import dragon.vm.tensorflow as mine
from harness import genuine
from harness.subresults import each

OP = "ImageProjectiveTransformV3"
DTYPES = ("uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
SHAPES = ((2, 7, 9, 3), (2, 7, 9, 1), (1, 1, 1, 2), (1, 1, 5, 4), (2, 6, 1, 5), (0, 3, 3, 2), (2, 3, 3, 0),
          (2, 0, 4, 3), (1, 4, 0, 1))
WAYS = tuple(itertools.product(("BILINEAR", "NEAREST"), ("CONSTANT", "NEAREST", "REFLECT", "WRAP")))
NAN, INF = float("nan"), float("inf")
ODD = [[1, 0, .5, 0, 1, 0, 0, 0], [1, 0, NAN, 0, 1, 0, 0, 0], [1, 0, 0, 0, 1, INF, 0, 0], [1, 0, 0, 0, 1, -INF, 0, 0],
       [1, 0, 1e7, 0, 1, -1e7, 0, 0], [0] * 8, [0, 0, 0, 0, 0, 0, -1, 0], [1, 0, 0, 0, 1, 0, -.5, -.25],
       [0, 1, 0, 1, 0, 0, 0, 0], [-1, 0, 100, 0, -1, 50, 0, 0], [1e-30] * 8, [3e38] * 8]


def draw(random, count):
    """Return rows of eight numbers that turn, shear, move and bend."""
    drawn = random.normal(size=(count, 8)) * [1, .5, 5, .5, 1, 5, .02, .02]
    return drawn + [1, 0, 0, 0, 1, 0, 0, 0]


def project(tf, x, transforms, size, fill, way, dtype="float32", op=OP):
    """Return the result as an array."""
    values = {"fill_value": fill} if op == OP else {}
    made = getattr(tf.raw_ops, op)(
        images=tf.cast(tf.constant(x), dtype), transforms=tf.constant(transforms, "float32"), output_shape=size,
        interpolation=way[0], fill_mode=way[1], **values)
    assert made.dtype.name == dtype
    return tf.cast(made, "float64").numpy()


@each("dtype", DTYPES)
@each("shape", SHAPES, ids=str, size=20)
def test_to_the_bit(shape, dtype):
    random = np.random.default_rng(0)
    x = random.integers(0, 256, shape) if "int" in dtype else random.normal(size=shape) * 100
    sets = [draw(random, 1), *([draw(random, shape[0])] if shape[0] else []), *([one] for one in ODD)]
    for way, (number, transforms) in itertools.product(WAYS, enumerate(sets)):
        size = [(shape[1] or 2, shape[2] or 3), (5, 70), (1, 1)][number % 3]
        fill = [0.0, 7.25, 255.0, -3.0][number % 4]
        made, wanted = (project(tf, x, transforms, size, fill, way, dtype) for tf in (mine, genuine.tf))
        np.testing.assert_array_equal(made, wanted, f"{way} {transforms}")


@pytest.mark.parametrize("size", [4, 5])
def test_turns_by_parts_of_a_circle(size):
    """Places lie just between pixels, or nearly."""
    x, middle = np.random.default_rng(1).normal(size=(1, size, size, 1)), (size - 1) / 2
    for angle, way in itertools.product(range(0, 360, 15), WAYS):
        c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
        turn = [[c, -s, middle - middle * c + middle * s, s, c, middle - middle * s - middle * c, 0, 0]]
        made, wanted = (project(tf, x, turn, (size, size), 1.0, way) for tf in (mine, genuine.tf))
        np.testing.assert_array_equal(made, wanted, f"{angle} {way}")


def test_without_a_fill():
    x = np.arange(24.0).reshape(1, 4, 6, 1)
    made, wanted = (project(tf, x, [ODD[0]], (4, 6), None, WAYS[0], op="ImageProjectiveTransformV2")
                    for tf in (mine, genuine.tf))
    np.testing.assert_array_equal(made, wanted)


@each("way", WAYS, ids="-".join)
@each("count", [1, 2])
def test_gradients_are_the_inverse_transforms(way, count):
    random = np.random.default_rng(2)
    x, moves = random.normal(size=(2, 5, 6, 3)), draw(random, count) + [0, 0, -3, 0, 0, 2, 0, 0]
    found = []
    for tf in (mine, genuine.tf):
        image, numbers = tf.constant(x, "float32"), tf.constant(moves, "float32")
        with tf.GradientTape() as tape:
            tape.watch([image, numbers])
            made = tf.raw_ops.ImageProjectiveTransformV3(
                images=image, transforms=numbers, output_shape=(4, 7), fill_value=2.0, interpolation=way[0],
                fill_mode=way[1])
            total = tf.reduce_sum(made * made)
        slope, none = tape.gradient(total, [image, numbers])
        assert none is None
        found.append(slope.numpy())
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-3)


def test_gradients_of_what_cannot_be_turned_back():
    for tf in (mine, genuine.tf):
        image = tf.ones((1, 2, 2, 1))
        with pytest.raises(tf.errors.InvalidArgumentError, match="invertible|singular"), tf.GradientTape() as tape:
            tape.watch(image)
            made = tf.raw_ops.ImageProjectiveTransformV3(images=image, transforms=tf.zeros((1, 8)), fill_value=0.0,
                                                         output_shape=(2, 2), interpolation="BILINEAR")
            tape.gradient(made, image)


WRONG = {"three transforms for two": ((2, 2, 2, 1), np.zeros((3, 8)), (2, 2)),
         "a lone row": ((2, 2, 2, 1), np.zeros(8), (2, 2)), "seven numbers": ((2, 2, 2, 1), np.zeros((1, 7)), (2, 2)),
         "three axes": ((2, 2, 2), [ODD[0]], (2, 2)), "no size": ((2, 2, 2, 1), [ODD[0]], (0, 3)),
         "three sizes": ((2, 2, 2, 1), [ODD[0]], (2, 3, 1)), "no transforms": ((2, 2, 2, 1), np.zeros((0, 8)), (2, 2))}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    shape, transforms, size = WRONG[name]
    for tf in (mine, genuine.tf):
        with pytest.raises(tf.errors.InvalidArgumentError):
            project(tf, np.zeros(shape), transforms, size, 0.0, WAYS[0])


def test_wrong_dtypes():
    for tf in (mine, genuine.tf):
        with pytest.raises(tf.errors.InvalidArgumentError, match="int16"):
            project(tf, np.zeros((1, 2, 2, 1)), [ODD[0]], (2, 2), 0.0, WAYS[0], "int16")
