"""Functions of keras.ops of one or two tensors, found by their signatures, at the edges beside genuine ones."""
import pytest

from dragon.vm.keras import ops
from harness import edge_functions, genuine
from harness.edge_functions import Known

# Of Keras' backends some take after NumPy at the edges and some do not; so do we.
KNOWN = [
    Known("angle|argmax|argmin|hard_shrink|soft_shrink", "rows|columns|edges|only nan",
          "NaN stays NaN and is the first of all, as in NumPy and PyTorch: TensorFlow loses it"),
    Known("argsort|sort|unique", "edges|columns|rows", "NaN has no place in TensorFlow's order"),
    Known("average|mean|nanmean|trapezoid", "in int", "floats add up integers beyond their digits, in another order"),
    Known("bartlett|blackman|hamming|hanning|kaiser", "shape", "a number of points, which is whole, as in NumPy"),
    Known("bitwise_left_shift|left_shift|bitwise_right_shift|right_shift", "edges|only",
          "shifts by more than all bits leave none, as in NumPy"),
    Known("correlate", r"shapes \(0,\)", "nothing to slide along, as in NumPy"),
    Known("eig|eigh|qr|svd", "", "unique up to signs and phases; of NaN there are none"),
    Known("fliplr", "shape", "there is no second axis, as in NumPy"),
    Known("floor_divide", "edges|only", "of infinite numbers NaN, of tiny quotients below zero -1, as in NumPy"),
    Known("fmod|gcd|lcm", "in int", "TensorFlow takes the absolute value of the least integer, which there is not"),
    Known("heaviside", "edges|only nan", "0 for NaN, as in PyTorch"),
    Known("histogram", r"in int|shape \(0,\)", "TensorFlow's ranges wrap around; of no numbers they are NaN"),
    Known("hypot|isclose", "edges|only -?inf", "infinity is close to infinity only, and as long"),
    Known("layer_normalization|rms_normalization", "in int|in uint|in bool|shape ..:?",
          "integers are no numbers with a mean of 0 and a variance of 1"),
    Known("lstsq|matrix_rank|pinv|norm", "not finite", "matrices with NaN are refused, where TensorFlow gives NaN"),
    Known("nancumprod|nancumsum", "edges|rows|columns|only -?inf", "TensorFlow's leave out infinities too"),
    Known("nanmax|nanmin|nanmedian|ptp", "shape", "of nothing there is none, as in NumPy"),
    Known("nanmedian", "only -?inf", "between infinities there is NaN, as in NumPy"),
    Known("rfft|irfft|fft|fft2|ifft2|stft", r"rows|columns|only|shape",
          "sums of huge numbers in another order; of nothing there is none"),
    Known("softmax", "edges|columns", "rows with NaN are NaN throughout: TensorFlow's are NaN here and 0 there"),
    Known("solve", r"only 3.4\d+e\+38", "sums of the largest numbers overflow in another order"),
    Known("std|var", r"only (-1e\+30|3.4\d+e\+38)", "0 of equal numbers: TensorFlow's squares overflow"),
    Known("tensordot", r"shapes \(3, 0\)", "the sizes of the axes differ"),
    Known("vdot", "in int32", "sums in floats, of which the largest is no integer"),
    Known("view_as_real", "", "real numbers have no parts to view"),
]


def check(dtype):
    """Return what differs in a dtype, but for known differences."""
    theirs, found = genuine.keras.ops, []
    makers = (ops.convert_to_tensor, theirs.convert_to_tensor)
    for name, count in edge_functions.names_of(ops, theirs).items():
        found += edge_functions.check(name, getattr(ops, name), getattr(theirs, name), count, dtype, makers)
    return edge_functions.unknown(found, KNOWN)


def test_functions_are_found():
    found = edge_functions.names_of(ops, genuine.keras.ops)
    assert len(found) > 150 and {"abs", "arctan2", "relu", "left_shift", "trace", "logsumexp", "norm"} <= set(found)


@pytest.mark.parametrize("dtype", edge_functions.QUICK)
def test_edges(dtype):
    assert not check(dtype)


@pytest.mark.slow
@edge_functions.UNSORTED
@pytest.mark.parametrize("dtype", edge_functions.LONG)
def test_edges_of_other_dtypes(dtype):
    assert not check(dtype)
