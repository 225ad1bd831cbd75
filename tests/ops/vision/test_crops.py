"""Gradients of boxes read from images, by pixels as by corners, twice."""
import functools

import numpy as np
import pytest

from dragon.vm import torch
from dragon.vm.torch.core.tensor import ops

BOXES = [[0.11, 0.07, 0.83, 0.91], [0.71, 0.83, 0.13, 0.29], [-0.17, 0.31, 0.57, 1.23], [0.41, 0.43, 0.46, 0.44]]


@pytest.mark.parametrize("size", [(4, 3), (1, 2), (1, 1)])
def test_gradients(size):
    """Places come in single precision, so steps are large; between pixels, readings change evenly."""
    x = torch.randn(3, 5, 7, 2, dtype=torch.float64, requires_grad=True)
    boxes = torch.tensor(BOXES, dtype=torch.float64, requires_grad=True)
    which = torch.tensor([0, 2, 2, 1])
    call = functools.partial(ops.crop_boxes, which=which, size=list(size), mode="bilinear", outside=0.5)
    check = functools.partial(torch.autograd.gradcheck, eps=1e-3, atol=1e-2)
    assert check(lambda x, boxes: call(x, boxes), [x, boxes])
    again = functools.partial(torch.autograd.gradgradcheck, eps=1e-3, atol=1e-2)
    assert again(lambda x, boxes: call(x, boxes), [x, boxes])


def test_places_on_pixels_have_no_slope():
    x = torch.arange(12.0).reshape(1, 3, 4, 1)
    boxes = torch.tensor([[0.0, 0.0, 1.0, 1.0]], requires_grad=True)
    made = ops.crop_boxes(x, boxes, torch.tensor([0]), [3, 4])
    assert np.array_equal(made.detach().numpy(), x.numpy())
    made.sum().backward()
    assert not boxes.grad.any()


def test_images_that_there_are_not_are_refused():
    with pytest.raises(IndexError, match="image -1, expected 0 to 0"):
        ops.crop_boxes(torch.zeros(1, 3, 3, 1), torch.zeros(1, 4), torch.tensor([-1]), [2, 2])
