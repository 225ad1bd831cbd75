"""Projections of pictures that lie anyhow in memory, in slices, and twice back."""
import numpy as np

from dragon.vm import torch
from dragon.vm.torch.core.tensor import ops
from harness.subresults import each

TURNS = [[0.91, 0.13, -1.17, -0.11, 0.87, 0.71, 0.013, -0.017], [-1.07, 0.31, 7.13, 0.27, 1.23, -9.71, 0, 0]]
PICTURES = torch.randn(4, 3, 6, 8)


def project(x, turns=TURNS, mode="bilinear", outside="reflect"):
    """Return pictures moved by rows of eight numbers."""
    return ops.project_images(x, torch.as_tensor(turns), [5, 7], mode, outside, 0.5)


@each("lies", [
    lambda x: x[::2, :, ::2, 1:], lambda x: x[:2].to(memory_format=torch.channels_last),
    lambda x: x[:2].transpose(2, 3), lambda x: x[:1].expand(2, -1, -1, -1), lambda x: x[:2, :1].expand(-1, 3, -1, -1),
    lambda x: x[0, 0].as_strided((2, 3, 4, 4), (1, 2, 8, 1))])
@each("mode", ["bilinear", "nearest"])
def test_pictures_that_lie_anyhow(lies, mode):
    x = lies(PICTURES)
    assert np.array_equal(project(x, mode=mode).numpy(), project(x.contiguous(), mode=mode).numpy())


def test_every_picture_has_its_own_transform():
    alone = [project(PICTURES[place:place + 1], [turn]) for place, turn in enumerate(TURNS)]
    assert torch.equal(project(PICTURES[:2]), torch.cat(alone))


def test_slices_are_computed_as_if_alone():
    x, turns = torch.randn(3, 2, 3, 6, 8), torch.tensor([TURNS, TURNS[::-1], TURNS])
    made = torch.func.vmap(project)(x, turns)
    assert torch.equal(made, torch.stack([project(one, turn) for one, turn in zip(x, turns)]))
    made = torch.func.vmap(project, (0, None))(x, turns[0, :1])
    assert torch.equal(made, torch.stack([project(one, turns[0, :1]) for one in x]))


def test_gradients_of_gradients_go_forth_again():
    x, turns = PICTURES[:2].clone().requires_grad_(), torch.as_tensor(TURNS)
    slope = torch.randn(2, 3, 5, 7, requires_grad=True)
    back, = torch.autograd.grad(project(x, turns), x, slope, create_graph=True)
    assert back.shape == x.shape
    forth, = torch.autograd.grad(back.sum(), slope)
    assert forth.shape == slope.shape and bool(forth.isfinite().all())


def test_shapes_without_numbers():
    made = ops.project_images(torch.empty(2, 3, 6, 8, device="meta"), torch.empty(1, 8, device="meta"), [5, 7])
    assert made.shape == (2, 3, 5, 7) and made.dtype is torch.float32 and made.is_meta
