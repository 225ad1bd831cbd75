"""Numbers that genuine Keras loses on the way, and that are right here: beside NumPy."""
import numpy as np
import pytest

from dragon.vm.keras import ops
from harness.subresults import each

RNG = np.random.default_rng(3)
LARGE = {dtype: RNG.integers(*limits, (3, 3)).astype(dtype) for dtype, limits in {
    "int64": (-2**62, 2**62), "int32": (-2**31, 2**31), "int16": (-2**15, 2**15), "uint8": (0, 256)}.items()}
PRODUCTS = {
    "matmul": np.matmul, "dot": np.dot, "inner": np.inner, "vdot": np.vdot, "outer": np.outer, "kron": np.kron,
    "tensordot": lambda a, b: np.tensordot(a, b, 2), "einsum": lambda a, b: np.einsum("ij,kj->ik", a, b)}


@each("dtype", LARGE)
@each("name", PRODUCTS)
def test_products_of_integers_wrap_around(name, dtype):
    a, b = LARGE[dtype], LARGE[dtype].T.copy()
    found = ops.einsum("ij,kj->ik", a, b) if name == "einsum" else getattr(ops, name)(a, b)
    assert np.array_equal(found, PRODUCTS[name](a, b))


def test_powers_of_integers():
    x = np.array([31, -7, 3], "int64")
    assert np.array_equal(ops.vander(x, 13), np.vander(x, 13))
    assert np.array_equal(ops.power(np.array([1, 2, 3], "uint8"), 256), [1, 0, 1])  # modulo 256
    with pytest.raises(ValueError, match="exponent -1"):
        ops.power(np.array([1, 2, 3], "uint8"), -1)
    with pytest.raises(ValueError, match="exponent -1"):
        ops.power(np.array([1, 2, 3], "int8"), -1)


def test_integers_beyond_the_digits_of_floats():
    x = np.array([2**24 + 1, 2**24], "int32")
    assert ops.digitize(x, x[1:] + 1).numpy().tolist() == [1, 0]
    assert ops.digitize(x, np.array([2**24 + 0.5])).numpy().tolist() == [1, 0]
    found = ops.linspace(0, 2**31 - 1, 3, dtype="int32").numpy()
    assert found.tolist() == np.linspace(0, 2**31 - 1, 3, dtype="int32").tolist()


def test_parts_of_numbers_between_integers():
    x = np.array([0.9, 0.5, 0.7, 0.1], "float32")
    assert ops.argpartition(x, 1).numpy()[:2].tolist() == [3, 1]


def draw(shape, dtype):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype, within", [("complex64", 1e-4), ("complex128", 1e-10)])
@pytest.mark.parametrize("rows", [2, 3, 5])
def test_least_squares_of_complex_numbers(rows, dtype, within):
    a, b = draw((rows, 3), dtype), draw((rows, 2), dtype)
    np.testing.assert_allclose(ops.lstsq(a, b), np.linalg.lstsq(a, b, rcond=None)[0], within, within)


def test_singular_values_below_the_digits_of_floats():
    near = np.array([[1, 0], [0, 1e-9]], "complex128")
    assert int(ops.matrix_rank(near)) == 2
    np.testing.assert_allclose(ops.pinv(near), np.linalg.inv(near))
    np.testing.assert_allclose(ops.lstsq(near, near), np.eye(2), atol=1e-12)


def test_correlations_of_complex_numbers():
    x = draw((3, 9), "complex64")
    np.testing.assert_allclose(ops.corrcoef(x), np.corrcoef(x), 1e-5, 1e-6)


def test_sums_of_products_of_halves():
    a, b = np.full(64, 1000, "float16"), RNG.standard_normal(64).astype("float16")
    wanted = np.vdot(a.astype("float64"), b.astype("float64"))
    assert abs(float(ops.vdot(a, b)) - wanted) <= abs(wanted) * 2**-10


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_next_numbers(dtype):
    x = np.array([1, -1, 0, 65504], dtype)
    assert np.array_equal(ops.nextafter(x, np.array(np.inf, dtype)), np.nextafter(x, np.array(np.inf, dtype)))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16"])
def test_pairs_of_any_dtype_as_complex_numbers(dtype):
    made = ops.view_as_complex(np.array([[0, 1], [1, 1]], dtype))
    assert made.dtype.name == "complex64" and made.numpy().tolist() == [1j, 1 + 1j]


def test_halves_by_way_of_floats():
    x = np.array([[4, 1], [2, 3]], "float16")
    np.testing.assert_allclose(ops.inv(x), np.linalg.inv(x.astype("float32")), 1e-3)
    assert float(ops.nanmedian(np.array([1, np.nan, 4], "float16"))) == 2.5
    counts, bounds = ops.histogram(np.array([-65504, 0, 65504], "float16"), 4)
    assert counts.numpy().tolist() == [1, 0, 1, 1] and bounds.numpy().tolist() == [-65504, -32752, 0, 32752, 65504]


def test_factors_of_complex_matrices():
    x = draw((3, 3), "complex64")
    lu, order = ops.lu_factor(x)
    lower, upper = np.tril(lu, -1) + np.eye(3), np.triu(lu)
    np.testing.assert_allclose((lower @ upper)[np.asarray(order)], x, 1e-4, 1e-5)
    assert ops.logdet(np.array([[2, 1j], [-1j, 2]], "complex64")).dtype.name == "float32"
