"""`tf.math`: functions of numbers, reductions and segments."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.arrays import reducing as _reducing
from dragon.vm.tensorflow.core.numbers import elementwise as _elementwise

_NAMES = """
elementwise: abs accumulate_n acos acosh add add_n angle asin asinh atan atan2 atanh bessel_i0 bessel_i0e bessel_i1
elementwise: bessel_i1e ceil complex conj cos cosh digamma divide divide_no_nan equal erf erfc erfcinv erfinv exp expm1
elementwise: floor floordiv floormod greater greater_equal igamma igammac imag is_finite is_inf is_nan
elementwise: is_non_decreasing is_strictly_increasing less less_equal lgamma log log1p log_sigmoid logical_and
elementwise: logical_not logical_or logical_xor maximum minimum mod multiply multiply_no_nan ndtri negative nextafter
elementwise: not_equal polygamma polyval pow real realdiv reciprocal reciprocal_no_nan rint round rsqrt scalar_mul
elementwise: sigmoid sign sin sinh softplus softsign sqrt square squared_difference subtract tan tanh truediv
elementwise: truncatediv truncatemod xdivy xlog1py xlogy zero_fraction zeta
reducing: argmax argmin bincount confusion_matrix count_nonzero cumprod cumsum cumulative_logsumexp in_top_k
reducing: invert_permutation l2_normalize lbeta log_softmax reduce_all reduce_any reduce_euclidean_norm
reducing: reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance
reducing: segment_max segment_mean segment_min segment_prod segment_sum softmax top_k unsorted_segment_max
reducing: unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
"""
for _line in _NAMES.strip().split("\n"):
    _module, _, _words = _line.partition(": ")
    _source = _elementwise if _module == "elementwise" else _reducing
    globals().update((_word, getattr(_source, _word)) for _word in _words.split())
special = type(_elementwise)("tensorflow.math.special", "`tf.math.special`: functions of physics.")
for _word in ("i0", "i0e", "i1", "i1e", "j0", "j1", "y0", "y1"):
    setattr(special, f"bessel_{_word}", getattr(_elementwise, f"bessel_{_word}"))
special.__getattr__ = _lookup(vars(special))[0]
