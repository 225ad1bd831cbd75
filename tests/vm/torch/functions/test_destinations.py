"""Where `out=` writes: destinations that are also read, given twice, too few, of another dtype, or lent to others."""
import numpy as np
import pytest

from dragon.vm import torch
from harness.subresults import each

SQUARE = torch.tensor([[4.0, 1, 0, 2], [1, 5, 1, 0], [0, 1, 6, 1], [2, 0, 1, 7]])
DOOMED = pytest.mark.filterwarnings("ignore:.*output with one or more elements was resized")

# (what is computed from x, how many results): those that LAPACK, sorting and searching give in several parts
SEVERAL = {
    "linalg.lu_factor": (torch.linalg.lu_factor, 2), "linalg.qr": (torch.linalg.qr, 2),
    "linalg.slogdet": (torch.linalg.slogdet, 2), "linalg.eigh": (torch.linalg.eigh, 2),
    "linalg.inv_ex": (torch.linalg.inv_ex, 2), "linalg.svd": (torch.linalg.svd, 3),
    "linalg.lu": (torch.linalg.lu, 3), "sort": (torch.sort, 2),
    "max": (lambda x, out: torch.max(x, 0, out=out), 2), "topk": (lambda x, out: torch.topk(x, 2, out=out), 2),
    "mode": (lambda x, out: torch.mode(x, 0, out=out), 2), "cummax": (lambda x, out: torch.cummax(x, 0, out=out), 2),
    "kthvalue": (lambda x, out: torch.kthvalue(x, 2, out=out), 2),
    "median": (lambda x, out: torch.median(x, 0, out=out), 2),
    "histogram": (lambda x, out: torch.histogram(x, 4, out=out), 2),
    "aminmax": (lambda x, out: torch.aminmax(x, dim=0, out=out), 2),
    "frexp": (torch.frexp, 2), "triangular_solve": (lambda x, out: torch.triangular_solve(x, x, out=out), 2),
}


@each("call, count", SEVERAL.values(), ids=SEVERAL)
def test_one_tensor_is_no_place_for_several_results(call, count):
    x = SQUARE.clone()
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        call(x, out=[x] * count)
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        call(SQUARE, out=torch.zeros(3))
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        call(SQUARE, out=[torch.zeros(3)] * (count + 1))
    assert x.tolist() == SQUARE.tolist()


@DOOMED
@pytest.mark.parametrize("place", range(2))
@pytest.mark.parametrize("name", ["linalg.lu_factor", "linalg.qr", "linalg.eigh", "linalg.slogdet", "aminmax"])
def test_a_destination_that_is_also_read(name, place):
    call, count = SEVERAL[name]
    expected = [part.clone() for part in (call(SQUARE) if name != "aminmax" else torch.aminmax(SQUARE, dim=0))]
    x = SQUARE.clone()
    out = [torch.empty(0, dtype=part.dtype) for part in expected]
    out[place] = x
    call(x, out=tuple(out))
    for found, right in zip(out, expected):
        assert found.shape == right.shape
        assert torch.allclose(found.double().abs(), right.double().abs())  # eigenvectors have either sign


READING = {
    "sum": lambda x, out: torch.sum(x, 0, out=out),
    "mm": lambda x, out: torch.mm(x, x[:, :2], out=out), "argmax-like max": lambda x, out: torch.amax(x, 1, out=out),
    "diag": lambda x, out: torch.diag(x, out=out), "add": lambda x, out: torch.add(x, torch.ones(2, 4, 4), out=out),
}
# PyTorch refuses these, and so does Dragon.
REFUSED = {
    "cat": lambda x, out: torch.cat([x, x], out=out),
    "nonzero-like where": lambda x, out: torch.where(x[None] > 1, x[None], x[None], out=out),
    "cumsum": lambda x, out: torch.cumsum(x[1:], 0, out=out),
    "gather": lambda x, out: torch.gather(x, 0, torch.tensor([[3, 2, 1, 0]]), out=out),
    "index_select": lambda x, out: torch.index_select(x, 0, torch.tensor([2, 0]), out=out),
    "masked_select": lambda x, out: torch.masked_select(x, x > 1, out=out),
    "take": lambda x, out: torch.take(x, torch.tensor([5, 1]), out=out),
}


@DOOMED
@pytest.mark.parametrize("call", READING.values(), ids=READING)
def test_the_operand_as_destination_of_another_shape(call):
    expected = call(SQUARE, torch.empty(0))
    x = SQUARE.clone()
    call(x, x)
    assert x.shape == expected.shape and x.tolist() == expected.tolist()


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_an_operand_that_is_no_destination(call):
    x = SQUARE.clone()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        call(x, x)
    assert x.shape == SQUARE.shape and x.tolist() == SQUARE.tolist()


@DOOMED
def test_a_lent_destination_grows_elsewhere():
    x = torch.arange(1 << 18, dtype=torch.float32)
    array = x.numpy()
    torch.add(torch.ones(1 << 19), 1, out=x)
    kept = [torch.zeros(1 << 18) for _ in range(4)]
    assert x.shape == (1 << 19,) and float(array.astype("f8").sum()) == float(np.arange(1 << 18).sum()) and kept


@DOOMED
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["linalg.slogdet", "linalg.qr"])
def test_gradients_through_destinations(name, dtype):
    call, count = SEVERAL[name]
    x, y = (SQUARE.clone().requires_grad_() for _ in range(2))
    out = [torch.empty(3, dtype=dtype) for _ in range(count)]
    try:
        call(x, out=tuple(out))
    except RuntimeError:  # PyTorch refuses this altogether
        return
    sum(part.sum() for part in out).backward()
    sum(part.sum() for part in call(y)).backward()
    assert torch.allclose(x.grad, y.grad, rtol=1e-3, atol=1e-5)


def test_least_squares_without_a_right_hand_side():
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        found = torch.linalg.lstsq(SQUARE, torch.ones(4, 0), driver=driver)
        assert found.solution.shape == (4, 0)
        if driver != "gels":
            assert found.rank.item() == 4
