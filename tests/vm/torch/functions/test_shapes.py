"""Views, splits and joins give what genuine PyTorch gives, line by line."""
import pytest
from harness.subresults import each
from harness.twin import on_genuine, rows, same

from dragon.vm import torch as dt

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


@each("code", rows(SHAPE))
def test_the_same_as_genuine(code):
    same(code)


@pytest.mark.parametrize("axis", [0, -1, (0,)])
def test_a_number_has_no_axis_to_roll_along(axis):
    def check(t, axis):
        with pytest.raises(IndexError):
            t.roll(t.tensor(1.0), 1, axis)
        assert t.roll(t.tensor(1.0), 1).item() == 1 and t.roll(t.zeros(0), 1, 0).shape == (0,)
    check(dt, axis)
    on_genuine(check, axis)
