"""Functions of one or two tensors, found by their signatures, at the edges beside genuine TensorFlow's."""
import pytest

from dragon.vm import tensorflow as ours
from harness import edge_functions, genuine
from harness.edge_functions import Known

# What TensorFlow's own kernels do at the edges that nobody relies on, and what has no one right answer.
KNOWN = [
    Known("eig|eigh|qr|svd|lu", "", "unique up to signs and phases"),
    Known("cholesky", "raises", "a matrix that is not positive-definite is refused, where TensorFlow gives NaN"),
    Known("expm", r"shape \(1,\)", "TensorFlow takes one number for a matrix"),
    Known("matrix_rank|pinv|norm", "not finite", "matrices with NaN are refused, where TensorFlow gives NaN"),
    Known("cumulative_logsumexp", r"columns|only (inf|nan)", "TensorFlow loses NaN, and takes inf - inf"),
    Known("igamma|igammac", r"edges|only 0.0", "of order 0 they are 1 and 0, as in SciPy: TensorFlow's are NaN"),
    Known("polygamma", "raises", "one order at a time, and a whole one"),
    Known("softmax", "edges|columns", "rows with NaN are NaN throughout: TensorFlow's are NaN here and 0 there"),
    Known("top_k|argsort|sort", "edges|columns", "NaN has no place in TensorFlow's order"),
    Known("floordiv", r"edges|only 3.4\d+e\+38", "TensorFlow flushes quotients that are denormal"),
]
SORTED = ("int64", "uint8", "int8", "bool")
ROOMS = ("math", "nn", "linalg", "bitwise", "")


def functions():
    """Return [(name, number of tensors)] of the functions both sides have; one of several names is enough."""
    found, seen = [], set()
    for room in ROOMS:
        theirs = getattr(genuine.tf, room) if room else genuine.tf
        for name, count in edge_functions.names_of(getattr(ours, room) if room else ours, theirs).items():
            if getattr(theirs, name) not in seen:
                seen.add(getattr(theirs, name))
                found.append((f"{room}.{name}".lstrip("."), count))
    return found


def check(dtypes):
    """Return what differs in some dtypes, but for known differences."""
    found = []
    for path, count in functions():
        mine, theirs = (edge_functions.find(module, path) for module in (ours, genuine.tf))
        for dtype in dtypes:
            found += edge_functions.check(path, mine, theirs, count, dtype, (ours.constant, genuine.tf.constant))
    return edge_functions.unknown(found, KNOWN)


def test_functions_are_found():
    found = [name for name, _ in functions()]
    assert len(found) > 150
    assert {"math.abs", "math.atan2", "nn.relu", "bitwise.left_shift", "linalg.trace"} <= set(found)


@pytest.mark.parametrize("dtype", edge_functions.QUICK)
def test_edges(dtype):
    assert not check([dtype])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [
    pytest.param(dtype, marks=[] if dtype in SORTED else edge_functions.UNSORTED) for dtype in edge_functions.LONG])
def test_edges_of_other_dtypes(dtype):
    assert not check([dtype])
