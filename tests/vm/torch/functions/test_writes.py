"""Writes into destinations, through views, subscripts and in-place twins reach what genuine PyTorch's reach."""
import pytest

from dragon.vm import torch as dt
from harness.subresults import each
from harness.twin import on_genuine, rows, same

DESTINATIONS = """
torch.add(x, 1, out=x); x
torch.mul(x, y, out=x); x
torch.exp(x, out=x); x
torch.clamp(x, 0, 1, out=x); x
torch.mm(m, m, out=m.clone())
o = m.clone(); torch.mm(m, m, out=o); o
torch.cumsum(x, 1, out=x); x
torch.cat([x, y], out=torch.empty(6, 4))
o = torch.zeros(6, 4)[::2]; torch.add(x, y, out=o); o
o = torch.zeros(4, 3).T; torch.add(x, y, out=o); o
o = torch.zeros(3, 8)[:, ::2]; torch.matmul(x, m, out=o); o
o = torch.zeros(3, 8)[:, ::2]; torch.sum(b, 0, out=o); o
o = torch.zeros(3, 8)[:, ::2]; torch.index_select(x, 0, j, out=o); o
torch.sigmoid(i, out=torch.empty(0))
torch.argmax(x, 1, out=torch.empty(0, dtype=torch.int64))
torch.arange(5, out=torch.empty(0, dtype=torch.int64))
torch.zeros(2, 2, out=torch.ones(0))
torch.ones(3, out=torch.empty(3, dtype=torch.int32))
torch.full((2, 2), 3., out=torch.empty(0))
torch.linspace(0, 1, 3, out=torch.empty(0))
torch.eye(2, out=torch.empty(0))
torch.stack([x, y], out=torch.empty(0))
torch.gather(x, 1, i.abs() % 4, out=torch.empty(0))
torch.linalg.norm(x, out=torch.empty(()))
torch.svd(m, out=(torch.empty(0), torch.empty(0), torch.empty(0)))[1]
torch.topk(x, 2, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))
torch.randperm(4, out=torch.empty(0, dtype=torch.int64)).sort()[0]
torch.nonzero(q, out=torch.empty(0, dtype=torch.int64))
torch.masked_select(x, q, out=torch.empty(0))
torch.take(x, torch.tensor([0]), out=torch.empty(0))
torch.div(i, 2, out=torch.empty(0))
torch.div(i, 2, out=torch.empty(0, dtype=torch.int64))
torch.logical_and(x, y, out=torch.empty(0))
torch.searchsorted(v.sort()[0], x, out=torch.empty(0, dtype=torch.int64))
torch.bmm(b, b.mT, out=torch.empty(0))
torch.baddbmm(torch.zeros(2, 3, 3), b, b.mT, out=torch.empty(0))
torch.addmm(torch.zeros(3, 4), x, m, out=torch.empty(0))
torch.dot(v, v, out=torch.empty(()))
torch.outer(v, w, out=torch.empty(0))
torch.inverse(m, out=torch.empty(0))
torch.where(q, x, y, out=torch.empty(0))
x.requires_grad_(); torch.add(y, 1, out=x)
"""

VIEWS_AND_TWINS = """
a = x[0]; a.add_(1); x
a = x.view(-1); a[0] = 7; x
a = x.T; a.mul_(2); x
a = x[:, 1]; a.zero_(); x
a = x[1:, 1:]; a[:] = 5; x
a = x.unsqueeze(0); a += 1; x
a = x.expand(2, 3, 4); a.add_(1)
a = x.flatten(); a[0] = 3; x
a = x.reshape(4, 3); a[0] = 3; x
a = x.T.reshape(12); a[0] = 99; x
a = x.chunk(2)[0]; a.fill_(2); x
a, c = x.split([1, 2]); c.neg_(); x
a = x.diagonal(); a.fill_(0); x
a = x.unbind(1)[0]; a.exp_(); x
a = x.narrow(1, 0, 2); a.sqrt_(); x
a = x.select(0, 1); a.copy_(v); x
a = x.detach(); a.fill_(1); x
a = x.data; a[0, 0] = 5; x
a = x.clone(); a.fill_(1); x
a = x.contiguous(); a.fill_(1); x
a = x.to(torch.float32); a.fill_(1); x
a = x.float(); a[0] = 0; x
a = x.double(); a[0] = 0; x
a = x.squeeze(); a[0] = 0; x
a = x.movedim(0, 1); a[0] = 0; x
a = x.unfold(1, 2, 1); a[0, 0] = 9; x
a = x.view(torch.int32); a.fill_(0); x
a = x.as_strided((2, 2), (1, 4)); a.fill_(8); x
a = z.real; a.fill_(1); z
z.imag = x; z
z.real = 2; z
z.real[0] = 5; z
a = torch.view_as_real(z); a[..., 1] = 0; z
x._version
x.add_(1)._version
a = x[0]; a.add_(1); x._version
x += x.T.T; x
x[0] += x[1]; x
x[:, 0] *= 2; x
x[q] += 1; x
x[j] *= 2; x
x[torch.tensor([0, 0])] += 1; x
x[0, 0] = torch.tensor(5, dtype=torch.int64); x
i[0] = 2.7; i
i[0] = torch.tensor(2.7); i
q[0] = 3; q
x[0] = v.double(); x
x[:2] = y[:1]; x
x[:2] = y
x[5] = 1
x[None, 0] = 4; x
x[..., -1] = 0; x
x.t()[0] = 1; x
x[[True, False, True]] = 0; x
x[torch.tensor([True, False, True]), 1] = 0; x
x[:, [0, 2]] = 0; x
x[[0, 1], [0, 1]] = torch.tensor([8., 9.]); x
x.index_fill_(0, j[:1], torch.tensor(3.)); x
x.masked_scatter_(q, y); x
x.clamp_(min=0).sub_(1).div_(2).pow_(2)
x.mul_(i)
i.mul_(x)
i.true_divide_(2)
i.div_(2, rounding_mode='floor')
q.logical_xor_(q)
q |= q; q
q.add_(1)
x.cumsum_(0)
x.t_().t_()
x.swapdims_(0, 1)
x.sort()[0].is_contiguous()
torch.zeros(2, 3, 3).baddbmm_(b, b.mT)
x.addr_(torch.ones(3), v)
torch.zeros(3).addmv_(x, v)
x.lerp_(y, 0.5)
x.addcdiv_(y, p)
x.copysign_(-1)
x.atan2_(y)
x.fmod_(2)
x.remainder_(2)
i.gcd_(i + 1)
x.hypot_(y)
x.nextafter_(y)
x.logit_(0.1)
x.xlogy_(p)
x.renorm_(2, 0, 1.)
x.scatter_add_(0, torch.zeros(3, 4, dtype=torch.int64), y)
x.scatter_reduce_(0, torch.zeros(3, 4, dtype=torch.int64), y, 'prod')
x.index_copy_(0, j, y)
x.index_reduce_(0, j, y, 'amin')
x.put_(torch.tensor([1]), torch.tensor([2.]), accumulate=True)
x.tril_(-1)
x.geometric_(0.5).shape
x.resize_(0).shape
x.squeeze_(0).shape
x.rsqrt_()
x.i0_()
x.erfinv_()
x.lgamma_()
x.ldexp_(i)
x.heaviside_(y)
p.igamma_(p)
x.deg2rad_()
x.exp2_()
i.bitwise_not_()
i.bitwise_left_shift_(1)
i.lcm_(i)
x.arccos_()
x.absolute_()
x.negative_()
x.multiply_(2)
x.subtract_(1)
x.divide_(2)
x.greater_(0)
x.less_equal_(y)
x.not_equal_(y)
x.fix_()
x.clip_(0, 1)
x.arctan2_(y)
x.sgn_()
"""


@each("code", rows(DESTINATIONS + VIEWS_AND_TWINS))
def test_the_same_as_genuine(code):
    same(code)


PARTLY = """
v[1:].add_(v[:-1])
torch.mul(v[:-1], 2, out=v[1:])
torch.add(m, m.t(), out=m)
m.add_(m.t())
torch.cumsum(v[:-1], 0, out=v[1:])
v[1:].lerp_(v[:-1], .5)
torch.cat([m, m], out=m)
torch.gather(m, 0, torch.zeros(4, 4, dtype=torch.int64), out=m)
m.scatter_(0, torch.zeros(4, 4, dtype=torch.int64), m)
m.index_add_(0, torch.tensor([0, 1]), m[:2])
torch.sort(v[:-1], out=(v[1:], torch.zeros(len(v) - 1, dtype=torch.int64)))
torch.where(m > 0, m, m, out=m[1:])
"""


@each("call", [line for line in PARTLY.splitlines() if line])
def test_what_is_read_while_it_is_written_is_refused(call):
    def check(side, call):
        names = {"torch": side, "v": side.arange(6.0), "m": side.ones(4, 4)}
        with pytest.raises(RuntimeError, match="refer to a single memory location. Please clone"):
            exec(call, names)
        assert names["v"].tolist() == [0, 1, 2, 3, 4, 5]
    check(dt, call)
    on_genuine(check, call)


def test_memory_apart_in_one_storage_is_written():
    from dragon.vm import torch
    x = torch.arange(8.0)
    torch.add(x[:4], 1, out=x[4:])
    x[:4].mul_(x[:4].view(4))
    assert x.tolist() == [0, 1, 4, 9, 1, 2, 3, 4]


def test_one_number_into_places_that_an_axis_repeats():
    """As in genuine PyTorch: a number is written once, a tensor is refused."""
    def check(T):
        base = T.zeros(2, 1)
        spread = base.expand(2, 3)
        assert spread.fill_(2) is spread and base.tolist() == [[2.0], [2.0]] and base._version == 1
        assert T.zero_(spread) is spread and spread.tolist() == [[0.0] * 3] * 2
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single"):
            spread.fill_(T.tensor(4.0))
    check(dt)
    on_genuine(check)
