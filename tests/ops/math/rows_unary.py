"""Rows of the pointwise functions of one number; a table of names, domains and what PyTorch has under another name."""
import functools

import pytest

from harness import ALL, COMPLEX, FLOATING, INEXACT, NUMERIC, REAL, Given, Row, Sample, Wrong

SHAPES = [Sample((3,)), Sample((2, 3, 4)), Sample((2, 0)), Sample(())]
LONG = [Sample((1100,)), Sample((2, 0)), Sample(())]  # past the block that the kernels work in
KINKS = "flat or with jumps: its gradient is 0 wherever there is one"


def functions(names, dtypes, domain=None, samples=SHAPES, **options):
    """Return a row for each of the names, given as one text."""
    return [Row(name, samples, dtypes=dtypes, domain=domain, **options) for name in names.split()]


def bessel(name, numpy, x):
    """Return SciPy's Bessel functions: PyTorch's are wrong from the ninth digit on."""
    return getattr(pytest.importorskip("scipy.special"), name)(x)


ROWS = [
    *functions("exp exp2 expm1 sinh cosh", INEXACT, samples=SHAPES + LONG[:1], exact=True),
    *functions("sin cos tanh square sigmoid", INEXACT, samples=SHAPES + LONG[:1]),
    *functions("tan atan asinh", INEXACT, (-1.2, 1.2)),
    *functions("log log2 log10 sqrt rsqrt reciprocal", INEXACT, (0.2, 3)),
    *functions("log1p asin acos atanh", INEXACT, (-0.8, 0.8)),
    *functions("acosh", INEXACT, (1.2, 4)),
    *functions("sinc", FLOATING + COMPLEX, (0.1, 1.5)),
    *functions("erf erfc deg2rad rad2deg", FLOATING, samples=SHAPES + LONG[:1]),
    *functions("erfinv", FLOATING, (-0.9, 0.9)),
    *functions("erfcx ndtr log_ndtr", FLOATING, (-3, 3)),
    *functions("ndtri entr", FLOATING, (0.05, 0.95)),
    *functions("i0", FLOATING, (-9, 9), exact=True),
    *functions("i0e", FLOATING, (-12, 12)),
    *functions("i1 i1e", FLOATING, (-12, 12), special="PyTorch's lose the sign of -0"),
    *functions("spherical_bessel_j0", FLOATING, (0.3, 12), gradient="PyTorch has none to compare"),
    *[Row(f"bessel_{name}", SHAPES, domain=(0.3, 12), numpy=functools.partial(bessel, name),
          gradient="PyTorch has none to compare", special="at infinity PyTorch's are NaN, ours the limit 0")
      for name in ("j0", "j1", "y0", "y1")],
    *functions("lgamma digamma", FLOATING, (0.3, 6)),
    *functions("frac", FLOATING, (0.1, 0.9)),
    *functions("ceil floor trunc", REAL, (0.1, 0.9), gradient=KINKS),
    *functions("sign", REAL + ("bool",), gradient=KINKS),
    *functions("neg positive", NUMERIC),
    *functions("abs sgn", NUMERIC, (0.3, 2), second="of sgn PyTorch's own fails its check at kinks"),
    *functions("angle", INEXACT, (0.3, 2)),
    *functions("conj conj_physical", NUMERIC),
    *functions("isnan isinf isfinite logical_not", ALL, gradient=False),
    *functions("isposinf isneginf signbit", REAL + ("bool",), gradient=False),
    *functions("bitwise_not", ("int64", "int32", "int16", "int8", "uint8", "bool"), gradient=False),
    Row("isreal", SHAPES, dtypes=NUMERIC, gradient=False),
    Row("cbrt", SHAPES, domain=(0.2, 3), torch=lambda torch, x: torch.sign(x) * x.abs() ** (1 / 3),
        gradient="PyTorch has no cube root", special="PyTorch has none"),
    Row("logit", SHAPES + [Sample((2, 3), eps=0.3), Sample((2, 3), 1e-6)], domain=(0.05, 0.95)),
    Row("round", SHAPES + [Sample((2, 3), decimals=2), Sample((2, 3), decimals=-1),
                           Sample(Given((4,), values=[0.5, 1.5, -2.5, 2.0])),
                           Sample(Given((4,), values=[0.125, 0.375, -0.625, 0.875]), decimals=2)],
        dtypes=FLOATING, gradient=KINKS),
    Row("nan_to_num", SHAPES + [Sample(Given((4,), values=[float("nan"), float("inf"), -float("inf"), 1.0])),
                                Sample((2, 3), nan=1.0, posinf=2.0, neginf=-2.0)], dtypes=REAL, exact=True),
    Row("frexp", SHAPES + [Sample(Given((4,), values=[-9.0, 0.3, 1e-3, 6.0])),
                           Sample(Given((2,), values=[0.0, 8.0], grad=False))], dtypes=FLOATING[:2]),
    Row("polygamma", [Sample(0, (3,)), Sample(1, (2, 3)), Sample(3, (2, 0)), Sample(2, ())], domain=(0.5, 6),
        out="its first argument is no tensor", errors=[Wrong(-1, (3,), says=("n = -1",))]),
]
