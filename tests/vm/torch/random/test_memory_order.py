"""Random numbers fall in the order of memory, as PyTorch's do, whatever the order of a tensor's axes."""
import numpy as np
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

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


SAMPLERS = {"normal_": (), "uniform_": (), "bernoulli_": (0.3,), "exponential_": (), "random_": (),
            "geometric_": (0.3,), "cauchy_": (), "log_normal_": ()}
CUTS = {**{name: layout for name, layout in LAYOUTS.items() if name != "expanded"},
        "turned and cut": lambda x: x.permute(3, 1, 0, 2)[1:], "every other one": lambda x: x[:, ::2].transpose(0, 1),
        "a few": lambda x: x[0, :, :2, 0].t(), "one column": lambda x: x[:, 1, 2, 1], "none": lambda x: x[2:].mT}


@each("cut", CUTS)
@each("name", SAMPLERS)
def test_writes_through_views(name, cut):
    """Also into memory with gaps, whose axes were exchanged."""
    found = []
    for t in (torch, dragon_torch):
        t.manual_seed(5)
        whole = t.from_numpy(ARRAY.copy())
        getattr(CUTS[cut](whole), name)(*SAMPLERS[name])
        found.append(whole.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=2e-5)


@each("cut", CUTS)
@each("name", ["rand_like", "randn_like"])
def test_like_a_view(name, cut):
    found = []
    for t in (torch, dragon_torch):
        t.manual_seed(5)
        drawn = getattr(t, name)(CUTS[cut](t.from_numpy(ARRAY.copy())))
        found.append((drawn.numpy(), drawn.stride()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=2e-5)
    assert found[0][1] == found[1][1] or not found[0][0].size


@each("order", ["contiguous_format", "channels_last", "preserve_format"])
@each("layout", [name for name in LAYOUTS if name != "expanded"])
@each("name", ["rand_like", "randn_like", "randint_like"])
def test_like_in_a_format(name, layout, order):
    """Numbers fall in the order of the memory that is asked for."""
    found = []
    for t in (torch, dragon_torch):
        t.manual_seed(5)
        drawn = getattr(t, name)(LAYOUTS[layout](t.from_numpy(ARRAY.copy())), *([9] if name == "randint_like" else []),
                                 memory_format=getattr(t, order))
        found.append((drawn.numpy(), drawn.stride()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=2e-5)
    assert found[0][1] == found[1][1]
