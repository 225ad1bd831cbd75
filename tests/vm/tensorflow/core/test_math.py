"""`tf.math` and `tf.bitwise` beside genuine ones: values, dtypes, errors and gradients."""
import numpy as np
import pytest

from dragon.vm import tensorflow as dragon_tf
from harness import genuine
from harness.expressions import check
from harness.subresults import each

UNARY = """
abs acos acosh angle asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e ceil conj cos cosh digamma erf
erfc erfcinv erfinv exp expm1 floor imag is_finite is_inf is_nan lgamma log log1p log_sigmoid log_softmax ndtri
negative real reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh softmax softplus softsign sqrt
square tan tanh zero_fraction lbeta is_strictly_increasing is_non_decreasing l2_normalize reduce_sum reduce_mean
reduce_max reduce_min reduce_prod reduce_std reduce_variance reduce_logsumexp reduce_euclidean_norm argmax argmin
cumsum cumprod cumulative_logsumexp count_nonzero
""".split()
INPUTS = ("[0.3, 0.5, 0.9]", "[[1.5, -2.5], [0., 3.]]", "tf.constant([0.25, 0.5], tf.float64)", "[1, -2, 3]",
          "tf.constant([1, 2], tf.uint8)", "[True, False]", "tf.constant([1. + 2.j, 0.5j])",
          "tf.constant([1.5, 0.5], tf.float16)")
BINARY = ("add subtract multiply divide truediv floordiv floormod mod greater greater_equal less less_equal equal "
          "not_equal maximum minimum pow squared_difference divide_no_nan multiply_no_nan xdivy xlogy xlog1py atan2 "
          "logical_and logical_or logical_xor nextafter igamma igammac").split()
PAIRS = ("[1., 2., 0.5], [3., 0.5, 2.]", "[7, -7, 4], [2, 2, 3]", "[1., 2.], 2", "3, tf.constant([1, 2])",
         "[True, False], [True, True]", "[1., 2.], 0.", "[1 + 1j], [2 - 1j]")
EXPRESSIONS = """
tf.math.reduce_sum([[1, 2], [3, 4]], axis=0)
tf.math.reduce_sum([[1, 2], [3, 4]], axis=-1, keepdims=True)
tf.math.reduce_sum([[1, 2], [3, 4]], axis=[0, 1], keepdims=True)
tf.math.reduce_sum([[1., 2.]], axis=[])
tf.math.reduce_sum([[1., 2.]], axis=3)
tf.math.reduce_sum([1, 2], tf.constant([0]))
tf.reduce_mean([1, 2, 4])
tf.reduce_mean([[1., 2.], [3., 5.]], 1)
tf.reduce_all([[True, False], [True, True]], 0)
tf.reduce_any([[True, False], [False, False]], 1)
tf.reduce_prod([[1, 2], [3, 4]], 0)
tf.reduce_prod([[1., 2.], [3., 4.]], [0, 1])
tf.reduce_max([[1, 2], [3, 0]], 1)
tf.reduce_logsumexp([[1., 2.], [3., 4.]], 1, True)
tf.math.reduce_std([[1., 2.], [3., 5.]], 0)
tf.argmax([[1, 5], [7, 2]])
tf.argmax([[1, 5], [7, 2]], axis=1, output_type=tf.int32)
tf.argmin([3., 1., 2.])
tf.argmax(3)
tf.argmax([1], axis=4)
tf.cumsum([1, 2, 3], exclusive=True)
tf.cumsum([1, 2, 3], reverse=True)
tf.cumsum([[1, 2], [3, 4]], axis=1, exclusive=True, reverse=True)
tf.math.cumprod([1., 2., 3.], exclusive=True)
tf.math.top_k([1., 5., 3., 5.], k=3)
tf.math.top_k([[1, 2], [4, 3]])
tf.math.top_k([1], k=2)
tf.math.in_top_k([0, 1], [[1., 2.], [1., 2.]], 1)
tf.math.bincount([1, 1, 2, 5])
tf.math.bincount([1, 1, 2], weights=[0.5, 1., 2.])
tf.math.bincount([1, 1, 2], minlength=5, dtype=tf.int64)
tf.math.bincount([1, 1, 5], maxlength=3)
tf.math.bincount([[1, 1], [0, 2]], axis=-1)
tf.math.bincount([[1, 1], [0, 2]], axis=-1, binary_output=True)
tf.math.confusion_matrix([1, 2, 4], [2, 2, 4])
tf.math.confusion_matrix([0, 1], [1, 1], num_classes=3, weights=[2, 3], dtype=tf.float32)
tf.math.confusion_matrix([-1], [1])
tf.math.invert_permutation([3, 4, 0, 2, 1])
tf.math.l2_normalize([[3., 4.], [6., 8.]], axis=1)
tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 2])
tf.math.segment_mean([1., 2., 3.], [0, 0, 1])
tf.math.segment_max([1, 2, 3], [0, 0, 2])
tf.math.segment_min([1., 2., 3.], [0, 0, 1])
tf.math.segment_prod([1, 2, 3], [0, 0, 2])
tf.math.segment_sum([1, 2], [1, 0])
tf.math.unsorted_segment_sum([1, 2, 3], [2, 0, 2], 3)
tf.math.unsorted_segment_mean([1., 2., 3.], [2, 0, 2], 3)
tf.math.unsorted_segment_max([1, 2, 3], [2, 0, -1], 3)
tf.math.unsorted_segment_min([1., 2., 3.], [1, 0, 1], 3)
tf.math.unsorted_segment_prod([1., 2., 3.], [1, 0, 1], 3)
tf.math.unsorted_segment_sqrt_n([1., 2., 3.], [1, 0, 1], 3)
tf.math.polyval([1., 2., 3.], 2.)
tf.math.polygamma([1., 2.], [0.5, 2.])
tf.math.zeta([2., 3.], [1., 2.])
tf.math.add_n([tf.constant([1, 2]), tf.constant([3, 4])])
tf.math.add_n([])
tf.math.scalar_mul(2., tf.constant([1., 2.]))
tf.complex([1., 2.], [3., 4.])
tf.complex([1], [2])
tf.truncatediv([7, -7], [2, 2])
tf.truncatemod([7, -7], [3, 3])
tf.realdiv([1., 2.], 2.)
tf.math.count_nonzero([[0, 1], [2, 0]], axis=0)
tf.math.count_nonzero(["", "a"])
tf.bitwise.bitwise_and([6, 5], [3, 1])
tf.bitwise.bitwise_or([6, 5], 8)
tf.bitwise.bitwise_xor([6, 5], [3, 1])
tf.bitwise.invert([0, 5])
tf.bitwise.left_shift([1, 2], [3, 1])
tf.bitwise.right_shift([-8, 9], [1, 1])
tf.bitwise.invert([1.])
tf.abs(-1), tf.add(1, 2), tf.sin(0.5), tf.exp(1.), tf.maximum(1, 2), tf.sqrt(4.), tf.square(3), tf.negative([1])
"""
GRADIENTS = ("abs acosh asin asinh atan atanh cosh digamma erf erfc erfinv exp expm1 lgamma log log1p log_sigmoid "
             "log_softmax ndtri reciprocal reciprocal_no_nan rsqrt sigmoid sin sinh softmax softplus softsign sqrt "
             "square tan tanh l2_normalize reduce_sum reduce_mean reduce_max reduce_prod reduce_std reduce_variance "
             "reduce_logsumexp reduce_euclidean_norm cumsum cumprod cumulative_logsumexp").split()


@each("name", UNARY)
def test_unary(name):
    for given in INPUTS:
        check(f"tf.math.{name}({given})", 2e-3 if "float16" in given else 2e-5, more=True)


@each("name", BINARY)
def test_binary(name):
    for given in PAIRS:
        if name != "nextafter" or "." in given:  # genuine makes floats of integers there
            check(f"tf.math.{name}({given})", more=True)


@each("name", "add subtract multiply divide floordiv maximum pow less equal atan2 xlogy".split())
@each("given", ["tf.constant([1, 2]), tf.constant([1., 2.])", "1.5, tf.constant([1, 2])",
                "[1., 2.], [1., 2., 3.]", "'a', 1.", "None, 1."])
def test_refusals(name, given):
    check(f"tf.math.{name}({given})", more=name in ("add", "equal", "pow", "xlogy"))


@each("text", EXPRESSIONS.strip().split("\n"))
def test_expression(text):
    check(text)


@each("name", GRADIENTS)
def test_gradient(name):
    given = "[[1.3, 2.5]]" if name == "acosh" else "[[0.3, 0.6], [0.8, 0.2]]"
    check(f"""
v = tf.Variable({given})
with tf.GradientTape() as t: y = tf.math.{name}(v) * 2.
return t.gradient(y, v)""", 1e-4)


@each("name", "add subtract multiply divide maximum pow squared_difference divide_no_nan "
      "multiply_no_nan xdivy xlogy atan2 floormod".split())
def test_gradients_of_two(name):
    check(f"""
v, w = tf.Variable([[1., 2.], [3., 4.]]), tf.Variable([2., 0.5])
with tf.GradientTape() as t: y = tf.math.{name}(v, w) * [[1., 2.], [3., 4.]]
return t.gradient(y, [v, w])""", 1e-4)


@pytest.mark.parametrize("name", ["equal", "not_equal", "truediv", "pow"])
def test_arrays_on_the_left_become_tensors(name):
    x = np.array([2, 3])
    for other in (x, [2, 3], 2):
        for tf in (dragon_tf, genuine.tf):
            assert isinstance(getattr(tf.math, name)(x, other), tf.Tensor)
