"""Products of scaled 8-bit floats on the device: by its units for them, and by bringing the numbers back."""
import os

import numpy
import pytest

import dragon
from dragon import _C

ops = dragon.ops
E4, E5 = "float8_e4m3fn", "float8_e5m2"


@pytest.fixture(params=["own", "library"])
def way(request, simt, monkeypatch):
    """Who multiplies. A GPU has the library do what it can; the machine that stands for one has it done both ways."""
    if simt and request.param == "library":
        monkeypatch.setenv("DRAGON_SIMT_BLAS", "1")
    elif not simt and request.param == "own":
        pytest.skip("the library does it")
    return request.param


def random(shape, dtype, seed=0):
    numbers = numpy.random.default_rng([seed, *shape]).uniform(-2, 2, shape).astype("float32")
    return ops.cast(dragon.from_numpy(numbers), _C.dtype(dtype))


def turned(x):
    """Return the same matrix with its columns side by side."""
    return ops.permute(ops.clone(ops.permute(x, [1, 0])), [1, 0])


def same(x, y, scales, bias=None, result_scale=None, dtype="float32", fast=False, change=lambda x, y: (x, y)):
    """Hold that a product is on the device what it is on the CPU."""
    def product(device):
        def there(tensor):
            return tensor if tensor is None or device == "cpu" else ops.to_device(tensor, device)
        operands = change(there(x), there(y))
        made = ops.scaled_mm(*operands, *map(there, scales), there(bias), there(result_scale), _C.dtype(dtype),
                             fast)
        return ops.cast(ops.to_device(made, "cpu"), dragon.float64).numpy()
    # Tensor cores keep sums of 8-bit floats in some 13 bits on the way.
    least = 2e-4 if os.environ.get("DRAGON_SIMT") else 4e-3
    limit = {"float16": max(2e-3, least), "bfloat16": 2e-2, E4: 0.13, E5: 0.26}.get(dtype, least)
    numpy.testing.assert_allclose(product("cuda"), product("cpu"), rtol=limit, atol=16 * limit)


def both_scales(m, n, rows):
    return [random(shape, "float32", 3) for shape in (((m, 1), (1, n)) if rows else ((), (1,)))]


@pytest.mark.parametrize("dtypes", [(E4, E4), (E4, E5), (E5, E4), (E5, E5)])
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("bias", [None, "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_products(dtypes, rows, bias, dtype, way):
    x, y = random((6, 32), dtypes[0]), turned(random((32, 48), dtypes[1], 1))
    same(x, y, both_scales(6, 48, rows), None if bias is None else random((48,), bias, 2), dtype=dtype)


@pytest.mark.parametrize("m, k, n", [(1, 16, 16), (17, 48, 16), (3, 15, 16), (3, 16, 15), (0, 16, 16), (2, 0, 16),
                                     (130, 64, 144)])
@pytest.mark.parametrize("rows", [False, True])
def test_sizes(m, k, n, rows, way):
    """Sizes of which the library has its units, and others."""
    same(random((m, k), E4), random((k, n), E4, 1), both_scales(m, n, rows), random((n,), "bfloat16", 2),
         dtype="bfloat16")


@pytest.mark.parametrize("change", [
    lambda x, y: (turned(x), y), lambda x, y: (turned(x), turned(y)), lambda x, y: (x, turned(y)),
    lambda x, y: (ops.narrow(x, 1, 1, 32), ops.narrow(turned(y), 0, 1, 32)),  # begins beside a multiple of 16 bytes
    lambda x, y: (ops.narrow(x, 1, 16, 32), ops.narrow(turned(y), 0, 16, 32)),
    lambda x, y: (ops.expand(ops.narrow(x, 0, 0, 1), [8, 64]), y)])
def test_layouts(change, way):
    x, y = random((8, 64), E4), random((64, 32), E4, 1)
    same(x, y, both_scales(8, 32, True), change=change)


@pytest.mark.parametrize("dtype", [E4, E5, "float64"])
@pytest.mark.parametrize("rows", [False, True])
def test_results_of_other_dtypes(dtype, rows, way):
    x, y = random((6, 32), E4), turned(random((32, 48), E4, 1))
    same(x, y, both_scales(6, 48, rows), random((48,), "float32", 2), dragon.from_numpy(numpy.float32(3)), dtype)


def test_calls_that_differ_in_their_scales_alone(way):
    """A kept plan keeps no scale and no bias of a call before."""
    x, y = random((4, 16), E4), turned(random((16, 16), E4, 1))
    for seed in range(3):
        scales = [random((1,), "float32", seed), random((), "float32", seed + 5)]
        same(x, y, scales, dtype="bfloat16", fast=seed == 1)
        same(x, y, scales, random((16,), "bfloat16", seed), dtype="bfloat16")
        same(x, y, scales, random((16,), "float32", seed), dtype="float32")
        same(x, y, both_scales(4, 16, True), dtype="float32")


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("bias", [None, "bfloat16", "float32"])
def test_who_multiplies(rows, bias, way, simt):
    """The library scales sums, and brings no number back that float32 would not hold: it has been asked, then."""
    if not simt:
        pytest.skip("cards differ")
    signs = numpy.tile(numpy.float32([448, -448]), (4, 16))
    x, y = (ops.to_device(ops.cast(dragon.from_numpy(part), _C.dtype(E4)), "cuda")
            for part in (signs, numpy.ones((32, 16), "float32")))
    shapes = ((4, 1), (1, 16)) if rows else ((), ())
    scales = [ops.to_device(dragon.from_numpy(numpy.full(shape, size, "float32")), "cuda")
              for shape, size in zip(shapes, (1e38, 1))]
    zeros = bias and ops.to_device(ops.zeros((16,), dtype=_C.dtype(bias)), "cuda")
    made = ops.scaled_mm(x, y, *scales, zeros, dtype=dragon.bfloat16)
    made = ops.to_device(ops.cast(made, dragon.float32), "cpu").numpy()
    assert (made == 0).all() if way == "library" else numpy.isnan(made).all()


def test_scales_that_lie_oddly(way):
    """Scales with gaps, and ones that begin beside a multiple of 16 bytes."""
    x, y = random((4, 32), E4), turned(random((32, 16), E4, 1))
    for rows in (ops.narrow(random((5, 1), "float32"), 0, 1, 4), ops.narrow(random((4, 3), "float32"), 1, 1, 1)):
        same(x, y, [rows, random((1, 16), "float32", 4)], dtype="bfloat16")


def test_scales_of_the_host(way):
    x, y = (ops.to_device(part, "cuda") for part in (random((4, 16), E4), turned(random((16, 16), E4, 1))))
    two = dragon.from_numpy(numpy.float32(2))
    made = ops.scaled_mm(x, y, two, two, dtype=dragon.float32)
    wanted = ops.scaled_mm(x, y, ops.to_device(two, "cuda"), ops.to_device(two, "cuda"), dtype=dragon.float32)
    assert (ops.to_device(made, "cpu").numpy() == ops.to_device(wanted, "cpu").numpy()).all()


@pytest.mark.skipif(not os.environ.get("DRAGON_SIMT"), reason="asks what the stand-in of the library was told")
@pytest.mark.parametrize("capability", ["80", "89", "90", "100"])
def test_cards(capability, tmp_path):
    """Cards without such units, with them, and those whose library scales by rows."""
    import subprocess
    import sys
    code = f"""if True:
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import dragon, test_scaled as t
        dragon.load_library({os.environ["DRAGON_SIMT"]!r})
        for rows in (False, True):
            for bias in (None, "bfloat16", "float32"):
                x, y = t.random((6, 32), t.E4), t.turned(t.random((32, 48), t.E5, 1))
                t.same(x, y, t.both_scales(6, 48, rows), bias and t.random((48,), bias, 2), dtype="bfloat16")
        """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=150, cwd=tmp_path,
                   env={**os.environ, "DRAGON_SIMT_CAPABILITY": capability, "DRAGON_SIMT_BLAS": "1"})
