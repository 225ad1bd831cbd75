"""Windows, paddings and images of absurd sizes: they end at once, in a result or in an error, never in a signal."""
import itertools

import numpy as np
import pytest
import torch

import dragon
from dragon.vm import torch as dragon_torch
from harness.subresults import each

HUGE = 2 ** 31 - 1
POOLS = [("max_pool1d", (1, 2, 6), {"stride": 1, "ceil_mode": True}), ("max_pool1d", (1, 20, 6), {}),
         ("max_pool2d", (1, 2, 6, 5), {"stride": 4, "ceil_mode": True}), ("max_pool2d", (1, 2, 6, 5), {}),
         ("avg_pool1d", (1, 2, 6), {"count_include_pad": False, "ceil_mode": True}),
         ("avg_pool2d", (1, 2, 6, 5), {"stride": 2 ** 30, "count_include_pad": False})]


@pytest.mark.parametrize("name, shape, arguments", POOLS, ids=range(len(POOLS)))
def test_windows_that_see_the_whole_picture(name, shape, arguments):
    x = dragon_torch.tensor(np.random.default_rng(0).standard_normal(shape), requires_grad=True)
    y = getattr(dragon_torch.nn.functional, name)(x, HUGE, padding=HUGE // 2, **arguments)
    whole = (x.amax if "max" in name else x.mean)(tuple(range(2, x.ndim)), True)
    np.testing.assert_allclose(y.detach().numpy(), whole.detach().expand(y.shape).numpy(), 1e-12)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.sum().item(), y.numel(), 1e-12)


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
@pytest.mark.parametrize("stride", [1, 2, 5])
def test_windows_wider_than_the_picture(name, stride):
    numbers, made = np.random.default_rng(0).standard_normal((1, 2, 3, 6)), []
    for t in (torch, dragon_torch):
        x = t.tensor(numbers, requires_grad=True)
        y = getattr(t.nn.functional, name)(x, (1, 9), stride, (0, 4))
        y.sum().backward()
        made.append((y.detach().numpy(), x.grad.numpy()))
    for genuine, mine in zip(*made):
        np.testing.assert_allclose(mine, genuine, 1e-9, 1e-12)


@pytest.mark.parametrize("size", [2 ** 31, 2 ** 32, 2 ** 61])
@pytest.mark.parametrize("batch", [0, 1])
def test_columns(size, batch):
    functional = dragon_torch.nn.functional
    for call in (lambda: functional.fold(dragon_torch.ones(batch, 8, 1), (4, 4), size, padding=size),
                 lambda: functional.unfold(dragon_torch.ones(batch, 2, 4, 4), size, padding=size),
                 lambda: functional.unfold(dragon_torch.ones(batch, 2, 4, 4), 1, padding=size)):
        with pytest.raises((ValueError, RuntimeError, MemoryError)):
            call()


@each("rows", [2 ** 31, 2 ** 40, 2 ** 62, 2 ** 63 - 1])
@each("bias, residual", itertools.product([False, True], repeat=2))
def test_weights_are_not_packed_for_more_rows_than_there_are(rows, bias, residual):
    for shape in ((4, 4), (3, 5)):
        packed, layout = dragon.ops.pack_linear_weight(dragon.ops.ones(shape), rows, bias, residual)
        assert tuple(packed.shape) == tuple(layout.shape) == (0,)
    packed, layout = dragon.ops.pack_conv_weight(dragon.ops.ones((4, 4, 3, 3)), [4, 4], [1, 1], [0, 0], [1, 1], 1,
                                                 [rows, 4, 6, 6], bias, residual)
    assert tuple(packed.shape) == tuple(layout.shape) == (0,)
