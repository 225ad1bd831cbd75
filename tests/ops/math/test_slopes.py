"""Slopes whose digits cancel keep those that their dtype can hold."""
import numpy
import pytest

from dragon.vm import torch


def slope(x):
    """Return the derivative of sinc as an array."""
    x = x.clone().requires_grad_(True)
    torch.sinc(x).backward(torch.ones_like(x))
    return x.grad.double().numpy()


@pytest.mark.parametrize("dtype, digits", [("float16", 2.0 ** -11), ("bfloat16", 2.0 ** -8), ("float32", 2.0 ** -20)])
def test_sinc(dtype, digits):
    rng = numpy.random.default_rng(5)
    small = rng.uniform(-1, 1, 2000) * 10.0 ** rng.uniform(-6, 0, 2000)
    numbers = numpy.concatenate([rng.uniform(-20, 20, 2000), small])
    x = torch.tensor(numbers, dtype=getattr(torch, dtype))
    got, wanted = slope(x), slope(x.double())
    # Far from 0 float32's rounding of pi x is left, and below all the denormal numbers of float16.
    least = 1e-6 * (abs(numbers) > 0.125) + (2.0 ** -25 if dtype == "float16" else 0)
    assert (abs(got - wanted) <= digits * abs(wanted) + least).all()


def test_sinc_near_zero():
    x = torch.tensor([1e-9, -1e-5, 1e-3, 0.1249999, 0.1250001], dtype=torch.float64)
    # -pi^2 x / 3 + pi^4 x^3 / 30 - ..., summed with 40 digits.
    wanted = [-3.289868133696453e-09, 3.289868133371756e-05, -0.0032898648867278964]
    numpy.testing.assert_allclose(slope(x)[:3], wanted, rtol=1e-14)
    numpy.testing.assert_allclose(numpy.diff(slope(x)[3:]), [-6.278115927653672e-7], rtol=1e-7)
