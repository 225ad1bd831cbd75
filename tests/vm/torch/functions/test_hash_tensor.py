"""`hash_tensor`: numbers that genuine PyTorch 2.13 gave, along which axes, and what it refuses."""
import pytest

from dragon.vm import torch
from harness.subresults import each

X = torch.arange(6.0).reshape(2, 3)
TOLD = [
    ((torch.ones(2, 3),), {}, 0),
    ((X, 1), {}, [9218868437227405312, 4615063718147915776]),
    ((X, (0, 1)), {"keepdim": True}, [[4610560118520545280]]),
    ((X.long(), 0), {}, [3, 5, 7]),
    ((torch.tensor([True, False]),), {}, 1),
    ((torch.tensor([1.5], dtype=torch.float16),), {}, 4609434218613702656),
    ((torch.tensor([1.5], dtype=torch.bfloat16),), {}, 4609434218613702656),
    ((torch.tensor([1.5, 2.5], dtype=torch.float64),), {}, 9222246136947933184),
    ((torch.tensor([-1], dtype=torch.int8),), {}, 18446744073709551615),
    ((torch.tensor(3.0),), {}, 4613937818241073152),
    ((torch.tensor([-0.0]),), {}, 9223372036854775808),
    ((torch.tensor([float("nan")]),), {}, 9221120237041090560),
    ((torch.zeros(0, 3), 1), {}, []),
]


@each("args, options, expected", TOLD)
def test_numbers(args, options, expected):
    for found in (torch.hash_tensor(*args, **options), torch.Tensor.hash_tensor(*args, **options)):
        assert found.dtype == torch.uint64 and found.tolist() == expected


def test_order_and_strides_do_not_matter():
    x = torch.arange(24.0).reshape(2, 3, 4)
    whole = torch.hash_tensor(x).item()
    assert torch.hash_tensor(x.permute(2, 0, 1)).item() == whole == torch.hash_tensor(x.flip(0)).item()
    assert torch.hash_tensor(x, 1).tolist() == torch.hash_tensor(x.transpose(0, 1), 0).tolist()
    assert torch.hash_tensor(x + 1).item() != whole


def test_results_are_delivered():
    out = torch.empty(3, dtype=torch.uint64)
    assert torch.hash_tensor(X.long(), 0, out=out) is out and out.tolist() == [3, 5, 7]


@pytest.mark.parametrize("args, options, error, letter", [
    ((torch.tensor([1j]),), {}, NotImplementedError, "complex64"),
    ((torch.tensor([]),), {}, RuntimeError, "Specify the reduction dim with the 'dim' argument"),
    ((torch.zeros(2, 0), 1), {}, IndexError, "dim 1 to have non-zero size"),
    ((X, 5), {}, IndexError, "expected -2 to 1"),
    ((X, (0, 0)), {}, RuntimeError, "dim 0 twice"),
    ((X,), {"mode": 1}, RuntimeError, "Unknown hash_tensor mode: 1"),
])
def test_refusals(args, options, error, letter):
    with pytest.raises(error, match=letter):
        torch.hash_tensor(*args, **options)
