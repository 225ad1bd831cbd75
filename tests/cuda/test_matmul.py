"""Matrix products on the device beyond what rows reach: sizes across tiles' borders, odd strides, many batches."""
import numpy
import pytest

import dragon
from harness import engine
from harness.inputs import Input

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def numbers(shape, dtype, seed=0):
    """Return an Input of small numbers, whose sums of products even halves hold well."""
    random = numpy.random.default_rng(seed)
    if dtype == "bool":
        return Input(random.random(shape) < 0.2, dtype, False)
    if "int" in dtype:
        return Input(random.integers(0, 7, shape).astype(dtype), dtype, False)
    array = random.uniform(-1, 1, shape)
    if "complex" in dtype:
        array = array + 1j * random.uniform(-1, 1, shape)
    return Input(array.astype("float32" if dtype == "bfloat16" else dtype), dtype, False)


def on(item, device):
    """Return an Input as a tensor on a device."""
    x = engine.tensor(item)
    return x if device == "cpu" else dragon.ops.to_device(x, device)


@pytest.fixture(params=["own", "library"])
def way(request, simt, monkeypatch):
    """Who multiplies. A GPU has the library do what it can; the machine that stands for one has it done both ways."""
    if simt and request.param == "library":
        monkeypatch.setenv("DRAGON_SIMT_BLAS", "1")
    elif not simt and request.param == "own":
        pytest.skip("the library does it")
    return request.param


def same(make, dtype, *items):
    """Hold that a computation gives on the device what it gives on the CPU."""
    wanted = engine.array(make(*(on(item, "cpu") for item in items)))
    got = engine.array(dragon.ops.to_device(make(*(on(item, "cuda") for item in items)), "cpu"))
    assert got.shape == wanted.shape
    limit = {"float16": 1e-2, "bfloat16": 8e-2, "float64": 1e-12, "complex128": 1e-12}.get(dtype, 1e-4)
    if "int" in dtype or dtype == "bool":
        assert (got == wanted).all()
    else:
        numpy.testing.assert_allclose(got, wanted, rtol=limit, atol=limit * 4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (65, 67, 17), (64, 64, 16), (3, 130, 33), (130, 2, 5), (5, 4, 0)])
def test_sizes(dtype, m, n, k, way):
    """Tiles that are full, and tiles that are not."""
    same(dragon.ops.matmul, dtype, numbers((m, k), dtype), numbers((k, n), dtype, 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [7, 8, 15, 64, 129, 4099])
def test_vectors(dtype, k):
    """A matrix times a vector from either side: teams of four threads to a whole block, packed lines and others."""
    matrix, vector = numbers((9, k), dtype), numbers((k,), dtype, 1)
    same(dragon.ops.matmul, dtype, matrix, vector)
    same(lambda a, x: dragon.ops.matmul(x, dragon.ops.permute(a, [1, 0])), dtype, matrix, vector)
    same(lambda a, x: dragon.ops.matmul(dragon.ops.narrow(a, 1, 1, k - 1), dragon.ops.narrow(x, 0, 1, k - 1)), dtype,
         matrix, vector)


@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "complex64"])
@pytest.mark.parametrize("left, right", [([0, 1, 2, 3], [0, 1, 2, 3]), ([0, 1, 3, 2], [0, 1, 3, 2]),
                                         ([1, 0, 2, 3], [2, 3, 0, 1]), ([3, 2, 1, 0], [0, 2, 1, 3])])
def test_batches(dtype, left, right, way):
    """Batch axes in any order, some of them repeated."""
    def product(a, b):
        return dragon.ops.matmul(dragon.ops.permute(a, left), dragon.ops.permute(b, right))
    shape_a, shape_b = (2, 3, 18, 20), (2, 3, 20, 33)
    a = numbers([shape_a[left.index(axis)] for axis in range(4)], dtype)
    b = numbers([shape_b[right.index(axis)] for axis in range(4)], dtype, 1)
    same(product, dtype, a, b)
    same(lambda x, y: dragon.ops.matmul(x, y), dtype, numbers((3, 1, 5, 9), dtype), numbers((4, 9, 2), dtype, 1))


def test_many_calls(way):
    """A batch that no single stride walks, of more matrices than are worth a call each."""
    def product(a, b):
        return dragon.ops.matmul(dragon.ops.permute(a, [0, 2, 1, 3]), dragon.ops.permute(b, [1, 0, 3, 2]))
    same(product, "float32", numbers((20, 2, 18, 3), "float32"), numbers((18, 20, 2, 3), "float32", 1))
    same(product, "float32", numbers((20, 2, 18, 3), "float32"), numbers((18, 1, 2, 3), "float32", 1))


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_results_elsewhere(dtype, way):
    """A result that is to lie across, or at every other place."""
    a, b = numbers((18, 7), dtype), numbers((7, 21), dtype, 1)

    def across(x, y):
        turned = dragon.ops.matmul(dragon.ops.permute(y, [1, 0]), dragon.ops.permute(x, [1, 0]))
        out = dragon.ops.permute(turned, [1, 0])
        dragon.ops.matmul(x * 2, y, out=out)
        return out

    def apart(x, y):
        out = dragon.ops.select(dragon.ops.stack([dragon.ops.matmul(x, y)] * 2, 2), 2, 1)
        dragon.ops.matmul(x * 2, y, out=out)
        return out
    same(across, dtype, a, b)
    same(apart, dtype, a, b)


def test_many_small(simt):
    """More matrices than a launch has rows of blocks, or a library's call takes."""
    if simt:
        pytest.skip("minutes of it")
    same(dragon.ops.matmul, "float32", numbers((66000, 1, 2, 1), "float32"), numbers((66000, 1, 1, 2), "float32", 1))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "complex64"])
@pytest.mark.parametrize("n", [0, 1, 31, 8192, 8193, 40001])
def test_dot(dtype, n):
    """One part, a part and a piece, many parts."""
    same(dragon.ops.dot, dtype, numbers((n,), dtype), numbers((n,), dtype, 1))


@pytest.mark.parametrize("shape", [(66, 70), (70,), (1, 70)])
@pytest.mark.parametrize("alpha, beta", [(1.0, 1.0), (0.5, 2.0), (2.0, 0.0)])
def test_addmm(shape, alpha, beta, way):
    """A sum that is there already, or a bias."""
    def product(x, a, b):
        return dragon.ops.addmm(x, a, b, alpha=alpha, beta=beta)
    for dtype in ("float32", "float64", "complex64"):
        same(product, dtype, numbers(shape, dtype, 2), numbers((66, 20), dtype), numbers((20, 70), dtype, 1))


def test_not_finite(way):
    """A NaN stays in its row and column, and nothing times nothing is zero."""
    a = numpy.ones((70, 20), "float32")
    a[3, 4], a[5, 6] = numpy.nan, numpy.inf
    same(dragon.ops.matmul, "float32", Input(a, "float32", False), numbers((20, 66), "float32"))
    got = dragon.ops.matmul(on(Input(numpy.zeros((3, 0), "float32"), "float32", False), "cuda"),
                            on(Input(numpy.zeros((0, 4), "float32"), "float32", False), "cuda"))
    assert (engine.array(dragon.ops.to_device(got, "cpu")) == 0).all()
