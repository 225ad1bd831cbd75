"""Former orders of arguments, destinations, lists of tensors and questions are answered as by genuine PyTorch."""
import pytest

from dragon.vm import torch as dragon_torch
from harness.subresults import each
from harness.twin import rows, same

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


@each("code", rows(QUESTIONS + FOREACH + DESTINATIONS + FORMER))
def test_the_same_as_genuine(code):
    same(code)


def test_control_flow_is_pythons():
    x = dragon_torch.ones(2)
    assert dragon_torch.cond(x.sum() > 1, lambda a: a + 1, lambda a: a, (x,)).tolist() == [2, 2]
    assert dragon_torch.while_loop(lambda a: a.sum() < 10, lambda a: (a + 1,), (x,))[0].tolist() == [5, 5]


REMOVED_AND_PRIVATE = """
torch.solve(m, m)
m.symeig()
m.eig()
torch.lstsq(m, m)
torch.matrix_rank(m)
torch._softmax_backward_data(x, y.softmax(1), 1, torch.float32)
torch._log_softmax_backward_data(x, y.log_softmax(1), 1, torch.float32)
torch._safe_softmax(torch.full((2, 2), -inf), 1)
f = torch.zeros(1); torch._amp_foreach_non_finite_check_and_unscale_([x, n], f, torch.tensor(0.5)); (f, x)
a = torch.tensor([4.]); t = torch.tensor([1], dtype=torch.int32); (torch._amp_update_scale_(a, t, s * 0, 2., 0.5, 2), t)
a = torch.tensor([4.]); t = torch.tensor([1], dtype=torch.int32); (torch._amp_update_scale_(a, t, s, 2., 0.5, 2), t)
"""


@each("code", rows(REMOVED_AND_PRIVATE))
def test_removed_and_private_functions(code):
    same(code)


DETACHED = """
x.requires_grad_(); a = x * 2; a.detach_(); (a.requires_grad, a.is_leaf, a.grad_fn)
x.requires_grad_(); a = x * 2; c = a * 3; a.detach_(); c.sum().backward(); x.grad
x.requires_grad_(); x.detach_(); (x.requires_grad, x.is_leaf)
x.requires_grad_(); a = (x * 2)[0]; a.detach_()
x.requires_grad_(); a = x * 2; torch.detach_(a) is a
"""


@pytest.mark.parametrize("code", rows(DETACHED))
def test_tensors_are_cut_off_from_their_history(code):
    same(code)
