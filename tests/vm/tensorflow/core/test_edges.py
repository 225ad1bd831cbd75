"""Functions of one or two tensors, found by their signatures, at the edges beside genuine TensorFlow's."""
import pytest

from dragon.vm import tensorflow as ours
from harness import answers, edge_functions, genuine
from harness.edge_functions import Known

# What TensorFlow's own kernels do at the edges that nobody relies on, and what has no one right answer.
KNOWN = [
    Known("eig|eigh|eigvals|qr|svd|lu", "", "unique up to signs and phases, and in any order"),
    Known("eigvalsh|expm|sqrtm", "in complex.*(rows|columns)", "nothing is known of what stands beside 1e30"),
    Known("cholesky", "raises", "a matrix that is not positive-definite is refused, where TensorFlow gives NaN"),
    Known("cumprod|expm1|pow|reduce_prod", "in complex",
          "past the largest number TensorFlow has NaN, and for 0 ** 0"),
    Known("cumsum|reduce_mean|reduce_prod|reduce_std|reduce_sum|reduce_variance", "in float16",
          "summed in floats and rounded once: TensorFlow rounds every step to 16 bits, or overflows there"),
    Known("divide|realdiv|truediv|xdivy", "in complex.*(edges|only 0)",
          "infinite by 0, as in PyTorch: TensorFlow's are NaN"),
    Known("divide_no_nan|log|normalize|sign|xlogy", "in complex",
          "TensorFlow's squares of the parts overflow, or are 0"),
    Known("erf", "in float64", "1 for the largest number: TensorFlow's is NaN"),
    Known("gelu|leaky_relu", "in float64", "with all digits of a double: TensorFlow's constants have those of a float"),
    Known("is_non_decreasing|is_strictly_increasing", "in complex.*raises",
          "complex numbers have no order, not even none or one of them"),
    Known("matmul|matvec", r"in float64: only 1.79\d+e\+308", "sums of the largest numbers in another order"),
    Known("reduce_mean", "in complex.*shape", "of nothing NaN, as of real numbers: TensorFlow's complex mean is 0"),
    Known("reduce_std|reduce_variance", r"in complex.*only -1e\+30",
          "0 of equal numbers: TensorFlow's squares overflow"),
    Known("rsqrt", "in complex", "1 over the root, on the same side of the cut: TensorFlow's is on the other one"),
    Known("unique|unique_with_counts", "in float16", "0 and -0 are one number, as in all wider dtypes"),
    Known("expm", r"shape \(1,\)", "TensorFlow takes one number for a matrix"),
    Known("matrix_rank|pinv|norm", "not finite", "matrices with NaN are refused, where TensorFlow gives NaN"),
    Known("cumulative_logsumexp", r"columns|only (inf|nan)", "TensorFlow loses NaN, and takes inf - inf"),
    Known("igamma|igammac", r"edges|only 0.0", "of order 0 they are 1 and 0, as in SciPy: TensorFlow's are NaN"),
    Known("polygamma", "raises", "one order at a time, and a whole one"),
    Known("softmax", "edges|columns", "rows with NaN are NaN throughout: TensorFlow's are NaN here and 0 there"),
    Known("top_k|argsort|sort", "edges|columns", "NaN has no place in TensorFlow's order"),
    Known("ctc_unique_labels", "in float|shape \\(0, 3\\)",
          "labels are whole numbers; of no rows TensorFlow returns no matrix"),
    Known("isotonic_regression", r"in float64: columns|shape \(\)",
          "means of the largest numbers overflow there, in another order; a number has no axis"),
    Known("floordiv", r"edges|only (3.4\d+e\+38|1.79\d+e\+308)", "TensorFlow flushes quotients that are denormal"),
]
ROOMS = ("math", "nn", "linalg", "bitwise", "")


def list_genuine():
    """Return [(path, number of tensors, the function's number)] of genuine functions; those of one number are one."""
    numbers = {}
    return [(path, count, numbers.setdefault(function, len(numbers))) for room in ROOMS
            for path, count, function in edge_functions.list_functions(
                getattr(genuine.tf, room) if room else genuine.tf, f"{room}." if room else "")]


def functions():
    """Return [(name, number of tensors)] of the functions both sides have; one of several names is enough."""
    found, seen = [], set()
    for path, count, number in answers.ask("tensorflow", ["functions of", ROOMS], list_genuine):
        if edge_functions.has(ours, path) and number not in seen:
            seen.add(number)
            found.append((path, count))
    return found


def check(dtypes):
    """Return what differs in some dtypes, but for known differences."""
    found = []
    for path, count in functions():
        def theirs():
            return edge_functions.find(genuine.tf, path)
        for dtype in dtypes:
            found += edge_functions.check(path, edge_functions.find(ours, path), theirs, count, dtype,
                                          (ours.constant, lambda: genuine.tf.constant), "tensorflow")
    return edge_functions.unknown(found, KNOWN)


def test_functions_are_found():
    found = [name for name, _ in functions()]
    assert len(found) > 150
    assert {"math.abs", "math.atan2", "nn.relu", "bitwise.left_shift", "linalg.trace"} <= set(found)


@pytest.mark.parametrize("dtype", edge_functions.QUICK)
def test_edges(dtype):
    assert not check([dtype])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", edge_functions.LONG)
def test_edges_of_other_dtypes(dtype):
    assert not check([dtype])
