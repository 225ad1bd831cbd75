"""Pointwise maths, products and windows give what genuine PyTorch gives, line by line."""
import pytest

from dragon.vm import torch
from dragon.vm.torch.core.functions import pointwise
from harness.subresults import each
from harness.twin import rows, same

MATHS = """
torch.div(x, y)
x.div(2)
x.div(y, rounding_mode='floor')
torch.div(i, 3, rounding_mode='trunc')
torch.div(i, 3)
i.div_(2)
x.div_(2, rounding_mode='floor')
x.true_divide(y)
i // 3
i % 3
-7 // torch.tensor([2, -2])
i / 2
2 ** x
2 - x
2 / p
7 // p
5 % p
v @ v
x @ v
x @ d
np.float32(2) * x
x * np.float64(2)
np.int64(3) - i
i + True
i + 1.5
i * 2
q + q
q - q
-q
~q
~i
q & q
q | True
q ^ q
i << 1
i >> 1
i & 3
x == None
x != 'a'
x + 'a'
abs(x)
+x
-x
pow(x, 2)
x ** 2
x ** 0.5
divmod(x, 2)
x.clamp_min(0)
torch.clamp_min(x, min=0)
torch.clamp_max(x, y)
x.clamp_max_(0.5)
x.clamp(-1, 1)
x.clamp(min=v)
x.clamp()
torch.clamp_(x, max=0)
x.clip(0, 1)
torch.mvlgamma(p + 2, 2)
p.add_(2).mvlgamma_(2)
torch.diff(w)
torch.diff(x, 2, dim=0)
torch.diff(w, prepend=torch.tensor([0.]), append=torch.tensor([1.]))
torch.diff(q)
torch.diff(s)
torch.trapezoid(x)
torch.trapezoid(x, v)
torch.trapezoid(x, dx=0.5, dim=0)
torch.trapz(w)
torch.cumulative_trapezoid(x, v)
torch.cumulative_trapezoid(x, dim=0)
torch.gradient(w)
torch.gradient(x, spacing=2.0)
torch.gradient(x, spacing=[torch.tensor([0., 1., 3.]), v.sort()[0]])
torch.gradient(x, dim=1, edge_order=2)
torch.gradient(w, spacing=(w.sort()[0],), edge_order=2)
torch.einsum('ij,kj->ik', x, y)
torch.einsum('ij,j', [x, v])
torch.einsum('bij->b', b)
torch.einsum(x, [0, 1], y, [2, 1], [0, 2])
torch.einsum(x, [0, 1], v, [1])
torch.tensordot(x, y.T, 1)
torch.tensordot(b, b, dims=([0, 1], [0, 1]))
torch.tensordot(x, y, 2)
torch.tensordot(b, x, dims=((1, 2), (0, 1)))
torch.cdist(x, y)
torch.cdist(b, b, p=1)
torch.cdist(x, y, compute_mode='donot_use_mm_for_euclid_dist')
torch.chain_matmul(x, m, y.T)
torch.lu(m)[0]
torch.addmm(x, x, m, beta=0.5, alpha=2)
x.addcmul(x, y, value=0.5)
x.addcdiv_(x, p, value=2)
x.lerp(y, 0.25)
x.lerp_(y, p)
torch.add(x, y, alpha=2)
x.add_(y, alpha=-1)
x.sub(y, alpha=2)
torch.rsub(x, 1)
torch.mul(x, 3)
i.mul_(2.5)
i.add_(1)
x.round(decimals=1)
i.float().round_()
x.sigmoid_()
torch.relu_(x)
x.exp_().log_()
x.sqrt_()
x.neg_()
torch.neg_(x)
q.logical_not()
x.logical_and(y)
x.logical_or_(y)
i.bitwise_and(3)
i.bitwise_xor_(1)
x.eq_(y)
x.gt(0)
x.greater_equal(y)
torch.ne(x, 0)
x.maximum(y)
torch.fmax(n, torch.tensor(1.))
torch.hypot(x, y)
torch.atan2(x, y)
torch.logaddexp(x, y)
p.logit(0.1)
torch.sinc(x)
torch.xlogy(x, p)
torch.nan_to_num(n, 1.0)
n.isnan()
n.isfinite()
n.nan_to_num_()
torch.heaviside(x, s)
torch.frac(x)
torch.sign(i)
torch.copysign(x, -1)
torch.float_power(i.abs(), 2)
torch.polygamma(1, p)
p.polygamma_(1)
p.polygamma(2)
p.digamma()
torch.lgamma(p)
torch.erfinv(s)
torch.angle(z)
z.abs()
z.conj()
z.real
z.imag
x.real is x
x.imag
torch.real(z)
torch.imag(z)
z.real.fill_(0); z
torch.view_as_real(z)
torch.polar(p, x)
torch.complex(x, y)
z.is_conj()
torch.resolve_conj(z)
torch.cross(x[:, :3], y[:, :3], dim=1)
torch.kron(v, w)
torch.outer(v, w)
torch.ger(v, w)
torch.dot(v, v)
torch.inner(x, y)
torch.vander(v)
torch.renorm(x, 2, 0, 1.0)
x.cumprod(1)
torch.logcumsumexp(x, 0)
torch.softmax(x, 1)
x.softmax(-1)
x.log_softmax(dim=0)
torch.softmax(i, 0, dtype=torch.float32)
v.apply_(lambda number: number * 2)
v.map_(v.clone(), lambda one, other: one + other)
torch.is_same_size(x, y)
"""

WINDOWS = """
torch.hann_window(8)
torch.hann_window(7, False)
torch.hamming_window(8, True, alpha=0.5, beta=0.4)
torch.hamming_window(8, True, 0.5)
torch.blackman_window(9, periodic=False)
torch.bartlett_window(8)
torch.kaiser_window(8, False, beta=5.0)
torch.kaiser_window(8, True, 5.0, dtype=torch.float64)
torch.hann_window(1)
torch.hann_window(0)
torch.hann_window(4, dtype=torch.int64)
torch.stft(torch.arange(32.), 8, window=torch.hann_window(8), return_complex=True)
torch.stft(torch.arange(32.), 8, 4, 8, torch.hann_window(8), False, return_complex=False)
torch.stft(torch.arange(32.), 8)
torch.istft(torch.stft(torch.arange(32.), 8, window=torch.ones(8), return_complex=True), 8, window=torch.ones(8))
"""


@each("code", rows(MATHS + WINDOWS))
def test_the_same_as_genuine(code):
    same(code)


def test_a_gamma_function_of_many_dimensions_is_summed_in_parts(monkeypatch):
    """So that any number of them fits into memory, and a signal ends it."""
    special = pytest.importorskip("scipy.special")
    x = torch.tensor([9e3, 1e4], dtype=torch.float64, requires_grad=True)
    whole = torch.mvlgamma(x, 3000)
    monkeypatch.setattr(pointwise, "MOST_TERMS", 512)
    parts = torch.mvlgamma(x, 3000)
    wanted = torch.tensor(special.multigammaln(x.detach().numpy(), 3000))
    torch.testing.assert_close(whole.detach(), wanted)
    torch.testing.assert_close(parts.detach(), wanted)
    torch.testing.assert_close(torch.autograd.grad(parts.sum(), x), torch.autograd.grad(whole.sum(), x))
