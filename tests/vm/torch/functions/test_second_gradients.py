"""Gradients of gradients, beside genuine PyTorch's: at random numbers, and where a formula divides by zero."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

RANDOM = np.random.default_rng(0)


def normal(*shape, imaginary=False):
    """Return seeded numbers."""
    return RANDOM.standard_normal(shape) + (1j * RANDOM.standard_normal(shape) if imaginary else 0)


def eigen(t, x):
    """Return a function of a Hermitian matrix, which does not depend on the signs of eigenvectors."""
    values, vectors = t.linalg.eigh(x)
    return (vectors * values.sin()) @ vectors.mH


X, M, ZEROS = normal(3, 4), normal(4, 4), np.array([0., 0.5, 0., -2.])
SINGULAR = np.outer([1., 2., 3.], [1., -1., 2.])
CASES = {
    "lerp by a number": (lambda t, x, y: t.lerp(x, y, 0.4), X, normal(3, 4)),
    "zeta of a number": (lambda t, x: t.special.zeta(3.3, x), abs(X) + 1),
    "avg_pool1d": (lambda t, x: t.nn.functional.avg_pool1d(x, 2, 1, 1, count_include_pad=False) ** 2, X),
    "max_pool1d": (lambda t, x: t.nn.functional.max_pool1d(x ** 2, 2, 1), X),
    "adaptive_max_pool1d": (lambda t, x: t.nn.functional.adaptive_max_pool1d(x[None] ** 2, 3), X),
    "norm at zero": (lambda t, x: t.linalg.norm(x), np.zeros(4)),
    "norms of columns, one zero": (lambda t, x: t.linalg.vector_norm(x, 2, 0), X * [1, 0, 1, 1]),
    "norm of order 3": (lambda t, x: t.linalg.vector_norm(x, 3, 1), X),
    "i1 at zero": (lambda t, x: t.special.i1(x), ZEROS),
    "i1e at zero": (lambda t, x: t.special.i1e(x), ZEROS),
    "group_norm": (lambda t, x: t.nn.functional.group_norm(x, 2), normal(2, 4, 3)),
    "group_norm of nothing": (lambda t, x, w: t.nn.functional.group_norm(x, 2, w), np.zeros((0, 4, 3)), normal(4)),
    "eigh": (eigen, M),
    "eigh of complex numbers": (eigen, normal(4, 4, imaginary=True)),
    "eigvalsh": (lambda t, x: t.linalg.eigvalsh(x, "U"), M),
    "cholesky": (lambda t, x: t.linalg.cholesky(x @ x.mH), normal(3, 3, imaginary=True)),
    "cholesky_solve": (lambda t, x, y: t.cholesky_solve(y, x + 4 * t.eye(4, dtype=x.dtype)), M, normal(4, 2)),
    "cholesky_inverse": (lambda t, x: t.cholesky_inverse(x + 4 * t.eye(4, dtype=x.dtype)), M),
    "det of a singular matrix": (lambda t, x: t.linalg.det(x), SINGULAR),
    "index_fill": (lambda t, x, s: t.index_fill(x, 1, t.tensor([2, 2, 0]), s) ** 2, X, normal(1)[0] * np.ones(())),
    "pixel_shuffle": (lambda t, x: t.nn.functional.pixel_shuffle(x, 2) ** 2, normal(4, 1, 1)),
}


def gradients(t, function, arrays):
    """Return a result, its gradients, and their gradients, in random directions."""
    random = np.random.default_rng(1)

    def directions(tensors):
        return [t.tensor(random.standard_normal(tuple(x.shape))).to(x.dtype) for x in tensors]

    leaves = [t.tensor(array).requires_grad_() for array in arrays]
    result = function(t, *leaves)
    slope = directions([result])[0].requires_grad_()
    first = t.autograd.grad(result, leaves, slope, create_graph=True)
    second = t.autograd.grad(first, [*leaves, slope], directions(first), allow_unused=True)
    wanted = [*leaves, slope]
    second = [t.zeros_like(x) if grad is None else grad for grad, x in zip(second, wanted)]
    return [x.detach().resolve_conj().numpy() for x in (result, *first, *second)]


@each("name", CASES)
def test_the_same_as_genuine(name):
    function, *arrays = CASES[name]
    for mine, genuine in zip(*(gradients(t, function, arrays) for t in (dragon_torch, torch))):
        assert mine.dtype == genuine.dtype
        # Where a norm is zero it has no second gradient: a NaN there, and nothing of ours.
        mine = np.where(np.isnan(genuine) & (mine == 0), genuine, mine) if "zero" in name else mine
        np.testing.assert_allclose(mine, genuine, 1e-6, 1e-6, err_msg=name)


@pytest.mark.parametrize("offset", [0, 1])
def test_as_strided_scatter_keeps_what_it_does_not_write(offset):
    """Genuine PyTorch's own gradient is that of the places written, against its own differences."""
    x, src = (dragon_torch.tensor(numbers, requires_grad=True) for numbers in (X, M[:2, :2].copy()))
    slope = dragon_torch.tensor(normal(3, 4))
    written = dragon_torch.as_strided_scatter(x, src, (2, 2), (1, 4), offset)
    dx, dsrc = dragon_torch.autograd.grad(written, (x, src), slope)
    places = np.ravel([[0, 4], [1, 5]]) + offset
    expected = slope.numpy().copy()
    expected.ravel()[places] = 0
    np.testing.assert_array_equal(dx.numpy(), expected)
    np.testing.assert_array_equal(dsrc.numpy().ravel(), slope.numpy().ravel()[places])
