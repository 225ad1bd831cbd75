"""Every transform beside genuine PyTorch's: values, inverses, Jacobians, shapes; and the tables of constraints."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each


def cases(t):
    """Return (transform, argument) by name."""
    D = t.distributions
    x = t.linspace(-1.5, 1.8, 12).reshape(2, 6)
    p = t.linspace(0.2, 1.8, 12).reshape(2, 6)
    return {
        "Abs": (D.AbsTransform(), p), "Affine": (D.AffineTransform(1.0, t.tensor(-2.0)), x),
        "Affine vector": (D.AffineTransform(1.0, 3.0, event_dim=1), x), "Compose": (
            D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.TanhTransform(), D.ExpTransform()]), x),
        "Corr": (D.CorrCholeskyTransform(), x), "Exp": (D.ExpTransform(), x), "Inverse": (D.ExpTransform().inv, p),
        "Cumulative": (D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)), x),
        "Independent": (D.IndependentTransform(D.ExpTransform(), 1), x), "Power": (D.PowerTransform(t.tensor(2.5)), p),
        "LowerCholesky": (D.LowerCholeskyTransform(), x[:, :4].reshape(2, 2, 2)), "Sigmoid": (D.SigmoidTransform(), x),
        "PositiveDefinite": (D.PositiveDefiniteTransform(), x[:, :4].reshape(2, 2, 2)),
        "Reshape": (D.ReshapeTransform((6,), (2, 3)), x), "Softmax": (D.SoftmaxTransform(), x),
        "Softplus": (D.SoftplusTransform(), x), "StickBreaking": (D.StickBreakingTransform(), x),
        "Tanh": (D.TanhTransform(), x), "Cat": (D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [2, 4]), x),
        "Stack": (D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0), x),
    }


THEIRS, MINE = cases(torch), cases(dragon_torch)


def same(mine, theirs):
    """Assert that two tensors hold the same numbers."""
    assert tuple(mine.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), 2e-5, 2e-6)


@each("name", THEIRS)
def test_transforms(name):
    (theirs, x), (mine, z) = THEIRS[name], MINE[name]
    y, w = theirs(x), mine(z)
    same(w, y)
    same(mine.inv(w), theirs.inv(y))
    assert mine.bijective == theirs.bijective and mine.forward_shape(z.shape) == theirs.forward_shape(x.shape)
    assert mine.inverse_shape(w.shape) == theirs.inverse_shape(y.shape)
    assert (mine.domain.event_dim, mine.codomain.event_dim) == (theirs.domain.event_dim, theirs.codomain.event_dim)
    try:
        expected = theirs.log_abs_det_jacobian(x, y)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            mine.log_abs_det_jacobian(z, w)
    else:
        same(mine.log_abs_det_jacobian(z, w), expected)
    if name not in ("Cumulative",):
        assert repr(mine) == repr(theirs) or "object at" in repr(theirs)


@each("table", ["biject_to", "transform_to"])
@each("name", ["real", "positive", "nonnegative", "unit_interval", "simplex", "lower_cholesky",
               "positive_definite", "corr_cholesky", "real_vector", "boolean"])
def test_tables(table, name):
    found = []
    for t in (torch, dragon_torch):
        try:
            found.append(repr(getattr(t.distributions, table)(getattr(t.distributions.constraints, name))))
        except NotImplementedError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_caches_keep_the_pair():
    for t in (torch, dragon_torch):
        transform = t.distributions.SigmoidTransform(cache_size=1)
        x = t.randn(3)
        assert transform.inv(transform(x)) is x


@pytest.mark.parametrize("name", ["constraints", "transforms"])
def test_what_a_module_shows_is_told(name):
    here, there = (getattr(room.distributions, name).__all__ for room in (dragon_torch, torch))
    assert sorted(here) == sorted(there)
