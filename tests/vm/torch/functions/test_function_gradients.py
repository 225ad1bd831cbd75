"""Functions written in Python have the gradients that genuine PyTorch's have."""
import pytest

from harness.subresults import each
from harness.twin import rows, same_gradients

GRADIENTS = """
torch.max(x, 1)[0] | x
torch.max(x, y) | x y
x.min() | x
x.median(1)[0] | x
torch.std(x, 1) | x
torch.var_mean(x, 0) | x
torch.std(torch.complex(x, y), 1) | x y
torch.std(torch.complex(x - x, y - y), 1) | x y
torch.linalg.vector_norm(x * 1e-40) | x
torch.nn.functional.pairwise_distance(x.half(), x.detach().half()) | x
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
torch.index_fill(x, 1, torch.tensor([0, 0, 2]), s) | x s
torch.index_fill(x, 0, torch.tensor([], dtype=torch.int64), s) | x s
torch.cholesky_solve(y.t(), torch.linalg.cholesky(m @ m.t() + torch.eye(4))) | y m
torch.cholesky_solve(v[:, None], m + 4 * torch.eye(4)) | v m
torch.cholesky_solve(v[:, None], m + 4 * torch.eye(4), upper=True) | v m
torch.cholesky_inverse(m + 4 * torch.eye(4)) | m
torch.cholesky_inverse(m + 4 * torch.eye(4), True) | m
torch.linalg.cholesky(z @ z.mH + torch.eye(3)) | z
torch.gather(x, 1, torch.zeros(2, 0, 3, dtype=torch.int64)) | x
torch.nn.functional.pixel_shuffle(b.reshape(4, 2, 3), 2) | b
torch.stack(list(reversed(b))) | b
"""


@each("line", rows(GRADIENTS))
def test_the_same_gradients_as_genuine(line):
    code, names = line.split(" | ")
    same_gradients(code, *names.split())


@pytest.mark.parametrize("code, names", [("torch.normal(x, p)", "x p"), ("torch.normal(0., p)", "p")])
def test_draws_have_gradients_of_zero(code, names):
    same_gradients("torch.manual_seed(0); " + code, *names.split())


THROUGH_WRITES_AND_VIEWS = """
a = x * 1; a[0] = v; a | x v
a = x * 1; a[:, 1:3] *= 2; a | x
a = x * 1; a[q] = 0; a | x
a = x * 1; a[j] += y[j]; a | x y
a = x * 1; a.masked_fill_(q, 0); a | x
a = x * 1; a.t()[0] = 1.; a | x
a = x * 1; c = a.view(-1); c.mul_(2); a | x
a = x * 1; c = a[1]; c.copy_(v); a | x v
a = x * 1; c = a[:, 0]; c.add_(y[:, 0]); a | x y
a = x * 1; a.unsqueeze_(0); a * y | x y
a = x * 1; a.t_(); a @ x | x
a = x * 1; a.transpose_(0, 1); a.exp_(); a | x
a = x[None] * 1; a.squeeze_(); a.sigmoid_(); a | x
a = x * 1; a.clamp_(0, 1); a | x
a = x * 1; a.relu_(); a | x
a = x * 1; a.index_put_((j,), y, accumulate=True); a | x y
a = x * 1; a.addcmul_(x, y); a | x y
a = x * 1; a.lerp_(y, 0.3); a | x y
a = x * 1; a.zero_(); a + x | x
a = m * 1; a.fill_diagonal_(0); a | m
a = x * 1; a.tril_(); a | x
a = x * 1; a.cumsum_(1); a | x
a = x * 1; a.pow_(2); a | x
a = x * 1; a.div_(p); a | x p
a = x * 1; a.renorm_(2, 0, 1.); a | x
a = x * 1; a.ldexp_(y); a | x y
a = p * 1; a.polygamma_(2); a | p
a = x * 1; c = a.detach(); c.zero_(); a | x
a = torch.zeros(3, 4); a[1] = v; a | v
a = torch.zeros(3, 4); a.copy_(x); a | x
a = torch.empty(2, 3, 4); a[0] = x; a[1] = y; a | x y
a = torch.zeros(5); a[1:5] = v; a[0] = v.sum(); a | v
a = x.clone(); b2 = a[0]; b2 += 1; c = b2 * 2; a[1] = c; a | x
a = x.split(2)[0] * 1; a[0] = 0; a | x
x.T.contiguous().view(-1) | x
x.expand(2, 3, 4) * b | x b
x.view(2, 6).T.reshape(3, 4) | x
x.unbind(1)[2] | x
torch.cat([x, x[:1]]).view(-1)[::2] | x
x.as_strided((2, 2), (1, 2)) | x
x.diagonal() | x
x.unfold(1, 2, 1) | x
x.repeat(2, 2) | x
x.repeat_interleave(2, 0) | x
x.flip(0).roll(1, 1) | x
x[[0, 0, 1]] | x
x[q] | x
x[torch.tensor([0, 0]), torch.tensor([1, 1])] | x
x[..., None, :2] | x
x.take(torch.tensor([0, 0, 5])) | x
x.gather(1, torch.zeros(3, 2, dtype=torch.int64)) | x
x.topk(2)[0] | x
x.sort(0)[0] | x
x.kthvalue(2)[0] | x
x.mode(1)[0] | x
x.cummax(1)[0] | x
x.amax(1) | x
torch.amin(x, (0, 1)) | x
x.aminmax(dim=1) | x
x.prod(1) | x
x.cumprod(1) | x
x.std((0, 1)) | x
x.norm(3, 1) | x
x.norm(inf) | x
x.logsumexp(1) | x
x.softmax(0) * y | x
p.lgamma() | p
p.log1p().sqrt() | p
x.atan2(y) | x y
x.fmod(p) | x p
x.remainder(p) | x p
torch.where(q, x, 0.) | x
torch.maximum(x, y) | x y
torch.hypot(x, y) | x y
torch.logaddexp(x, y) | x y
x.clamp(min=v) | x v
p.pow(x) | p x
p ** 0.5 | p
2 ** x | x
x.abs() | x
x.sign() * x | x
x.erf() | x
x.erfinv().nan_to_num(0, 0, 0) | x
torch.sinc(x) | x
p.digamma() | p
torch.polygamma(2, p) | p
torch.xlogy(x, p) | x p
m.det() | m
m.inverse() | m
m.slogdet()[1] | m
m.matrix_exp() | m
torch.linalg.solve(m, y.T) | m y
(m @ m.T + 4 * torch.eye(4)).cholesky() | m
m.svd()[1] | m
torch.linalg.eigh(m + m.T)[0] | m
torch.linalg.qr(m)[1].abs() | m
m.pinverse() | m
torch.kron(v, w) | v w
torch.outer(v, w) | v w
torch.cross(x[:, :3], y[:, :3], dim=1) | x y
torch.addmm(y, x, m, beta=0.5, alpha=2) | y x m
torch.baddbmm(torch.zeros(2, 3, 3), b, b.mT) | b
torch.einsum('bij,bkj->bik', b, b) | b
torch.einsum('ii->i', m) | m
torch.bilinear(x, y, torch.ones(2, 4, 4)) | x y
z.abs() | z
z * z.conj() | z
z.angle() | z
torch.view_as_real(z) | z
torch.polar(p, x) | p x
torch.complex(x, y) * z | x y z
torch.fft.fft(x) | x
torch.fft.irfft(z) | z
x.to(torch.float64) * d.sum() | x d
x.half().float() | x
x.type(torch.float64) | x
(x > 0).float() * x | x
x.round() + x | x
torch.stack(list(x)) | x
sum(x) | x
x.max() - x.min() | x
x / x.sum(1, keepdim=True) | x
x.sum_to_size(3, 1) | x
torch.block_diag(x, y) | x y
torch.cartesian_prod(v, w) | v w
torch.combinations(v) | v
torch.renorm(x, 2, 0, 1.) | x
x.index_reduce(0, j, y, 'mean') | x y
x.scatter_reduce(0, torch.zeros(3, 4, dtype=torch.int64), y, 'prod') | x y
x.scatter_reduce(1, torch.zeros(3, 4, dtype=torch.int64), y, 'amax') | x y
n.nansum(1) | n
n.nanmean() | n
torch.trace(m) | m
x.tril() @ m | x m
torch.cumulative_trapezoid(x) | x
torch.logit(p / 3) | p
x.masked_select(q) | x
x.masked_scatter(q, y) | x y
torch.ldexp(x, y) | x y
torch.copysign(x, y) | x y
torch.float_power(p, 2) | p
torch.lerp(x, y, p) | x y p
torch.nn.functional.embedding(j, x) | x
torch.pdist(x) | x
torch.rot90(x) | x
torch.movedim(b, 0, 2) | b
x.unflatten(1, (2, 2)) | x
torch.rsub(x, y) | x y
x.mT @ x | x
torch.mv(x, v) | x v
torch.chain_matmul(x, m, y.T) | x m y
"""


@each("line", rows(THROUGH_WRITES_AND_VIEWS))
def test_gradients_through_writes_and_views(line):
    code, names = line.split(" | ")
    same_gradients(code, *names.split())
