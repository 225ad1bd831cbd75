"""Captures that end early, with an error that is not the engine's."""
import pytest

from dragon.core.capture.function import function
from dragon.vm import torch


def test_an_interrupted_gradient_leaves_the_door_as_it_was():
    """A gradient is tried on shapes alone; who leaves that early, with Ctrl-C, must find numbers again."""
    class Impatient(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise KeyboardInterrupt

    captured = function(lambda x: Impatient.apply(x).sin())
    with pytest.raises(KeyboardInterrupt):
        captured(torch.ones(3, requires_grad=True)).sum().backward()
    assert torch.zeros(3).fill_(5).tolist() == [5, 5, 5]
    torch.manual_seed(0)
    first = torch.rand(3)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(3), first) and first.std() > 0
