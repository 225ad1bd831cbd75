"""`tf.experimental.numpy` beside the genuine one: numbers, dtypes, methods and the modes of promotion."""

import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine, interpreter
from harness.subresults import each

CALLS = """
sum(X) | mean(X) | prod(B) | add(True, True) | add(I8, 1.0) | add(F, 1) | var(X) | std(F) | max([1, 2])
argmax([1, 3]) | power(2, 3) | cumsum(X) | cumprod(F) | average([1, 2], weights=[1.0, 3.0]) | linspace(0, 1, 3)
arange(3) | arange(3.0) | arange(1, 10, 4) | zeros(2) | eye(2, 3, 1) | full((2,), 3) | tri(3)
where([True, False], 1, 2.0) | where([True, False]) | nonzero([0, 1]) | diag_indices(2) | ix_([0, 1], [2])
divmod(7, 2) | clip(X, 0, 1.5) | array([1, 2.0]) | heaviside(X, 0.5) | gcd(4, 6) | lcm(4, 6) | bitwise_and(X, 3)
logical_and(X, 0) | count_nonzero(X) | concatenate([X, [1.5]]) | stack([X, X]) | split(X, 2) | sort([3, 1])
argsort([3, 1, 2]) | fix(-1.5) | trace([[1, 2], [3, 4]]) | take(X, [5]) | take(X, [3], mode='wrap') | repeat(X, 2)
ravel([[1]]) | meshgrid([1, 2], [3]) | atleast_2d(1) | atleast_3d([1, 2]) | select([X > 1], [X])
compress([True, False], X) | isclose(X, X) | ptp(X) | allclose(X, [1, 2]) | array_equal(X, [1]) | nansum([1.0, nan])
nanmean([1.0, nan]) | sign(X) | angle(1j, deg=True) | outer(X, X) | dot(X, X) | matmul([[1, 2]], [[3], [4]])
kron(X, X) | tensordot([[1, 2]], [[3], [4]], 1) | vander(X) | reshape([[1, 2], [3, 4]], -1, 'F') | flip(X)
roll(X, 1) | rot90([[1, 2]]) | tile(X, 2) | transpose([[1, 2]]) | diff([1, 4, 9]) | diag([1, 2])
swapaxes([[1, 2]], 0, 1) | moveaxis([[1, 2]], 0, 1) | expand_dims(X, 0) | squeeze([[1]]) | float_power(F, 2)
true_divide(1, 2) | floor_divide(-7, 2) | mod(-7, 2) | maximum(X, 1.5) | logaddexp(F, F) | signbit(F)
hstack([X, X]) | vstack([X, X]) | dstack([X, X]) | hsplit(X, 2) | append(X, [3]) | isfinite(F) | logspace(0, 2, 3)
geomspace(1, 100, 3) | einsum('i,i->', X, X) | cross([1, 0, 0], [0, 1, 0]) | triu([[1, 2], [3, 4]])
full_like(X, 7) | ones_like(X, F.dtype) | identity(2) | all(X) | any([0, 0]) | broadcast_to(X, (2, 2)) | log2(F)
"""
EXPRESSIONS = [call.strip() for line in CALLS.strip().splitlines() for call in line.split("|")]


def run(tf, expression):
    """Return an expression's arrays."""
    tnp = tf.experimental.numpy
    known = {name: getattr(tnp, name) for name in dir(tnp) if not name.startswith("_")}
    known.update(X=tf.constant([1, 2]), F=tf.constant([1.0, 2.0]), I8=tf.constant(1, tf.int8), nan=float("nan"),
                 B=tf.constant([True, True]))
    found = eval(expression, known)
    return [np.asarray(part) for part in (found if isinstance(found, (list, tuple)) else [found])]


@each("expression", EXPRESSIONS)
def test_as_genuine(expression):
    for mine, theirs in zip(run(ours, expression), run(genuine.tf, expression), strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        assert np.allclose(mine, theirs, equal_nan=True)


# Those that the genuine one computes only where its tensors have NumPy's methods.
RECORDED = {"sin(X)": ("float64", [0.8414709848, 0.9092974268]), "sqrt(4)": ("float64", 2.0),
            "hypot(3, 4)": ("float64", 5.0), "around([1.25, 2.5], 1)": ("float64", [1.2, 2.5]),
            "exp2(X)": ("float64", [2.0, 4.0]), "var(F, ddof=1)": ("float32", 0.5)}


@pytest.mark.parametrize("expression", RECORDED)
def test_as_recorded(expression):
    found, = run(ours, expression)
    assert found.dtype == RECORDED[expression][0] and np.allclose(found, RECORDED[expression][1])


PROGRAM = """
import dragon.vm
dragon.vm.install()
import tensorflow as tf
import tensorflow.experimental.numpy as tnp
"""


def told(program, folder):
    """Return what a program prints, which runs apart since it changes tensors for good."""
    done = interpreter.run(["-c", PROGRAM + program], folder, timeout=120, preload=PROGRAM)
    assert not done.returncode, done.stderr
    return done.stdout.split("\n")[:-1]


def test_tensors_have_methods_and_promote(tmp_path):
    assert told("""
tnp.experimental_enable_numpy_behavior()
x = tf.constant([[1, 2], [3, 4]])
print((x + 1.5).dtype.name, (x + tf.constant(1.0)).dtype.name, (2 * x).dtype.name, (x / 2).dtype.name)
print(x.T.numpy().tolist(), x.reshape(-1).shape, x.astype(tnp.float32).dtype.name, x.max().numpy(), x.mean().numpy())
print(x[[0, 1], [1, 0]].numpy(), x[:, (True, False)].numpy().tolist(), x[1, None].shape, (x == 1).numpy().tolist())
print((x > 2.5).numpy().tolist(), (tf.Variable(2) + 0.5).dtype.name, x.tolist(), x.clip(2, 3).numpy().tolist())
try:
    x[0] = 1
except TypeError:
    print("no item")
""", tmp_path) == [
        "float64 float64 int32 float64", "[[1, 3], [2, 4]] (4,) float32 4 2.5",
        "[2 3] [[1], [3]] (1, 2) [[True, False], [False, False]]",
        "[[False, False], [True, True]] float64 [[1, 2], [3, 4]] [[2, 2], [3, 3]]", "no item"]


def test_modes(tmp_path):
    assert told("""
tnp.experimental_enable_numpy_behavior(prefer_float32=True)
print(tnp.asarray(1.0).dtype.name, tnp.add(1.0, 2).dtype.name, tnp.sin(1).dtype.name)
tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
i8, i32, i64, f16, f32 = (tf.constant(1, getattr(tf, name)) for name in "int8 int32 int64 float16 float32".split())
print((i32 + f32).dtype.name, (i64 + f16).dtype.name, tf.add(i8, i32).dtype.name, (i8 + 1).dtype.name,
      (i8 + 1.5).dtype.name)
tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
print((i8 + i32).dtype.name, (f32 + 1).dtype.name)
try:
    i32 + f32
except TypeError as error:
    print(str(error)[:110])
tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
try:
    i32 + f32
except tf.errors.InvalidArgumentError:
    print("off")
""", tmp_path) == [
        "float32 float32 float32", "float32 float16 int32 int8 float64", "int32 float32",
        "In promotion mode PromoMode.SAFE, implicit dtype promotion between (<dtype: 'int32'>, weak=False) and "
        "(<dtype:", "off"]


def test_refusals():
    tnp = ours.experimental.numpy
    with pytest.raises(ValueError, match="dtype_conversion_mode='most'"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="most")
    with pytest.raises(ValueError, match="out"):
        tnp.mean([1.0], out=1)
    with pytest.raises(ours.errors.InvalidArgumentError, match="negative integer powers"):
        tnp.power(2, -1)
    with pytest.raises(ValueError, match="at least one"):
        tnp.result_type()


def test_names_are_those_of_genuine_tensorflow():
    theirs = genuine.tf.experimental.numpy
    assert not [name for name in dir(ours.experimental.numpy)
                if not name.startswith("_") and not hasattr(theirs, name)]
