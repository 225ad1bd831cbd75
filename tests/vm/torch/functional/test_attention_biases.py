"""Attention beside biases that dwarf every score: genuine PyTorch's formula is the measure.

Its fused kernel keeps the log-sum of exponentials as one number, beside which a bias of -1e30 leaves nothing: its own
gradients are as many times too large as there are keys.
"""
import math

import numpy as np
import pytest
import torch
from harness.subresults import each
from torch.nn.attention import SDPBackend, sdpa_kernel

from dragon.vm import torch as dragon_torch

TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 6e-2}
ROWS = {"one query": np.s_[1], "all": np.s_[:], "one key": np.s_[:, 2], "a tile of keys": np.s_[1, :256]}


def attend(t, dtype, fill, place, kind, second):
    """Return the result and the gradients, of the second order too if asked for."""
    rng, keys = np.random.default_rng(0), 300 if place == "a tile of keys" else 7
    q, k, v, y_grad = (t.tensor(rng.standard_normal((1, 2, size, 8))).to(getattr(t, dtype))
                       for size in (5, keys, keys, 5))
    mask = t.zeros(5, keys, dtype=getattr(t, dtype))
    mask[ROWS[place]] = fill
    mask = mask == 0 if kind == "seen" else mask
    leaves = [x.requires_grad_() for x in (q, k, v, *([mask] if kind == "learnt" else []))]
    y = t.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    grads = t.autograd.grad(y, leaves, y_grad, create_graph=second)
    if second:
        grads += t.autograd.grad(sum((x * x).sum() for x in grads), leaves)
    return [x.detach().double().numpy() for x in (y, *grads)]


@each("kind", ["fixed", "learnt", "seen"])
@each("place", ROWS)
@each("dtype", TOLERANCE)
def test_the_same_as_the_formula(dtype, place, kind):
    lowest = torch.finfo(getattr(torch, dtype)).min
    for fill in {-1e3, -1e30, lowest, -math.inf} - ({-1e30} if dtype == "float16" else set()):
        for second in (False, True) if dtype == "float64" else (False,):
            with sdpa_kernel(SDPBackend.MATH):
                genuine = attend(torch, dtype, fill, place, kind, second)
            for one, other in zip(attend(dragon_torch, dtype, fill, place, kind, second), genuine):
                size = max(1.0, np.abs(other).max())
                np.testing.assert_allclose(one, other, 0, TOLERANCE[dtype] * size, err_msg=f"{fill}")


@pytest.mark.parametrize("fill", [-1e30, -math.inf])
@pytest.mark.parametrize("how", ["add", "masked_fill"])
def test_a_compiled_formula_stays_what_it_was(how, fill):
    """A query that sees nothing is NaN in the formula, compiled or not."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 2, 4, 8)).astype("float32") for _ in range(3))
    hidden = np.zeros((4, 4), bool)
    hidden[1] = hidden[2, :2] = True

    def formula(t, q, k, v, hidden):
        scores = q @ k.transpose(-1, -2) * 0.3
        bias = t.zeros(4, 4).masked_fill(hidden, fill)
        scores = scores + bias if how == "add" else scores.masked_fill(hidden, fill)
        return t.softmax(scores, -1) @ v

    genuine = formula(torch, *map(torch.from_numpy, (q, k, v, hidden)))
    compiled = dragon_torch.compile(lambda *inputs: formula(dragon_torch, *inputs))
    with dragon_torch.no_grad():
        mine = compiled(*map(dragon_torch.from_numpy, (q, k, v, hidden)))
    np.testing.assert_allclose(mine.numpy(), genuine.numpy(), 1e-5, 1e-6)
