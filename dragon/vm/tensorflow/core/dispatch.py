"""TensorFlow's functions of numbers, when a ragged or sparse tensor comes along."""
from dragon.vm.shared.ragged.dispatch import teach
from dragon.vm.tensorflow import math, nn
from dragon.vm.tensorflow.core.numbers import clipping

# Modules, and their functions of one argument that go through its values one by one; further ones are settings.
UNARY = {
    clipping: "clip_by_value",
    math: "abs acos acosh angle asin asinh atan atanh ceil conj cos cosh digamma erf erfc exp expm1 floor imag "
          "is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not negative real reciprocal rint round rsqrt "
          "sigmoid sign sin sinh softplus sqrt square tan tanh",
    nn: "relu relu6 elu selu leaky_relu gelu silu sigmoid softplus softsign tanh swish dropout",
}
# The same of two arguments.
BINARY = {
    math: "add atan2 divide divide_no_nan equal floordiv floormod greater greater_equal less less_equal logical_and "
          "logical_or logical_xor maximum minimum mod multiply multiply_no_nan not_equal pow scalar_mul "
          "squared_difference subtract truediv",
}
REDUCTIONS = {math: "reduce_sum reduce_prod reduce_max reduce_min reduce_mean reduce_any reduce_all"}

teach(UNARY, REDUCTIONS)
teach(BINARY)
