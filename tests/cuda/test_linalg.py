"""Linear algebra on the device beyond what rows reach: larger matrices, batches, shapes of every kind, trouble."""
import numpy
import pytest

import dragon
from harness import engine
from harness.inputs import Input

DTYPES = ("float32", "float64", "complex64", "complex128")


def numbers(shape, dtype, seed=0):
    """Return seeded numbers."""
    random = numpy.random.default_rng(seed)
    array = random.standard_normal(shape)
    return (array + 1j * random.standard_normal(shape) if "complex" in dtype else array).astype(dtype)


def there(array):
    """Return an array as a tensor on the device."""
    return dragon.ops.to_device(engine.tensor(Input(array, str(array.dtype), False)), "cuda")


def back(x):
    """Return a tensor's numbers."""
    return engine.array(dragon.ops.to_device(x, "cpu"))


def close(got, wanted, dtype, scale=1):
    """Hold that numbers agree to about half of the dtype's digits."""
    limit = 1e-9 if dtype in ("float64", "complex128") else 2e-3
    numpy.testing.assert_allclose(got, wanted, rtol=limit, atol=limit * scale)


def adjoint(x):
    """Return the adjoint of matrices."""
    return numpy.conj(numpy.swapaxes(x, -1, -2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(50, 50), (3, 33, 33), (2, 2, 5, 5)])
def test_systems(dtype, shape):
    """Factors, solutions and inverses of one matrix and of several."""
    a, b = numbers(shape, dtype), numbers(shape[:-1] + (4,), dtype, 1)
    close(a @ back(dragon.ops.linalg_solve(there(a), there(b))), b, dtype, 10)
    close(a @ back(dragon.ops.linalg_inv(there(a))), numpy.broadcast_to(numpy.eye(shape[-1]), shape), dtype, 10)
    positive = a @ adjoint(a) + numpy.eye(shape[-1], dtype=dtype)
    lower = back(dragon.ops.linalg_cholesky(there(positive)))
    close(lower @ adjoint(lower), positive, dtype, 100)
    close(lower @ back(dragon.ops.linalg_solve_triangular(there(lower), there(b), upper=False)), b, dtype, 10)
    factors = dragon.ops.linalg_lu_factor(there(a))
    close(a @ back(dragon.ops.linalg_lu_solve(*factors, there(b))), b, dtype, 10)
    close(adjoint(a) @ back(dragon.ops.linalg_lu_solve(*factors, there(b), adjoint=True)), b, dtype, 10)
    close(back(dragon.ops.linalg_slogdet(there(a))[1]), numpy.linalg.slogdet(a)[1], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40, 25), (25, 40), (30, 30), (2, 3, 17, 5), (2, 3, 5, 17)])
def test_decompositions(dtype, shape):
    """Orthogonal factors, tall and wide, reduced and complete."""
    a = numbers(shape, dtype)
    k = min(shape[-2:])
    for mode in ("reduced", "complete"):
        q, r = (back(x) for x in dragon.ops.linalg_qr(there(a), mode))
        close(q @ r, a, dtype, 5)
        close(adjoint(q) @ q, numpy.broadcast_to(numpy.eye(q.shape[-1]), shape[:-2] + (q.shape[-1],) * 2), dtype)
    for full in (False, True):
        u, s, vh = (back(x) for x in dragon.ops.linalg_svd(there(a), full))
        close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, dtype, 5)
        close(adjoint(u) @ u, numpy.broadcast_to(numpy.eye(u.shape[-1]), shape[:-2] + (u.shape[-1],) * 2), dtype)
    close(back(dragon.ops.linalg_svdvals(there(a))), numpy.linalg.svd(a, compute_uv=False), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40, 40), (2, 3, 7, 7)])
def test_hermitian(dtype, shape):
    """Eigenvalues and eigenvectors; the other triangle is not read."""
    a = numbers(shape, dtype)
    hermitian = a + adjoint(a)
    for triangle, given in (("L", numpy.tril(hermitian)), ("U", numpy.triu(hermitian))):
        w, v = (back(x) for x in dragon.ops.linalg_eigh(there(given.astype(dtype)), triangle))
        close((v * w[..., None, :]) @ adjoint(v), hermitian, dtype, 20)


def test_trouble():
    """What is singular, not positive-definite or not finite is an error of the call, with the matrix's number."""
    zero = numpy.stack([numpy.eye(3), numpy.zeros((3, 3))])
    for call in (dragon.ops.linalg_inv, dragon.ops.linalg_cholesky):
        with pytest.raises(dragon.LinAlgError, match="matrix 1 of the batch"):
            call(there(zero))
    wild = numpy.full((3, 3), numpy.nan)
    for call in (dragon.ops.linalg_svdvals, dragon.ops.linalg_eigh):
        with pytest.raises(dragon.LinAlgError, match="not finite"):
            call(there(wild))
    assert back(dragon.ops.linalg_inv_ex(there(zero))[1]).tolist() == [0, 1]


def test_wild_pivots():
    """Pivots outside of the matrix touch nothing outside of it."""
    pivots = there(numpy.array([7, -2, 3], "int32"))
    solution = dragon.ops.linalg_lu_solve(there(numpy.eye(3)), pivots, there(numpy.ones((3, 1))))
    assert numpy.isfinite(back(solution)).all()


@pytest.mark.parametrize("shape", [(0, 3, 3), (0, 0), (2, 0, 0)])
def test_empty(shape):
    """Nothing is launched for nothing."""
    a = there(numpy.zeros(shape))
    assert back(dragon.ops.linalg_inv(a)).shape == shape
    assert back(dragon.ops.linalg_cholesky(a)).shape == shape
    assert back(dragon.ops.linalg_det(a)).shape == shape[:-2]
    assert back(dragon.ops.linalg_eigh(a)[0]).shape == shape[:-1]
