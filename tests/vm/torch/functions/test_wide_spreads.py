"""Gradients that must not drown where numbers are far apart."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch


@pytest.mark.parametrize("scale", [1, 30, 100, 300])
@pytest.mark.parametrize("name", ["logcumsumexp", "softmax", "log_softmax"])
def test_gradients(name, scale):
    array, grads = np.random.RandomState(0).randn(5, 5) * scale, []
    for t in (torch, dragon_torch):
        x = t.tensor(array, dtype=t.float64, requires_grad=True)
        (getattr(t, name)(x, 0) * t.arange(25).reshape(5, 5)).sum().backward()
        grads.append(x.grad.numpy())
    np.testing.assert_allclose(grads[1], grads[0], rtol=1e-9, atol=1e-9)
