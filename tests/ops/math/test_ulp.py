"""Elementary functions stay within 4 units in the last place of extended precision, from denormal to huge numbers."""
import numpy
import pytest

import dragon
from harness.subresults import each

NAMES = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, numpy.inf, -numpy.inf, numpy.nan, 88.7, 89.0, -87.4, -103.9, -104.1, 709.0,
         710.0, -745.0, -746.0, 1e22, numpy.pi, numpy.pi / 2]


def numbers(dtype):
    """Return seeded numbers of every size and sign, and the edges."""
    rng = numpy.random.default_rng(5)
    word = numpy.uint32 if dtype == "float32" else numpy.uint64
    bits = rng.integers(0, numpy.iinfo(word).max, 20000, dtype=word, endpoint=True).view(dtype)
    near = [rng.uniform(-1, 1, 20000), rng.uniform(-100, 100, 20000), rng.standard_normal(20000) * 1e-3]
    return numpy.concatenate([bits, *[part.astype(dtype) for part in near], numpy.array(EDGES, dtype)])


def ulps(got, wanted):
    """Return the distance of results from extended-precision ones, in spacings of their dtype."""
    rounded = wanted.astype(got.dtype)
    same = (got == rounded) & (numpy.signbit(got) == numpy.signbit(rounded)) | numpy.isnan(got) & numpy.isnan(rounded)
    spacing = numpy.spacing(numpy.abs(rounded)).astype(numpy.longdouble)
    return numpy.where(same, 0, numpy.abs(got.astype(numpy.longdouble) - wanted) / spacing)


@each("dtype", ["float32", "float64"])
@each("name", sorted(NAMES))
def test_within_four_ulps(name, dtype):
    if numpy.finfo(numpy.longdouble).nmant <= 52:
        pytest.skip("this machine has no wider float to compare with")
    x = numbers(dtype)
    got = getattr(dragon.ops, name)(dragon.from_numpy(x)).numpy()
    with numpy.errstate(all="ignore"):
        distance = ulps(got, getattr(numpy, NAMES[name])(x.astype(numpy.longdouble)))
    worst = int(numpy.argmax(numpy.where(numpy.isnan(distance), numpy.inf, distance)))
    assert distance[worst] <= 4, f"{name}({x[worst]!r}) = {got[worst]!r}"
