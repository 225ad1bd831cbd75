"""Rows of poolings."""
from harness import FLOATING, Given, Row, Sample, Wrong

MAX = {
    1: [Sample(Given((2, 3, 9), distinct=True), 2), Sample(Given((3, 9), distinct=True), 3, 2, 1),
        Sample(Given((2, 3, 10), distinct=True), 3, 2, 0, 2, True), Sample((0, 3, 9), 2)],
    2: [Sample(Given((2, 3, 8, 9), distinct=True), 2),
        Sample(Given((2, 4, 7, 9), distinct=True), [3, 2], [2, 1], [1, 1]),
        Sample(Given((3, 8, 9), distinct=True), 3, 2, 1, 1, True),
        Sample(Given((1, 2, 9, 9), distinct=True), 2, 1, 1, 3)],
    3: [Sample(Given((1, 2, 4, 5, 6), distinct=True), 2),
        Sample(Given((2, 2, 5, 5, 5), distinct=True), 3, 2, 1, 1, True)],
}
AVERAGE = {
    1: [Sample((2, 3, 9), 2), Sample((3, 9), 3, 2, 1, True, False), Sample((2, 3, 9), 3, 2, 1),
        Sample(Given((1, 2, 602), low=1.0, high=2.0), 600, 1)],  # sums that 16-bit floats have no digits for
    2: [Sample((2, 3, 8, 9), 2), Sample((2, 4, 7, 9), [3, 2], [2, 1], [1, 1], True, False),
        Sample((3, 8, 9), 3, 2, 1, True, True), Sample((2, 3, 8, 9), 3, 2, 1, False, True, 5)],
    3: [Sample((1, 2, 4, 5, 6), 2), Sample((2, 2, 5, 5, 5), 3, 2, 1, True, False, 7)],
}
SIZES = {1: [[1], [3], [7]], 2: [[1, 1], [3, 5], [2, 3]], 3: [[1, 1, 1], [2, 3, 2]]}
SHAPES = {1: (2, 3, 7), 2: (2, 3, 6, 5), 3: (2, 2, 4, 5, 3)}


def functional(name, **more):
    """Return an oracle that calls a function of torch.nn.functional."""
    return lambda torch, *args, **kwargs: getattr(torch.nn.functional, name)(*args, **kwargs, **more)


def indexed(name):
    """Return an oracle that calls a max pooling for its indices as well."""
    return functional(name, return_indices=True)


def fractional(n, **more):
    """Return an oracle of fractional max pooling with given samples."""
    def call(torch, x, kernel_size, output_size, samples):
        function = getattr(torch.nn.functional, f"fractional_max_pool{n}d")
        return function(x, kernel_size, output_size=output_size, _random_samples=samples, **more)
    return call


SAMPLES = {n: Given((2, 3, n), low=0.0, high=0.99, grad=False) for n in (2, 3)}
FRACTIONAL = {
    2: [Sample(Given((2, 3, 7, 9), distinct=True), 2, [3, 4], SAMPLES[2]),
        Sample(Given((2, 3, 5, 5), distinct=True), [3, 1], [1, 5], SAMPLES[2])],
    3: [Sample(Given((2, 3, 4, 5, 6), distinct=True), 2, [2, 3, 4], SAMPLES[3])],
}


def places(n):
    """Return a maker of distinct places in a plane of 4 elements an axis."""
    def make(np, rng, shape):
        return rng.permutation(4 ** n)[:2 ** n].reshape(shape).astype(np.float64)
    return make


ROWS = [row for n in (1, 2, 3) for row in (
    Row(f"max_pool{n}d", MAX[n], torch=functional(f"max_pool{n}d"), dtypes=FLOATING,
        errors=[Wrong((2, 3) + (5,) * n, 2, 2, 2, says="padding"), Wrong((2, 3) + (5,) * n, 0, says="kernel_size"),
                Wrong((2, 3) + (5,) * n, 7, says="fits"), Wrong((3,), 2, says="axes")]),
    Row(f"max_pool{n}d_with_indices", MAX[n], torch=indexed(f"max_pool{n}d"), dtypes=FLOATING),
    Row(f"avg_pool{n}d", AVERAGE[n], torch=functional(f"avg_pool{n}d"), dtypes=FLOATING,
        errors=[Wrong((2, 3) + (5,) * n, 2, 0, says="stride")]),
    Row(f"adaptive_avg_pool{n}d", [Sample(SHAPES[n], size) for size in SIZES[n]],
        torch=functional(f"adaptive_avg_pool{n}d")),
    Row(f"adaptive_max_pool{n}d", [Sample(Given(SHAPES[n], distinct=True), size) for size in SIZES[n]],
        torch=functional(f"adaptive_max_pool{n}d")),
    Row(f"adaptive_max_pool{n}d_with_indices", [Sample(Given(SHAPES[n], distinct=True), size) for size in SIZES[n]],
        torch=indexed(f"adaptive_max_pool{n}d")),
    Row(f"lp_pool{n}d", [Sample(SHAPES[n], 2.0, 2), Sample(SHAPES[n], 3.0, 2, 1)], torch=functional(f"lp_pool{n}d"),
        domain=(0.5, 2.0), dtypes=("float32", "float64")),
    Row(f"max_unpool{n}d", [
        Sample((1, 1) + (2,) * n, Given((1, 1) + (2,) * n, dtype="int64", grad=False, make=places(n)), 2)],
        torch=functional(f"max_unpool{n}d"), dtypes=("float32", "float64"),
        errors=[Wrong((1, 1) + (2,) * n, Given((1, 1) + (2,) * n, dtype="int64", low=10000, high=10001), 2,
                      error=IndexError, says="index")]),
)]
ROWS += [row for n in (2, 3) for row in (
    Row(f"fractional_max_pool{n}d", FRACTIONAL[n], torch=fractional(n), dtypes=("float32", "float64"),
        meta="samples are read", errors=[
            Wrong((2, 3) + (5,) * n, 3, 4, SAMPLES[n], says="at least 6"),
            Wrong((2, 3) + (5,) * n, 2, 2, Given((2, 3, n), low=2.0, high=3.0), says="samples")]),
    Row(f"fractional_max_pool{n}d_with_indices", FRACTIONAL[n], torch=fractional(n, return_indices=True),
        dtypes=("float32", "float64"), meta="samples are read"),
)]
