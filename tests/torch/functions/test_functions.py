"""Functions and methods of torch give what genuine PyTorch gives, line by line."""
import pytest

from dragon.vm import torch as dragon_torch
from harness.twin import rows, same, same_gradients

REDUCTION = """
torch.max(x)
torch.max(x, 1)
torch.max(x, dim=-1, keepdim=True)
torch.max(x, y)
torch.max(x, other=y)
x.max(0).indices
x.max(axis=1, keepdims=True)[0]
x.min(1)
torch.min(i)
torch.max(x, 0, out=(torch.empty(4), torch.empty(4, dtype=torch.int64)))
torch.max(x, 5)
torch.max(e)
torch.median(x)
x.median(1)
n.nanmedian()
n.nanmedian(1).values
torch.std(x)
x.std(0)
x.std(unbiased=False)
x.var(False)
torch.var(x, [0, 1], True, True)
torch.var(x, 0, correction=0)
torch.var(x, dim=1, unbiased=False, keepdim=True)
torch.var(x, 0, 0)
torch.var_mean(x, 1)
torch.std_mean(x, 0, unbiased=False)
torch.std(z, 1)
torch.norm(x)
x.norm(1)
x.norm(p=2, dim=1)
x.norm(inf, 0, True)
torch.norm(x, 'fro', dim=(0, 1))
torch.norm(m, 'nuc')
torch.norm(i.float(), 0)
torch.norm(x, dtype=torch.float64)
torch.norm(i)
torch.dist(x, y, 1)
x.dist(y)
torch.unique(i)
i.unique(return_inverse=True)
torch.unique(i, return_counts=True)
torch.unique(i, return_inverse=True, return_counts=True, dim=0)
torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1]), return_counts=True)
torch.histogram(x, 4)
torch.histogram(x, 4, range=(-1., 1.), density=True)
torch.histogram(x, torch.tensor([-1., 0., 1.]))
torch.histogramdd(x[:, :2], [2, 3])
torch.histogramdd(x[:, :2], 3, density=True)
torch.quantile(x, 0.25)
torch.quantile(x, torch.tensor([0.1, 0.9]), dim=1)
n.nanquantile(0.5, dim=1, keepdim=True)
x.quantile(0.3, 0, interpolation='nearest')
torch.amax(x, (0, 1))
x.aminmax(dim=1)
torch.all(q, dim=1)
x.any()
x.sum((0, 1), True)
x.sum(dim=())
i.sum(dtype=torch.float32)
q.sum(1)
x.mean((0, 1))
i.mean()
x.prod(1)
i.prod()
n.nansum(1)
n.nanmean(0)
torch.logsumexp(x, 1)
x.logsumexp((0, 1))
x.argmax()
x.argmin(1, True)
torch.count_nonzero(i, 1)
torch.cumsum(i, 1)
q.cumsum(0)
x.cummax(1)
x.topk(2)
x.topk(2, 0, largest=False)
x.sort(descending=True)
x.kthvalue(2)
i.mode(0)
torch.mean(e)
torch.sum(e, 0)
x.equal(x.clone())
torch.equal(x, i)
torch.equal(x, 2)
torch.allclose(x, x + 1e-9)
torch.allclose(n, n, equal_nan=True)
torch.cov(x)
torch.cov(x, correction=0, aweights=p[0])
torch.cov(x, fweights=torch.tensor([1, 2, 1, 3]))
torch.corrcoef(x)
v.cov()
"""

SHAPE = """
torch.split(x, 2)
x.split(3, dim=1)
x.split([1, 3], 1)
x.split(split_size=1)
torch.split(x, split_size_or_sections=[1, 2])
torch.split(x, [1, 1])
torch.tensor_split(w, 2)
torch.tensor_split(w, (1, 3))
torch.tensor_split(w, torch.tensor([1, 3]))
torch.tensor_split(x, sections=2, dim=1)
x.hsplit(2)
x.vsplit([1, 2])
b.dsplit(2)
torch.hsplit(x, 3)
x.chunk(2, dim=1)
torch.chunk(w, 3)
x.T
b.mT
z.mH
z.H
v.mT
b.H
torch.atleast_1d(s)
torch.atleast_2d(v, s)
torch.atleast_3d([v, x])
torch.broadcast_tensors(v, x, s)
torch.broadcast_shapes((2, 1), 3, (1,))
torch.broadcast_shapes((2,), (3,))
torch.meshgrid(v, w, indexing='xy')
torch.meshgrid([v, w], indexing='ij')
torch.block_diag(x, v, s)
torch.cartesian_prod(v, w)
torch.cartesian_prod(v)
torch.combinations(v, 3)
torch.combinations(v, with_replacement=True)
x.sum_to_size(1, 4)
b.sum_to_size(3, 1)
x.sum_to_size((2, 4))
x.unsqueeze_(0)
x.t_()
x.transpose_(0, 1)
b.squeeze_()
torch.ones(1, 3).squeeze_(0)
x.swapaxes_(0, 1)
x.as_strided_((2, 2), (1, 2))
x.resize_(2, 2)
torch.arange(4).resize_(6)[:4]
x.resize_as_(d).shape
x.set_(y)
x.set_(y, 1, (2, 2), (1, 2))
torch.diagonal_copy(m)
torch.unbind_copy(x)
torch.narrow_copy(x, 0, 1, 2)
x.narrow_copy(1, 0, 2)
torch.narrow(x, 0, torch.tensor(1), 2)
torch.transpose_copy(x, 0, 1)
torch.view_copy(x, (2, 6))
torch.view_copy(x, dtype=torch.int32)
torch.split_with_sizes_copy(x, (1, 2))
torch.expand_copy(v, (2, 4))
torch.slice_copy(x, 1, 1, 3)
torch.detach_copy(x)
torch.unsafe_chunk(x, 2)
torch.unsafe_split(x, 2)
x.unsafe_split_with_sizes([1, 2])
torch._chunk_cat([x, y], 0, 2)
x.view(2, 6)
x.view(-1)
x.view(5)
x.reshape(2, -1, 2)
x.permute(1, 0)
x.permute((1, 0))
x.expand(2, -1, -1)
x.repeat(2, 1)
x.tile((2,))
x.flatten()
b.flatten(1)
b.unflatten(2, (2, 2))
x.unfold(1, 2, 1)
torch.flip(x, [0, 1])
x.flip(0)
x.roll(1, 0)
torch.rot90(x)
b.movedim(0, -1)
torch.cat([x, i], 0)
torch.cat((x, y), dim=-1)
torch.cat([])
torch.stack([x, y], dim=-1)
torch.vstack([v, v])
torch.hstack((x, y))
torch.column_stack([v, v])
torch.dstack([x, y])
torch.squeeze(x, (0, 1))
x.ravel()
x.diag_embed()
x.diagonal(1)
m.trace()
x.tril()
x.triu_(1)
list(x)
[r.sum() for r in b]
list(s)
len(x)
2 in i
100 in i
reversed(v)
x.resize(4, 3)
x.is_set_to(x)
x.dim_order()
b.permute(0, 2, 1).dim_order()
"""

INDEX = """
torch.where(x > 0, x, y)
torch.where(x > 0, x, 0)
torch.where(x > 0, 1.0, 0.0)
torch.where(q, i, x)
torch.where(q)
torch.where(q, x)
x.where(x > 0, 5)
torch.nonzero(q)
q.nonzero(as_tuple=True)
torch.nonzero_static(q, size=3)
torch.nonzero_static(q, size=20, fill_value=7)
x.scatter(0, torch.tensor([[0, 1, 2, 0]]), y)
x.scatter(1, torch.tensor([[0], [1], [2]]), 3.0)
x.scatter(1, torch.tensor([[0], [1], [2]]), value=3)
x.scatter_(0, torch.tensor([[0, 1, 2, 0]]), y, reduce='add')
torch.scatter(x, 0, torch.tensor([[0]]), src=y)
x.scatter_add(0, torch.tensor([[0, 1, 2, 0]]), y)
x.scatter_reduce(0, torch.tensor([[0, 1, 2, 0]]), y, 'amax', include_self=False)
x.gather(1, torch.tensor([[0, 1], [2, 3], [0, 0]]))
torch.select_scatter(x, v, 0, 1)
torch.slice_scatter(x, y[:2], 0, 1)
x.slice_scatter(y[:, ::2], 1, step=2)
m.diagonal_scatter(v)
torch.diagonal_scatter(m, v, 1)
torch.as_strided_scatter(m, v, (4,), (5,))
m.fill_diagonal_(3)
torch.zeros(7, 3).fill_diagonal_(1, wrap=True)
b.fill_diagonal_(3)
x.fill_(2)
x.fill_(torch.tensor(2))
x.fill_(v)
torch.fill(x, 3)
torch.fill_(x, 3)
x.zero_()
torch.zero_(x)
x.copy_(v)
x.copy_(i)
x[0].copy_(y[1])
torch.unravel_index(torch.tensor([1, 7, 11]), (3, 4))
torch.unravel_index(torch.tensor(5), 6)
torch.unravel_index(x, (3, 4))
torch.take_along_dim(x, torch.tensor([[0], [1], [2]]), 1)
x.take_along_dim(torch.tensor([3, 1]))
torch.take(x, torch.tensor([0, 5]))
torch.searchsorted(torch.tensor([1., 3., 5.]), 3.)
torch.searchsorted(torch.tensor([1., 3., 5.]), p, right=True)
torch.searchsorted(torch.tensor([1., 3., 5.]), p, side='right', out_int32=True)
torch.bucketize(x, torch.tensor([-1., 0., 1.]))
torch.bucketize(3, torch.tensor([1, 3, 5]), right=True)
x.index_put((torch.tensor([0, 1]),), torch.tensor(9.))
x.index_put_((torch.tensor([0, 0]), torch.tensor([1, 1])), torch.tensor([1., 2.]), accumulate=True)
torch.index_put_(x, [q], torch.tensor(0.))
x.index_add(0, j, y)
x.index_add_(0, j, y, alpha=2)
x.index_copy(0, j, y)
x.index_fill(1, j, 7)
x.index_select(1, j)
x.masked_fill(q, 0)
x.masked_fill_(q, torch.tensor(2.))
x.masked_fill(q, v)
x.masked_select(q)
x.masked_scatter(q, y)
torch.isin(i, torch.tensor([1, 2]))
torch.isin(i, 2)
torch.segment_reduce(v, 'max', lengths=torch.tensor([1, 3]))
torch.segment_reduce(x, 'mean', lengths=torch.tensor([1, 0, 2]), axis=0)
x[q]
x[j, 0]
x[..., None].shape
x[[0, 1], [1, 2]]
x[torch.tensor(1)]
x[5]
x[1:, ::2]
"""

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

QUESTIONS = """
x.is_cuda
x.is_cpu
x.is_meta
x.is_sparse
x.is_quantized
x.is_mps
x.layout
x.is_pinned()
x.is_shared()
x.is_inference()
x.to_dense() is x
x.values()
x.coalesce()
x.q_scale()
x.itemsize
x.nbytes
x.name
x.output_nr
x.grad_dtype
x[0]._is_view()
x._base is None
x.is_distributed()
torch.is_nonzero(s)
x.sparse_dim()
x.dense_dim()
torch.sym_max(2, 3.0)
torch.sym_int(2.7)
torch.sym_not(True)
torch.sym_ite(True, 1, 2)
torch.sym_sum([1, 2])
torch._check(True)
torch._check(False)
torch._check_index(False)
torch._check(1)
torch._assert(True, 'a')
torch._assert_async(torch.tensor(0))
torch._check_tensor_all(q | True)
isinstance(3, torch.SymInt)
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision('low')
torch.are_deterministic_algorithms_enabled()
torch.get_deterministic_debug_mode()
torch.is_deterministic_algorithms_warn_only_enabled()
torch.use_deterministic_algorithms(False)
torch.set_num_threads(0)
"""

FOREACH = """
torch._foreach_add([x, v], 1)
torch._foreach_add([x, v], [x, v], alpha=2)
torch._foreach_add([x, v], [1, 2])
torch._foreach_add_([x, v], 1); x
torch._foreach_mul([x, v], 2)
torch._foreach_mul_([x, v], [x, v]); v
torch._foreach_div([x, v], s)
torch._foreach_sub([x], [y])
torch._foreach_sqrt([p])
torch._foreach_neg_([x]); x
torch._foreach_addcdiv_([x], [y], [p], value=2); x
torch._foreach_addcmul([x, y], [y, x], [p, p], [1.0, 2.0])
torch._foreach_lerp_([x], [y], 0.5); x
torch._foreach_lerp([x], [y], [p])
torch._foreach_norm([x, v])
torch._foreach_norm([x], 1)
torch._foreach_maximum([x], 0.5)
torch._foreach_maximum_([x], [y]); x
torch._foreach_pow([p], 2)
torch._foreach_pow(2.0, [p])
torch._foreach_reciprocal_([p]); p
torch._foreach_zero_([x]); x
torch._foreach_copy_([x], [y]); x
torch._foreach_clamp_min([x], 0.0)
torch._foreach_abs([x])
torch._foreach_exp([x])
"""

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


@pytest.mark.parametrize("code", rows(REDUCTION + SHAPE + INDEX + MATHS + WINDOWS + QUESTIONS + FOREACH))
def test_the_same_as_genuine(code):
    same(code)


@pytest.mark.parametrize("line", rows(GRADIENTS))
def test_the_same_gradients_as_genuine(line):
    code, names = line.split(" | ")
    same_gradients(code, *names.split())


DESTINATIONS = """
torch.add(x, y, out=torch.empty(0))
o = torch.zeros(3, 4, dtype=torch.float64); torch.add(x, y, out=o); o
torch.add(x, y, out=torch.zeros(3, 4, dtype=torch.int64))
torch.sum(x, 1, out=torch.empty(0))
torch.mvlgamma(p + 2, 2, out=torch.empty(0))
i.abs().add(3).polygamma_(1)
torch.diff(x, out=torch.empty(0))
torch.slice_scatter(x, y[:2], 0, 1, out=torch.empty(0))
torch.nonzero_static(q, size=3, out=torch.empty(0, dtype=torch.int64))
torch.median(x, out=torch.empty(()))
torch.median(x, 1, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))
o = torch.empty(0); torch.where(x > 0, x, y, out=o) is o
o = torch.empty(0); torch.max(x, y, out=o); o
o = torch.empty(0); torch.norm(x, dim=1, out=o); o
o = torch.empty(0); torch.tensordot(x, y, 2, out=o); o
o = torch.empty(0); torch.cat([x, y], out=o); o
o = torch.empty(0); torch.var(x, 1, out=o); o
o = torch.empty(0); torch.clamp_min(x, 0, out=o); o
o = torch.empty(0); torch.permute_copy(x, (1, 0), out=o); o
o = tuple(torch.empty(0) for _ in range(3)); torch.unbind_copy(x, out=o); o
o = torch.empty(0, dtype=torch.bool); torch.eq(x, y, out=o); o
o = torch.empty(0); torch.matmul(x, m, out=o); o
o = (torch.empty(0), torch.empty(0, dtype=torch.int64)); torch.sort(x, out=o); o
"""


@pytest.mark.parametrize("code", rows(DESTINATIONS))
def test_results_go_where_out_says(code):
    same(code)


FORMER = """
x.add_(0.5, y)
torch.add(x, 2, y)
x.sub(2, y)
x.addcmul_(0.5, x, y)
x.addcdiv(2, y, p)
torch.eye(4).addmm_(1, -2, m, m.t())
torch.addmm(2, m, 3, m, m)
torch.addmm(2, m, m, m)
x.add(y, y)
x.addcmul(y)
torch.softmax(x, 0, torch.float64)
x.log_softmax(1, torch.float64)
torch.gather(x, 1, torch.zeros(3, 1, dtype=torch.int64), sparse_grad=False)
"""


@pytest.mark.parametrize("code", rows(FORMER))
def test_former_orders_of_arguments(code):
    same(code)


def test_control_flow_is_pythons():
    x = dragon_torch.ones(2)
    assert dragon_torch.cond(x.sum() > 1, lambda a: a + 1, lambda a: a, (x,)).tolist() == [2, 2]
    assert dragon_torch.while_loop(lambda a: a.sum() < 10, lambda a: (a + 1,), (x,))[0].tolist() == [5, 5]
