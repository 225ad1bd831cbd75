"""All that is tried with a row of the operator table, by name: which dtypes it is tried in, and which half it is of."""
import dataclasses
from typing import Callable

from harness import checks, engine, gradients, plans, slices
from harness.bound import Walk
from harness.row import FLOATING


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that is tried with a row."""

    name: str
    attempt: Callable  # attempt(walk, name, dtype)
    dtypes: Callable  # dtypes(row): those it is tried in
    quick: Callable = lambda row, dtype: True  # whether it belongs to the quick half


def simply(check):
    """Return an attempt of a check on every sample of a row."""
    return lambda walk, name, dtype: walk.attempt(name, dtype, check)


def attempt_special(walk, name, dtype):
    """Try the sample of special numbers."""
    walk.attempt(name, dtype, checks.check_special, checks.special_samples(walk.row))


def attempt_errors(walk, name, dtype):
    """Try the calls that must fail."""
    walk.attempt(name, dtype, checks.check_error, walk.row.errors)


def attempt_batches(walk, name, dtype):
    """Try batches, and that an operator's rule for them computes at least one."""
    batches = slices.Batches()
    walk.attempt(name, dtype, batches.check)
    if slices.has_rule(walk.row):
        walk.expect(name, dtype, None if batches.together else "its rule for batches computed none of the samples")


def attempt_plans(levels, count, with_gradient):
    """Return an attempt of plans at some levels."""
    def attempt(walk, name, dtype):
        tried = plans.Plans(levels, count, with_gradient(walk.row))
        walk.attempt(name, dtype, tried.check)
        if tried.gave_up:
            walk.expect(name, dtype, tried.excuse(walk.row))
    return attempt


def in_first(wanted=lambda row: True):
    """Return what gives the first dtype of rows for which something holds."""
    return lambda row: row.dtypes[:1] if wanted(row) else ()


def in_double(wanted):
    """Return what gives float64 and, for rows with complex inputs, complex128 of differentiable rows."""
    return lambda row: tuple(
        dtype for dtype in ("float64", "complex128") if row.differentiable and wanted(row)
        and (dtype in row.dtypes or dtype == "float64" and "float32" in row.dtypes))


def in_numpy(row):
    """Return the first dtype of a row that NumPy has, where its inputs may have any strides."""
    if row.random or row.strided is not True:
        return ()
    return (next(dtype for dtype in row.dtypes if dtype != "bfloat16"),)


def in_special(row):
    """Return the dtypes that have special numbers, where there is a rule for them."""
    return [dtype for dtype in FLOATING if dtype in row.dtypes] if checks.special_samples(row) else ()


def first_dtype(row, dtype):
    """Whether a dtype is a row's first."""
    return dtype == row.dtypes[0]


def never(row, dtype):
    """Say that something belongs to the long half."""
    return False


CHECKS = [
    Check("values", simply(checks.check_values), lambda row: row.dtypes, first_dtype),
    Check("meta", simply(checks.check_meta), in_first(lambda row: row.meta is True and not engine.is_dynamic(row))),
    Check("strides", simply(checks.check_strides), in_numpy),
    Check("out", simply(checks.check_out), in_first(checks.writes_out)),
    Check("special numbers", attempt_special, in_special, lambda row, dtype: dtype == "float32"),
    Check("gradients of PyTorch", simply(gradients.check_against_torch), in_double(gradients.has_torch_gradients)),
    Check("gradients by differences", simply(gradients.check_first), in_double(lambda row: True)),
    Check("second derivatives", simply(gradients.check_second), in_double(lambda row: row.second is True), never),
    # Where its memory lies matters to a view of any strides, and so where a slice lies.
    Check("batches", attempt_batches,
          in_first(lambda row: not row.random and not row.name.startswith("as_strided"))),
    Check("errors", attempt_errors, in_first(lambda row: row.errors)),
    Check("plans", attempt_plans(plans.ENDS, plans.FEW, lambda row: False), in_first()),
    Check("plans with gradients", attempt_plans(plans.ENDS, plans.FEW, plans.has_gradient),
          in_first(plans.has_gradient)),
    Check("plans at all levels", attempt_plans(plans.captured.LEVELS, None, plans.has_gradient),
          lambda row: row.dtypes[:2], never),
]


def checks_of(row, home, long):
    """Yield (check, dtype) of what is tried in the test of a row in a dtype.

    That in the first dtype has all of the quick half, whatever dtypes it is tried in; `long`, it has besides what
    the long half tries in the first dtype, and in dtypes that are none of the row's own.
    """
    for check in CHECKS:
        for dtype in check.dtypes(row):
            place = row.dtypes[0] if dtype not in row.dtypes else dtype
            if check.quick(row, dtype):
                if home == row.dtypes[0]:
                    yield check, dtype
            elif long and place == home:
                yield check, dtype


def walk_row(row, home, long):
    """Try all that belongs to the test of a row in a dtype, and fail with the names of what failed."""
    walk = Walk(row)
    for check, dtype in checks_of(row, home, long):
        check.attempt(walk, check.name, dtype)
    walk.finish()
