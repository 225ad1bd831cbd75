"""TensorFlow's functions of numbers, when a ragged or sparse tensor comes along."""
from dragon.vm.shared.ragged.dispatch import teach
from dragon.vm.tensorflow import math, nn
from dragon.vm.tensorflow.core.numbers import clipping

# Modules, and their functions that go through values one by one.
ELEMENTWISE = {
    clipping: "clip_by_value",
    math: "abs acos acosh add angle asin asinh atan atan2 atanh ceil conj cos cosh digamma divide divide_no_nan "
          "equal erf erfc exp expm1 floor floordiv floormod greater greater_equal imag is_finite is_inf is_nan less "
          "less_equal lgamma log log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum minimum "
          "mod multiply multiply_no_nan negative not_equal pow real reciprocal rint round rsqrt scalar_mul sigmoid "
          "sign sin sinh softplus sqrt square squared_difference subtract tan tanh truediv",
    nn: "relu relu6 elu selu leaky_relu gelu silu sigmoid softplus softsign tanh swish dropout",
}
REDUCTIONS = {math: "reduce_sum reduce_prod reduce_max reduce_min reduce_mean reduce_any reduce_all"}

teach(ELEMENTWISE, REDUCTIONS)
