"""Types of Python that stand for dtypes: `float` is float64 and `complex` complex128, whatever the default dtype is."""
import pytest
import torch as genuine

from dragon.vm import torch
from harness.subresults import each

# What is asked of both, given a module and a type of Python.
CALLS = {
    "zeros": lambda t, kind: t.zeros(2, dtype=kind),
    "full": lambda t, kind: t.full((2,), 1, dtype=kind),
    "eye": lambda t, kind: t.eye(3, dtype=kind),
    "tensor": lambda t, kind: t.tensor([1, 0], dtype=kind),
    "as_tensor": lambda t, kind: t.as_tensor([1, 0], dtype=kind),
    "asarray": lambda t, kind: t.asarray([1, 0], dtype=kind),
    "new_zeros": lambda t, kind: t.ones(1).new_zeros(2, dtype=kind),
    "new_tensor": lambda t, kind: t.ones(1).new_tensor([1, 2], dtype=kind),
    "ones_like": lambda t, kind: t.ones_like(t.ones(3), dtype=kind),
    "to": lambda t, kind: t.arange(3.).to(kind),
    "to by name": lambda t, kind: t.arange(3.).to(dtype=kind),
    "sum": lambda t, kind: t.arange(3.).sum(dtype=kind),
    "prod": lambda t, kind: t.arange(3.).prod(dtype=kind),
    "frombuffer": lambda t, kind: t.frombuffer(bytearray(16), dtype=kind),
}
FLOATS = {
    "arange": lambda t, kind: t.arange(3, dtype=kind),
    "linspace": lambda t, kind: t.linspace(0, 1, 3, dtype=kind),
    "logspace": lambda t, kind: t.logspace(0, 1, 3, dtype=kind),
    "mean": lambda t, kind: t.arange(3.).mean(dtype=kind),
    "softmax": lambda t, kind: t.softmax(t.arange(3.), 0, dtype=kind),
    "hann_window": lambda t, kind: t.hann_window(4, dtype=kind),
    "view": lambda t, kind: t.arange(4.).view(kind),
}


@each("kind", [bool, int, float, complex], ids=lambda kind: kind.__name__)
@each("name", CALLS)
def test_each_type(name, kind):
    mine, there = CALLS[name](torch, kind), CALLS[name](genuine, kind)
    assert str(mine.dtype) == str(there.dtype) and mine.tolist() == there.tolist()


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name):
    mine, there = FLOATS[name](torch, float), FLOATS[name](genuine, float)
    assert str(mine.dtype) == str(there.dtype) == "torch.float64"
    genuine.testing.assert_close(genuine.tensor(mine.tolist(), dtype=float), there)


def test_limits():
    assert torch.finfo(float).max == genuine.finfo(float).max == torch.finfo(complex).max
    assert torch.iinfo(int).max == genuine.iinfo(int).max
    with pytest.raises(TypeError, match="requires a floating point"):
        torch.finfo(int)


def test_layers_of_complex_numbers():
    """Their weights are drawn as PyTorch draws them."""
    genuine.manual_seed(4), torch.manual_seed(4)
    mine, there = torch.nn.Linear(3, 5, dtype=complex), genuine.nn.Linear(3, 5, dtype=complex)
    assert mine.weight.dtype == torch.complex128
    for one, other in zip(mine.parameters(), there.parameters()):
        genuine.testing.assert_close(genuine.tensor(one.tolist(), dtype=complex), other.detach())
