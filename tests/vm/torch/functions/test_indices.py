"""Reading and writing by index gives what genuine PyTorch gives, line by line."""

from harness.subresults import each
from harness.twin import rows, same

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


@each("code", rows(INDEX))
def test_the_same_as_genuine(code):
    same(code)
