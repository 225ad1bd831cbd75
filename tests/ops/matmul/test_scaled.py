"""Products of scaled matrices of 8-bit floats: those of numbers that are brought back first."""
import numpy
import pytest

import dragon
from dragon import _C
from harness.subresults import each

ops = dragon.ops
NARROW = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


def narrow(shape, dtype, seed=0):
    """Return random numbers of 8 bits."""
    numbers = numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype("float32")
    return ops.cast(dragon.from_numpy(numbers), _C.dtype(dtype))


def wide(x):
    """Return a tensor's numbers as float64."""
    return ops.cast(x, dragon.float64).numpy()


def scales(m, n, rows):
    """Return two scales: one number each, or one for each row and column."""
    random = numpy.random.default_rng(7)
    shapes = ((m, 1), (1, n)) if rows else ((), (1, 1, 1))
    return [dragon.from_numpy(random.uniform(0.5, 2, shape).astype("float32")) for shape in shapes]


@each("x_dtype", NARROW)
@each("y_dtype", NARROW)
@each("rows", [False, True])
def test_products(x_dtype, y_dtype, rows):
    x, y, (x_scale, y_scale) = narrow((5, 19), x_dtype), narrow((19, 7), y_dtype, 1), scales(5, 7, rows)
    bias = dragon.from_numpy(numpy.arange(7.0))
    made = ops.scaled_mm(x, y, x_scale, y_scale, bias, dtype=dragon.float32)
    as_scale = [scale.numpy() if rows else scale.numpy().reshape(()) for scale in (x_scale, y_scale)]
    wanted = (wide(x) * as_scale[0]) @ (wide(y) * as_scale[1]) + numpy.arange(7.0)
    assert made.dtype == dragon.float32
    numpy.testing.assert_allclose(made.numpy(), wanted, rtol=1e-5, atol=1e-5)


@each("dtype", ["float64", "float32", "float16", "bfloat16", *NARROW, "int32"])
def test_results(dtype):
    """A result is what float32 becomes in its dtype; one of 8 bits is divided by its own scale before."""
    x, y, (x_scale, y_scale) = narrow((4, 16), NARROW[0]), narrow((16, 8), NARROW[0], 1), scales(4, 8, True)
    sums = ops.scaled_mm(x, y, x_scale, y_scale, dtype=dragon.float32)
    four = dragon.from_numpy(numpy.float32(4))
    made = ops.scaled_mm(x, y, x_scale, y_scale, None, four, _C.dtype(dtype))
    wanted = ops.cast(sums / 4 if dtype in NARROW[:2] else sums, _C.dtype(dtype))
    assert made.dtype == wanted.dtype and (wide(made) == wide(wanted)).all()


def test_layouts_and_empty_sizes():
    x, y, (x_scale, y_scale) = narrow((16, 32), NARROW[0]), narrow((32, 16), NARROW[0], 1), scales(16, 16, True)
    wanted = ops.scaled_mm(x, y, x_scale, y_scale, dtype=dragon.float32).numpy()
    turned = ops.permute(ops.clone(ops.permute(y, [1, 0])), [1, 0])
    other = ops.permute(ops.clone(ops.permute(x, [1, 0])), [1, 0])
    assert (ops.scaled_mm(other, turned, x_scale, y_scale, dtype=dragon.float32).numpy() == wanted).all()
    one = dragon.from_numpy(numpy.float32(1))
    bias = dragon.from_numpy(numpy.arange(16.0))
    empty = ops.scaled_mm(narrow((2, 0), NARROW[0]), narrow((0, 16), NARROW[1]), one, one, bias, dtype=dragon.float16)
    assert empty.numpy().tolist() == [list(range(16))] * 2
    for m, n in ((0, 16), (3, 0), (0, 0)):
        made = ops.scaled_mm(narrow((m, 16), NARROW[0]), narrow((16, n), NARROW[0]), one, one, dtype=dragon.bfloat16)
        assert tuple(made.shape) == (m, n)


def test_numbers_without_an_end():
    """What is not finite stays so, and what is too large is the largest of a dtype that has no infinity."""
    x = ops.cast(dragon.from_numpy(numpy.full((1, 16), numpy.nan, "float32")), _C.dtype("float8_e4m3fn"))
    large = ops.cast(dragon.from_numpy(numpy.full((1, 16), 448, "float32")), _C.dtype("float8_e4m3fn"))
    y = ops.permute(large, [1, 0])
    one, zero = (dragon.from_numpy(numpy.float32(number)) for number in (1, 0))
    assert numpy.isnan(wide(ops.scaled_mm(x, y, one, one))).all()
    assert wide(ops.scaled_mm(large, y, one, one)).tolist() == [[448.0]]
    assert wide(ops.scaled_mm(large, y, one, one, dtype=_C.dtype("float8_e5m2"))).tolist() == [[numpy.inf]]
    assert wide(ops.scaled_mm(large, y, one, one, dtype=dragon.float16)).tolist() == [[numpy.inf]]
    assert numpy.isinf(wide(ops.scaled_mm(large, y, one, one, None, zero, _C.dtype("float8_e5m2")))).all()


@each("says, changed", [
    ("expected 2 axes", {"x": (16,)}), ("expected 2 axes", {"y": (1, 16, 8)}), ("\\(m, k\\)", {"y": (15, 8)}),
    ("expected float8", {"x_dtype": "float16"}), ("expected float8", {"y_dtype": "float32"}),
    ("one number each", {"scales": ((4, 1), ())}), ("one number each", {"scales": ((4,), (8,))}),
    ("one number each", {"scales": ((4, 1), (8, 1))}), ("one number each", {"scales": ((0,), (0,))}),
    ("of float64", {"scale_dtype": "float64"}), ("8 columns", {"bias": (1,)}), ("8 columns", {"bias": (4,)}),
    ("one number of float32", {"result_scale": (2,)}), ("one number of float32", {"result_scale": (0,)})])
def test_letters(says, changed):
    def zeros(shape, dtype):
        return ops.cast(dragon.from_numpy(numpy.zeros(shape, "float32")), _C.dtype(dtype))
    x = zeros(changed.get("x", (4, 16)), changed.get("x_dtype", NARROW[0]))
    y = zeros(changed.get("y", (16, 8)), changed.get("y_dtype", NARROW[0]))
    both = [zeros(shape, changed.get("scale_dtype", "float32")) for shape in changed.get("scales", ((), ()))]
    more = [zeros(changed[name], "float32") if name in changed else None for name in ("bias", "result_scale")]
    with pytest.raises(ValueError, match=says):
        ops.scaled_mm(x, y, *both, *more)
