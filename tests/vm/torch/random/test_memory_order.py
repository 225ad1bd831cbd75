"""Random numbers fall in the order of memory, as PyTorch's do, whatever the order of a tensor's axes."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch

ARRAY = np.arange(2 * 4 * 6 * 3, dtype=np.float32).reshape(2, 4, 6, 3) + 1
LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.transpose(0, 1),
    "permuted": lambda x: x.permute(3, 1, 0, 2),
    "sliced": lambda x: x[:, 1:3],
    "sliced and transposed": lambda x: x[:, 1:3].transpose(1, 3),
    "expanded": lambda x: x[:1].expand(5, -1, -1, -1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dropout(layout):
    found = []
    for t in (torch, dragon_torch):
        t.manual_seed(5)
        leaf = t.from_numpy(ARRAY.copy()).requires_grad_()
        y = t.nn.functional.dropout(LAYOUTS[layout](leaf), 0.4)
        (y * t.arange(y.numel()).reshape(y.shape)).sum().backward()
        found.append((y.detach().numpy(), leaf.grad.numpy(), y.stride()))
    for mine, theirs in zip(found[1], found[0]):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


@pytest.mark.parametrize("fill", ["uniform_", "bernoulli_", "exponential_", "random_", "geometric_"])
@pytest.mark.parametrize("layout", ["row-major", "transposed", "permuted"])
def test_filling(fill, layout):
    found = []
    for t in (torch, dragon_torch):
        t.manual_seed(7)
        x = LAYOUTS[layout](t.from_numpy(ARRAY.copy()))
        getattr(x, fill)(*([0.5] if fill == "geometric_" else []))
        found.append(x.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=3e-7)
