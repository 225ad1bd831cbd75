"""Functions that always copy in PyTorch give memory of their own, even where no element moves."""
import pytest

from dragon.vm import torch

COPIES = {
    "pixel_shuffle": (lambda x: torch.nn.functional.pixel_shuffle(x, 1), (1, 2, 3, 4)),
    "pixel_shuffle of points": (lambda x: torch.nn.functional.pixel_shuffle(x, 2), (1, 4, 1, 1)),
    "pixel_unshuffle": (lambda x: torch.nn.functional.pixel_unshuffle(x, 1), (1, 2, 3, 4)),
    "channel_shuffle": (lambda x: torch.nn.functional.channel_shuffle(x, 1), (1, 2, 3, 4)),
    "channel_shuffle of every channel": (lambda x: torch.nn.functional.channel_shuffle(x, 4), (1, 4, 2, 2)),
}


@pytest.mark.parametrize("name", COPIES)
def test_writing_the_result_leaves_the_input(name):
    function, shape = COPIES[name]
    x = torch.ones(shape)
    function(x).zero_()
    assert x.eq(1).all()
    compiled = torch.compile(function)
    compiled(x).zero_()
    assert x.eq(1).all()
