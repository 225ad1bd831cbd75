"""The modes "all" and "safe" of promotion: what genuine TensorFlow 2.21 answers for each pair of dtypes."""
import pytest

from dragon.vm import tensorflow as tf

# Short names of dtypes, in the order of lines and columns; three columns more are of Python's 1, 1.5 and 1j.
SHORT = {"i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32", "i8": "int64",
         "u8": "uint64", "bf": "bfloat16", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64",
         "c16": "complex128"}
ANSWERS = {
    "all": """
        i1  i2  i2  i4  i4  i8  i8  f8  bf  f2  f4  f8  c8  c16 i1  f8  c16
        i2  u1  i2  u2  i4  u4  i8  u8  bf  f2  f4  f8  c8  c16 u1  f8  c16
        i2  i2  i2  i4  i4  i8  i8  f8  bf  f2  f4  f8  c8  c16 i2  f8  c16
        i4  u2  i4  u2  i4  u4  i8  u8  bf  f2  f4  f8  c8  c16 u2  f8  c16
        i4  i4  i4  i4  i4  i8  i8  f8  bf  f2  f4  f8  c8  c16 i4  f8  c16
        i8  u4  i8  u4  i8  u4  i8  u8  bf  f2  f4  f8  c8  c16 u4  f8  c16
        i8  i8  i8  i8  i8  i8  i8  f8  bf  f2  f4  f8  c8  c16 i8  f8  c16
        f8  u8  f8  u8  f8  u8  f8  u8  bf  f2  f4  f8  c8  c16 u8  f8  c16
        bf  bf  bf  bf  bf  bf  bf  bf  bf  f4  f4  f8  c8  c16 bf  bf  c8
        f2  f2  f2  f2  f2  f2  f2  f2  f4  f2  f4  f8  c8  c16 f2  f2  c8
        f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f8  c8  c16 f4  f4  c8
        f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  c16 c16 f8  f8  c16
        c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c16 c8  c16 c8  c8  c8
        c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16
    """,
    "safe": """
        i1  -   i2  -   i4  -   i8  -   bf  f2  f4  f8  c8  c16 i1  -   c16
        -   u1  i2  u2  i4  u4  i8  u8  bf  f2  f4  f8  c8  c16 u1  -   c16
        i2  i2  i2  -   i4  -   i8  -   -   -   f4  f8  c8  c16 i2  -   c16
        -   u2  -   u2  i4  u4  i8  u8  -   -   f4  f8  c8  c16 u2  -   c16
        i4  i4  i4  i4  i4  -   i8  -   -   -   -   f8  -   c16 i4  -   c16
        -   u4  -   u4  -   u4  i8  u8  -   -   -   f8  -   c16 u4  -   c16
        i8  i8  i8  i8  i8  i8  i8  -   -   -   -   -   -   -   i8  -   -
        -   u8  -   u8  -   u8  -   u8  -   -   -   -   -   -   u8  -   -
        bf  bf  -   -   -   -   -   -   bf  -   f4  f8  c8  c16 bf  bf  -
        f2  f2  -   -   -   -   -   -   -   f2  f4  f8  c8  c16 f2  f2  -
        f4  f4  f4  f4  -   -   -   -   f4  f4  f4  f8  c8  c16 f4  f4  -
        f8  f8  f8  f8  f8  f8  -   -   f8  f8  f8  f8  -   c16 f8  f8  c16
        c8  c8  c8  c8  -   -   -   -   c8  c8  c8  -   c8  c16 c8  c8  c8
        c16 c16 c16 c16 c16 c16 -   -   c16 c16 c16 c16 c16 c16 c16 c16 c16
    """,
}


@pytest.fixture
def behaviour():
    """Return the function that sets the mode, which is off again afterwards."""
    enable = tf.experimental.numpy.experimental_enable_numpy_behavior
    yield enable
    enable(dtype_conversion_mode="off")


@pytest.mark.parametrize("mode", ANSWERS)
def test_pairs(mode, behaviour):
    """The dtype of a sum, or a TypeError, for each pair."""
    behaviour(dtype_conversion_mode=mode)
    values = [tf.cast(tf.constant(1), name) for name in SHORT.values()]
    for one, line in zip(values, ANSWERS[mode].split("\n")[1:-1]):
        for other, answer in zip([*values, 1, 1.5, 1j], line.split(), strict=True):
            if answer == "-":
                with pytest.raises(TypeError, match="PromoMode.SAFE"):
                    one + other
            else:
                assert (one + other).dtype.name == SHORT[answer], (one, other)


def test_wide_unsigned_numbers_stay(behaviour):
    """Sums of 64 bits keep all of them."""
    behaviour(dtype_conversion_mode="all")
    wide = tf.constant(2 ** 40, "uint64")
    assert (wide + wide).numpy() == 2 ** 41 and (wide * 3).dtype == tf.uint64


def test_variables_and_constants(behaviour):
    """Values are brought to a dtype that holds them, and to no other."""
    behaviour(dtype_conversion_mode="all")
    count = tf.Variable(10, dtype=tf.int32)
    assert count.assign_add(tf.constant(5, tf.int16)).numpy() == 15 and count.dtype == tf.int32
    assert tf.Variable(10.0).assign(tf.constant(5, tf.int64)).numpy() == 5.0
    for value in (tf.constant(5.7), tf.constant(5, tf.int64)):
        with pytest.raises(TypeError, match="Variable dtype is immutable. Calling assign of Variable"):
            count.assign(value)
    assert tf.constant(tf.constant(10, tf.int16), tf.float32).dtype == tf.float32
    with pytest.raises(TypeError, match="with dtype tf.int16, but got dtype tf.float32"):
        tf.constant(tf.constant(10.7), tf.int16)
    behaviour(dtype_conversion_mode="safe")
    with pytest.raises(TypeError, match="PromoMode.SAFE"):
        count.assign_sub(tf.constant(5.7))
    behaviour(dtype_conversion_mode="legacy")
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32"):
        count.assign(tf.constant(5, tf.int16))
