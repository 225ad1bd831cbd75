"""`torch.special` at edges, of integers and of degrees whose recurrences would not end, beside genuine PyTorch."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

NUMBERS = [0., -0., 1., -1., .5, -.5, 2., -2., 3., 1e-8, 10., -10., 100., 25., -8.1, 104., np.nan, np.inf, -np.inf]
INTEGERS = [0, 1, 2, 3, 5, 10, 50, 100]
UNARY = """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma
entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0
i0e i1 i1e log1p log_ndtr logit modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
scaled_modified_bessel_k0 scaled_modified_bessel_k1 ndtr ndtri sinc spherical_bessel_j0""".split()
CHEBYSHEV = [f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"]
POLYNOMIALS = CHEBYSHEV + ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
                           "legendre_polynomial_p"]
PLACES = [0., 1., -1., .25, .75, 1.0001, -1.0001, -.0001, 2., -2., np.inf, -np.inf]


def same(call, tolerance):
    """Assert that both sides make the same numbers of the same dtype."""
    genuine, mine = call(torch), call(dragon_torch)
    assert str(mine.dtype) == str(genuine.dtype)
    np.testing.assert_allclose(mine.double().numpy(), genuine.double().numpy(), tolerance, tolerance)


@pytest.mark.parametrize("name", UNARY)
def test_edges(name):
    same(lambda t: getattr(t.special, name)(t.tensor(NUMBERS, dtype=t.float64)), 1e-7)
    for dtype in ("int64", "uint8", "bool"):
        same(lambda t: getattr(t.special, name)(t.tensor(INTEGERS).to(getattr(t, dtype))), 1e-5)


@each("degree", [-2, 0, 1, 2, 5, 7, 9, 40, 513, 5001])
@each("name", POLYNOMIALS)
def test_polynomials(name, degree):
    same(lambda t: getattr(t.special, name)(t.tensor(PLACES, dtype=t.float64), degree), 1e-6)
    if degree < 513:
        same(lambda t: getattr(t.special, name)(t.tensor([0, 1, 2, -1]), degree), 1e-4)


@each("name", POLYNOMIALS)
def test_a_degree_for_each_place(name):
    degrees = np.tile([-1., 0., 2., 7., 9., 2.5, np.nan, 600.], (len(PLACES), 1))
    places = np.repeat(np.array(PLACES)[:, None], degrees.shape[1], 1)
    same(lambda t: getattr(t.special, name)(t.tensor(places), t.tensor(degrees)), 1e-6)


@each("degree", [2 ** 32, 2 ** 62, float("inf"), float("nan")])
@each("name", POLYNOMIALS)
def test_any_degree_ends(name, degree):
    """What has a closed form gives it; Laguerre's and Legendre's polynomials say how far they go."""
    function, places = getattr(dragon_torch.special, name), dragon_torch.tensor([0.3, 1.0, -1.0, 2.0])
    refuses = name.startswith("la") or name.startswith("le")
    for n in (degree, dragon_torch.full((4,), float(degree), dtype=dragon_torch.float64)):
        if refuses and abs(degree) < float("inf"):
            with pytest.raises(NotImplementedError, match="at most"):
                function(places, n)
        else:
            made = function(places, n)
            assert made.shape == places.shape
            if name in CHEBYSHEV and abs(degree) < float("inf"):
                assert made[1] in (1, degree + 1, 2 * degree + 1) and made[3].isnan()
    with pytest.raises(NotImplementedError, match="at most"):
        dragon_torch.special.multigammaln(places, 2 ** 40)
