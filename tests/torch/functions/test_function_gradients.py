"""Functions written in Python have the gradients that genuine PyTorch's have."""
import pytest

from harness.twin import rows, same_gradients

GRADIENTS = """
torch.max(x, 1)[0] | x
torch.max(x, y) | x y
x.min() | x
x.median(1)[0] | x
torch.std(x, 1) | x
torch.var_mean(x, 0) | x
torch.norm(x, dim=1) | x
torch.norm(m, 'nuc') | m
torch.dist(x, y) | x y
torch.where(x > 0, x, y) | x y
x.scatter(1, torch.tensor([[0, 1, 2, 3]] * 3), y) | x y
torch.select_scatter(x, v, 0, 1) | x v
torch.slice_scatter(x, y[:2], 0, 1) | x y
torch.diagonal_scatter(m, v) | m v
torch.take_along_dim(x, torch.tensor([[0], [1], [2]]), 1) | x
torch.diff(x) | x
torch.trapezoid(x, v) | x v
torch.gradient(x) | x
torch.einsum('ij,kj->ik', x, y) | x y
torch.tensordot(b, b, ([0, 1], [0, 1])) | b
torch.cdist(x, y) | x y
torch.cov(x) | x
torch.corrcoef(x) | x
torch.mvlgamma(p + 2, 2) | p
x.split(2)[0] | x
torch.meshgrid(v, w, indexing='ij') | v w
torch.block_diag(x, v) | x v
x.sum_to_size(1, 4) | x
b.mT | b
torch.clamp_min(x, 0) | x
x.quantile(0.3, 1) | x
torch.index_put(x, (torch.tensor([0, 1]),), v) | x v
z.real | z
torch.stft(w.repeat(4), 8, window=torch.ones(8), return_complex=True) | w
torch.segment_reduce(v, 'sum', lengths=torch.tensor([1, 3])) | v
list(x)[1] | x
"""


@pytest.mark.parametrize("line", rows(GRADIENTS))
def test_the_same_gradients_as_genuine(line):
    code, names = line.split(" | ")
    same_gradients(code, *names.split())


@pytest.mark.parametrize("code, names", [("torch.normal(x, p)", "x p"), ("torch.normal(0., p)", "p")])
def test_draws_have_gradients_of_zero(code, names):
    same_gradients("torch.manual_seed(0); " + code, *names.split())
