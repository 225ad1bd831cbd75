"""Inputs of tests: matrices with known properties, tensors that are not contiguous; and gradients that are checked."""
import math

from dragon.vm import torch


def noncontiguous_like(t):
    """Return a tensor of the same numbers that is not contiguous, where it is already, itself."""
    if not t.is_contiguous():
        return t
    made = torch.empty(*t.shape, 2, dtype=t.dtype, device=t.device).fill_(
        False if t.dtype is torch.bool else 12 if not t.is_floating_point() and not t.is_complex() else math.nan)
    made = made[..., 0] if t.ndim else made[0]
    made.copy_(t.detach())
    return made.requires_grad_(t.requires_grad)


def random_square_matrix_of_rank(l, rank, dtype=torch.double, device="cpu"):  # noqa: E741
    """Return a square matrix of a rank."""
    if rank > l:
        raise AssertionError(f"Expected rank <= l, got rank={rank}, l={l}")
    left, values, right = torch.linalg.svd(torch.randn(l, l, dtype=dtype, device=device))
    for place in range(l):
        if place >= rank:
            values[place] = 0
        elif values[place] == 0:
            values[place] = 1
    return left.mm(torch.diag(values).to(dtype)).mm(right)


def random_well_conditioned_matrix(*shape, dtype, device, mean=1.0, sigma=0.001):
    """Return matrices whose singular values lie around one number."""
    size = min(shape[-2:])
    left, _, right = torch.linalg.svd(torch.randn(shape, dtype=dtype, device=device), full_matrices=False)
    values = torch.randn(*shape[:-2], size, dtype=left.real.dtype, device=device) * sigma + mean
    return (left * values.unsqueeze(-2).to(dtype)) @ right


def random_symmetric_matrix(l, *batches, dtype=torch.double, device="cpu"):  # noqa: E741
    """Return symmetric matrices."""
    made = torch.randn(*batches, l, l, dtype=dtype, device=device)
    return (made + made.mT).div_(2)


def make_symmetric_matrices(*shape, device, dtype):
    """Return symmetric matrices."""
    made = torch.testing.make_tensor(*shape, device=device, dtype=dtype)
    return made + made.mT.div_(2)


def random_hermitian_matrix(l, *batches, dtype=torch.double, device="cpu"):  # noqa: E741
    """Return matrices that are their own conjugate transposes."""
    made = torch.randn(*batches, l, l, dtype=dtype, device=device)
    return (made + made.mH).div_(2)


def random_symmetric_psd_matrix(l, *batches, dtype=torch.double, device="cpu"):  # noqa: E741
    """Return symmetric matrices whose eigenvalues are not negative."""
    made = torch.randn(*batches, l, l, dtype=dtype, device=device)
    return made @ made.mT


def random_hermitian_psd_matrix(matrix_size, *batch_dims, dtype=torch.double, device="cpu"):
    """Return hermitian matrices whose eigenvalues are not negative."""
    made = torch.randn(*batch_dims, matrix_size, matrix_size, dtype=dtype, device=device)
    return made @ made.mH


def random_symmetric_pd_matrix(matrix_size, *batch_dims, dtype=torch.double, device="cpu"):
    """Return symmetric matrices whose eigenvalues are positive."""
    made = torch.randn(*batch_dims, matrix_size, matrix_size, dtype=dtype, device=device)
    return made @ made.mT + torch.eye(matrix_size, dtype=dtype, device=device) * 1e-5


def random_hermitian_pd_matrix(matrix_size, *batch_dims, dtype, device):
    """Return hermitian matrices whose eigenvalues are positive."""
    made = torch.randn(*batch_dims, matrix_size, matrix_size, dtype=dtype, device=device)
    return made @ made.mH + torch.eye(matrix_size, dtype=dtype, device=device)


def make_fullrank_matrices_with_distinct_singular_values(*shape, device, dtype, requires_grad=False):
    """Return matrices of full rank whose singular values are all different."""
    left, _, right = torch.linalg.svd(torch.testing.make_tensor(shape, device=device, dtype=dtype),
                                      full_matrices=False)
    size = left.shape[-1]
    values = torch.linspace(1.5, 0.5, size, dtype=left.real.dtype, device=device)
    made = (left * values.to(left.dtype)) @ right
    return made.detach().requires_grad_(requires_grad)


def gradcheck(fn, inputs, **kwargs):
    """Return whether gradients are those of differences, as `torch.autograd.gradcheck` does, and quickly."""
    return torch.autograd.gradcheck(fn, inputs, **{"check_batched_grad": True, "fast_mode": True, **kwargs})


def gradgradcheck(fn, inputs, grad_outputs=None, **kwargs):
    """Return whether second gradients are those of differences, as `torch.autograd.gradgradcheck` does."""
    return torch.autograd.gradgradcheck(fn, inputs, grad_outputs,
                                        **{"check_batched_grad": True, "fast_mode": True, **kwargs})
