"""Complex numbers that are drawn: both parts, in the order of PyTorch's stream."""
import pytest
import torch as genuine

from dragon.vm import torch
from harness.subresults import each

DRAWS = {
    "normal_": lambda t, x: x.normal_(),
    "normal_ of a deviation": lambda t, x: x.normal_(2, 3),
    "uniform_": lambda t, x: x.uniform_(),
    "uniform_ between": lambda t, x: x.uniform_(-2, 3),
    "normal of a mean": lambda t, x: t.normal(x + (1 + 2j), 2.0),
    "normal of a size": lambda t, x: t.normal(1.0, 2.0, x.shape, dtype=x.dtype),
    "xavier": lambda t, x: t.nn.init.xavier_normal_(x.reshape(-1, 1)),
    "kaiming": lambda t, x: t.nn.init.kaiming_uniform_(x.reshape(-1, 1)),
    "randn_like": lambda t, x: t.randn_like(x),
}


@each("dtype", ["complex64", "complex128"])
@each("count", [3, 40])  # a few are drawn one by one, many in blocks
@each("name", DRAWS)
def test_as_pytorch(name, count, dtype):
    found = []
    for module in (torch, genuine):
        module.manual_seed(5)
        drawn = DRAWS[name](module, module.zeros(count, dtype=getattr(module, dtype)))
        assert str(drawn.dtype) == f"torch.{dtype}"
        found.append(genuine.tensor(drawn.tolist(), dtype=getattr(genuine, dtype)))
    genuine.testing.assert_close(*found)


def test_real_numbers_by_their_names():
    for bounds in ({"from": 2, "to": 3}, {"to": 3}, {}):
        torch.manual_seed(1), genuine.manual_seed(1)
        assert torch.zeros(5).uniform_(**bounds).tolist() == genuine.zeros(5).uniform_(**bounds).tolist()
    with pytest.raises(TypeError, match="middle"):
        torch.zeros(5).uniform_(middle=3)


VIEWS = {"columns": lambda x: x[:, ::2], "turned": lambda x: x.t(), "turned and cut": lambda x: x.t()[1:],
         "imaginary parts": lambda x: x.imag}


@pytest.mark.parametrize("name", VIEWS)
def test_through_views(name):
    found = []
    for module in (torch, genuine):
        whole = module.zeros(4, 6, dtype=module.complex64)
        module.manual_seed(3)
        VIEWS[name](whole).normal_()
        found.append(genuine.tensor(whole.tolist()))
    genuine.testing.assert_close(*found)


def test_in_graphs():
    def draw(x):
        return torch.zeros_like(x).normal_() * 2 + x, torch.empty_like(x).uniform_()
    compiled, x = torch.compile(draw), torch.arange(3.) * (1 + 1j)
    for seed in range(3):
        torch.manual_seed(seed)
        plain = draw(x)
        torch.manual_seed(seed)
        assert all(map(torch.equal, compiled(x), plain))
    assert compiled.fallback is None and len(compiled.variants) == 1


def test_nothing_flows_through():
    x = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    drawn = (x * 2).normal_()
    (drawn * drawn.conj()).sum().real.backward()
    assert x.grad.tolist() == [0, 0, 0]
