"""Functions of keras.ops of one or two tensors, found by their signatures, at the edges beside genuine ones."""
import pytest

from dragon.vm.keras import ops
from harness import answers, edge_functions, genuine
from harness.edge_functions import Known

# Of Keras' backends some take after NumPy at the edges and some do not; so do we.
KNOWN = [
    Known("angle|argmax|argmin|hard_shrink|soft_shrink", "rows|columns|edges|only nan",
          "NaN stays NaN and is the first of all, as in NumPy and PyTorch: TensorFlow loses it"),
    Known("argsort|sort|unique", "edges|columns|rows", "NaN has no place in TensorFlow's order"),
    Known("average|mean", "in complex.*shape", "of nothing NaN, as of real numbers: TensorFlow's complex mean is 0"),
    Known("average|mean|nanmean|trapezoid", "in int", "floats add up integers beyond their digits, in another order"),
    Known("average|cumsum|nancumsum|nanmean|nanprod|nansum|prod|std|sum|trapezoid", "in float16",
          "summed in floats and rounded once: TensorFlow rounds every step to 16 bits, or overflows there"),
    Known("bartlett|blackman|hamming|hanning|kaiser", "shape", "a number of points, which is whole, as in NumPy"),
    Known("bitwise_left_shift|left_shift|bitwise_right_shift|right_shift", "edges|only",
          "shifts by more than all bits leave none, as in NumPy"),
    Known("cbrt|deg2rad|hypot|i0|isneginf|isposinf|rad2deg|signbit", "in complex.*raises",
          "of real numbers, as in NumPy"),
    Known("cholesky_inverse", "in complex", "of matrices that are their adjoints: TensorFlow does not conjugate"),
    Known("corrcoef", "in int64", "NumPy's: TensorFlow takes the mean of integers, rounded down"),
    Known("correlate", r"shapes \(0,\)", "nothing to slide along, as in NumPy"),
    Known("correlate", "in int64: edges", "sums of the largest numbers in another order"),
    Known("cumprod|expm1|power|vander", "in complex", "past the largest number TensorFlow has NaN, and for 0 ** 0"),
    Known("divide|true_divide", "in complex.*(edges|only 0)", "infinite by 0, as in PyTorch: TensorFlow's are NaN"),
    Known("divide_no_nan|log|log10|log2|sign", "in complex", "TensorFlow's squares of the parts overflow, or are 0"),
    Known("dot|inner|matmul|vander|vdot", "in (u?int)",
          "integers are exact and wrap around, as in NumPy: TensorFlow multiplies floats, which end at the ends"),
    Known("dot|inner|matmul", r"in float64: only 1.79\d+e\+308", "sums of the largest numbers in another order"),
    Known("eig|eigh|qr|svd", "", "unique up to signs and phases; of NaN there are none"),
    Known("erf", "in float64", "1 for the largest number: TensorFlow's is NaN"),
    Known("fliplr", "shape", "there is no second axis, as in NumPy"),
    Known("floor_divide", "edges|only", "of infinite numbers NaN, of tiny quotients below zero -1, as in NumPy"),
    Known("fmod|gcd|lcm", "in int", "TensorFlow takes the absolute value of the least integer, which there is not"),
    Known("hard_shrink", "in complex.*raises",
          "complex numbers have no order: TensorFlow shrinks where none is left"),
    Known("heaviside", "edges|only nan", "0 for NaN, as in PyTorch"),
    Known("histogram", r"in int|in float16|shape \(0,\)",
          "TensorFlow's ranges wrap around or overflow; of no numbers they are NaN"),
    Known("hypot|isclose", "edges|only -?inf", "infinity is close to infinity only, and as long"),
    Known("layer_normalization|rms_normalization", "in int|in uint|in bool|in complex.*raises|shape ..:?",
          "integers are no numbers with a mean of 0 and a variance of 1"),
    Known("leaky_relu", "in float64", "a slope with all digits of a double: TensorFlow's has those of a float"),
    Known("logaddexp2", "in float64", "TensorFlow's logarithm of 2 has the digits of a float"),
    Known("logdet", "expected .*(nan|-inf)", "of matrices that are not positive there is none"),
    Known("logical_and|logical_not|logical_or|logical_xor|nonzero", "in complex",
          "imaginary numbers are not 0: TensorFlow drops the imaginary parts"),
    Known("lstsq|matrix_rank|pinv|norm", "not finite", "matrices with NaN are refused, where TensorFlow gives NaN"),
    Known("nancumprod|nancumsum", "edges|rows|columns|only -?inf", "TensorFlow's leave out infinities too"),
    Known("nanmean|norm|slogdet", "in complex.*has dtype",
          "lengths and logarithms of them are real, means are complex, as in NumPy"),
    Known("nanmax|nanmin|nanmedian|ptp", "shape", "of nothing there is none, as in NumPy"),
    Known("nanmedian", "only -?inf", "between infinities there is NaN, as in NumPy"),
    Known("nanprod|nansum|prod|sum|trace", "in uint8.*dtype int64, expected uint32", "where every uint32 fits"),
    Known("nextafter", "edges|only -?inf",
          "of floats as of doubles: TensorFlow rounds doubles, to the same number mostly"),
    Known("rfft|irfft|fft|fft2|ifft2|stft", r"rows|columns|only|shape",
          "sums of huge numbers in another order; of nothing there is none"),
    Known("rms_normalization", "in complex", "TensorFlow's squares of the parts overflow, or are 0"),
    Known("rsqrt", "in complex", "1 over the root, on the same side of the cut: TensorFlow's is on the other one"),
    Known("sinc", "in float16", "computed in floats: TensorFlow's pi times the largest number is infinite"),
    Known("softmax", "edges|columns", "rows with NaN are NaN throughout: TensorFlow's are NaN here and 0 there"),
    Known("solve", r"only (3.4\d+e\+38|1.79\d+e\+308)", "sums of the largest numbers overflow in another order"),
    Known("solve_triangular", "in complex.*only 0", "TensorFlow's quotients by 0 are NaN here and infinite there"),
    Known("std|var", r"only (-1e\+30|3.4\d+e\+38|1.79\d+e\+308)",
          "0 of equal numbers: TensorFlow's squares overflow"),
    Known("tensordot", r"shapes \(3, 0\)", "the sizes of the axes differ"),
    Known("view_as_real", "", "real numbers have no parts to view"),
]


def functions():
    """Return {name: number of tensors} for the functions both sides have."""
    theirs = answers.ask("keras", ["functions of keras.ops"], lambda: {
        name: count for name, count, _ in edge_functions.list_functions(genuine.keras.ops)})
    return {name: count for name, count in theirs.items() if hasattr(ops, name)}


def check(dtype):
    """Return what differs in a dtype, but for known differences."""
    found, makers = [], (ops.convert_to_tensor, lambda: genuine.keras.ops.convert_to_tensor)
    for name, count in functions().items():
        def theirs():
            return getattr(genuine.keras.ops, name)
        found += edge_functions.check(name, getattr(ops, name), theirs, count, dtype, makers, "keras")
    return edge_functions.unknown(found, KNOWN)


def test_functions_are_found():
    found = functions()
    assert len(found) > 150 and {"abs", "arctan2", "relu", "left_shift", "trace", "logsumexp", "norm"} <= set(found)


@pytest.mark.parametrize("dtype", edge_functions.QUICK)
def test_edges(dtype):
    assert not check(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", edge_functions.LONG)
def test_edges_of_other_dtypes(dtype):
    assert not check(dtype)
