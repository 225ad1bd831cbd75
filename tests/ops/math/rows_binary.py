"""Rows of the pointwise functions of two and three numbers."""
from harness import ALL, FLOATING, INEXACT, INTEGER, NUMERIC, REAL, Given, Row, Sample, Wrong

PAIRS = [Sample((3,), (3,)), Sample((2, 3), (3,)), Sample((4, 1, 3), (2, 1)), Sample((2, 0), (1,)), Sample((), ())]
MISFIT = [Wrong((2, 3), (4,), says=("(2, 3)", "(4,)"))]
INTEGERS = INTEGER + ("bool",)


def nonzero(shape):
    """Return a tensor for a divisor: no zeros, both signs among floats and integers."""
    return Given(shape, make=lambda numpy, rng, shape: rng.integers(1, 5, shape) * 1.25)


QUOTIENTS = [Sample((3,), nonzero((3,))), Sample((2, 3), nonzero((3,))), Sample((4, 1, 3), nonzero((2, 1))),
             Sample((2, 0), nonzero((1,))), Sample((), nonzero(()))]
BY_ZERO = [Wrong(Given((2,), "int64"), Given((2,), "int64", values=[1, 0]), says="zero")]


def functions(names, dtypes, samples=PAIRS, **options):
    """Return a row for each of the names, given as one text."""
    return [Row(name, samples, dtypes=dtypes, errors=options.pop("errors", MISFIT), **options)
            for name in names.split()]


ROWS = [
    *functions("mul", ALL),
    *functions("div", INEXACT + INTEGER, QUOTIENTS),
    Row("add", PAIRS + [Sample((2, 3), (3,), alpha=2)], dtypes=ALL, errors=MISFIT),
    Row("sub", PAIRS + [Sample((2, 3), (3,), alpha=2)], dtypes=NUMERIC, errors=[
        *MISFIT, Wrong(Given((2,), "bool"), Given((2,), "bool"), error=TypeError, says="bool")]),
    Row("rsub", PAIRS + [Sample((2, 3), (3,), alpha=2)], dtypes=NUMERIC),
    *functions("floor_divide", REAL, QUOTIENTS, errors=BY_ZERO, gradient="0 wherever there is one"),
    Row("trunc_divide", QUOTIENTS, dtypes=REAL, errors=BY_ZERO, gradient="0 wherever there is one",
        torch=lambda torch, x, y: torch.div(x, y, rounding_mode="trunc")),
    Row("divide", QUOTIENTS + [Sample((2, 3), nonzero((3,)), rounding_mode="floor"),
                               Sample((2, 3), nonzero((3,)), rounding_mode="trunc")], dtypes=REAL,
        errors=[Wrong((2,), (2,), rounding_mode="up", says="'up'")]),
    *functions("remainder fmod", REAL, QUOTIENTS, errors=BY_ZERO),
    Row("pow", [Sample(Given((2, 3), low=0.3, high=2), (3,)), Sample(Given((), low=0.3, high=2), ()),
                Sample((3,), Given((), values=2.0, grad=False)), Sample((2, 0), (1,))], dtypes=INEXACT),
    Row("float_power", [Sample(Given((2, 3), low=0.3, high=2), (3,)), Sample((2, 0), (1,))], dtypes=REAL),
    *functions("atan2 hypot copysign", FLOATING),
    *functions("maximum minimum fmax fmin", REAL),
    *functions("heaviside", REAL, gradient="none is defined"),
    *functions("logaddexp logaddexp2", FLOATING),
    Row("ldexp", [Sample((3,), Given((3,), low=-4, high=4))], dtypes=FLOATING[:2]),
    Row("xlogy", [Sample((2, 3), Given((3,), low=0.3, high=3)), Sample((2, 0), (1,))]),
    Row("xlog1py", [Sample((2, 3), Given((3,), low=-0.7, high=3)), Sample((2, 0), (1,))]),
    *functions("nextafter", FLOATING[:2], gradient=False, special="only single steps are compared"),
    Row("zeta", [Sample(Given((2, 3), low=1.5, high=5, grad=False), Given((3,), low=0.5, high=5))],
        dtypes=FLOATING[:2]),
    *[Row(name, [Sample(Given((2, 3), low=0.3, high=9, grad=False), Given((3,), low=0.2, high=12)),
                 Sample(Given((6,), values=[0.0, 1.0, 0.0, 50.0, 300.0, 1e4], grad=False),
                        Given((6,), values=[1.0, 0.0, 2.0, 45.0, 310.0, 10050.0], grad=False))],
          dtypes=FLOATING[:2], second="PyTorch's own lacks it", special="orders at the edges differ by design",
          tolerance={"float32": (1e-4, 1e-6, "PyTorch computes in single precision")})
      for name in ("igamma", "igammac")],
    *functions("gcd lcm", INTEGER, gradient=False),
    *functions("eq ne", ALL, gradient=False),
    *functions("lt le gt ge", REAL + ("bool",), gradient=False),
    *functions("logical_and logical_or logical_xor", ALL, gradient=False),
    *functions("bitwise_and bitwise_or bitwise_xor", INTEGERS, gradient=False),
    *[Row(name, [Sample((2, 3), Given((3,), low=0, high=7)),
                 Sample(Given((4,), low=0, high=9), Given((4,), values=[70, 8, 1, 0]))], dtypes=INTEGER, gradient=False)
      for name in ("bitwise_left_shift", "bitwise_right_shift")],
    Row("isclose", PAIRS + [Sample((3,), (3,), 0.5, 0.1), Sample((3,), (3,), 0.0, 0.0, True)], dtypes=REAL,
        gradient=False, errors=[Wrong((2,), (2,), -1.0, says="-1")]),
    Row("allclose", [Sample((3,), (3,)), Sample((3,), (3,), 1e3, 1e3)], dtypes=REAL, gradient=False,
        torch=lambda torch, *args: torch.tensor(torch.allclose(*args))),
    Row("complex", PAIRS, dtypes=FLOATING[:2]),
    # Of negative lengths PyTorch's gradient has the wrong sign.
    Row("polar", PAIRS, dtypes=FLOATING[:2], domain=(0.3, 2)),
    Row("where", [Sample(Given((2, 3), "bool"), (2, 3), (3,)), Sample(Given((3,), "bool"), (2, 1), (1, 3)),
                  Sample(Given((), "bool"), (2, 0), ())], dtypes=ALL,
        errors=[Wrong(Given((2,), "int64"), (2,), (2,), error=TypeError, says="int64")]),
    Row("clamp", [Sample((2, 3), Given((3,), low=-2, high=1), Given((3,), low=0, high=2)), Sample((2, 3), (3,)),
                  Sample((2, 3), None, Given((), values=0.5)), Sample((2, 0), Given((), values=0.5))], dtypes=REAL,
        errors=[Wrong((2,), says="neither")]),
    Row("lerp", [Sample((2, 3), (3,), (2, 3)), Sample((3,), (3,), Given((), values=0.25)), Sample((2, 0), (1,), ())],
        dtypes=INEXACT),
    Row("addcmul", [Sample((2, 3), (3,), (2, 3)), Sample((2, 3), (3,), (2, 1), value=2), Sample((2, 0), (1,), ())],
        dtypes=NUMERIC),
    Row("addcdiv", [Sample((2, 3), (3,), nonzero((2, 3))), Sample((2, 3), (3,), nonzero((2, 1)), value=-0.5)],
        dtypes=INEXACT),
]
