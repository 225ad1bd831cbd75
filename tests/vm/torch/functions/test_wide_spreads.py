"""Gradients that must not drown where numbers are far apart."""
import numpy as np
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each


@each("scale", [1, 30, 100, 300])
@each("name", ["logcumsumexp", "softmax", "log_softmax"])
def test_gradients(name, scale):
    array, grads = np.random.RandomState(0).randn(5, 5) * scale, []
    for t in (torch, dragon_torch):
        x = t.tensor(array, dtype=t.float64, requires_grad=True)
        (getattr(t, name)(x, 0) * t.arange(25).reshape(5, 5)).sum().backward()
        grads.append(x.grad.numpy())
    np.testing.assert_allclose(grads[1], grads[0], rtol=1e-9, atol=1e-9)


LOW = [-110., -1e4, -1e30, 1e30, -np.inf, np.inf]


@each("dtype", ["float16", "bfloat16", "float32", "float64"])
@each("name", ["softmax", "log_softmax", "logsumexp", "logcumsumexp"])
def test_columns_far_from_zero(name, dtype):
    """Whole columns of one number, masked columns, and columns that hold one number besides."""
    def made(t, shape, axis, level, other):
        x = t.full(shape, level, dtype=t.float32)
        x.select(axis, -1)[..., 1:] = other
        return getattr(t, name)(x.to(getattr(t, dtype)), axis).double().numpy()

    spread = 65000 if dtype == "float16" else np.inf
    for level in (level for level in LOW if abs(level) < spread or np.isinf(level)):
        for shape, axis in (((4, 8), 0), ((4, 8), 1), ((70, 6), 0), ((2, 40, 3), 1)):
            for other in (level, -np.inf, level / 2):
                genuine, mine = (made(t, shape, axis, level, other) for t in (torch, dragon_torch))
                np.testing.assert_allclose(mine, genuine, 1e-2, 1e-5, err_msg=f"{level}, {other}, {shape}, {axis}")
