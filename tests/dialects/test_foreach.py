"""Functions of lists of tensors are those of PyTorch's signatures, and compute the same."""
import pytest

from dragon.dialects.aten.signature_lines import read_line
from dragon.dialects.aten.signatures import foreach_lines
from dragon.vm import torch as dt
from harness.subresults import each

gt = pytest.importorskip("torch")
ABSENT = {"copy", "zero"}  # which are, in PyTorch, functions that write alone


def given(torch, part):
    """Return an argument of a type."""
    if part.name == "self":
        return [torch.tensor([0.25, -0.5, 3.0]), torch.tensor([[0.75]])]
    if part.name == "scalars":
        return torch.tensor([2.0, 3.0]) if part.type == "Tensor" else [2, 3]
    return {"Tensor[]": [torch.tensor([2.0, -1.0, 3.0]), torch.tensor([[2.0]])], "Tensor": torch.tensor(2.0),
            "Scalar": 2, "Scalar[]": [2, 3]}[part.type]


def called(torch, line):
    """Return the numbers that a function gives, or leaves in the tensors of its list."""
    args = [given(torch, part) for part in line.arguments if not part.has_default and part.name != "exponent"]
    named = {part.name: given(torch, part) for part in line.arguments if part.name == "exponent"}
    made = getattr(torch, line.name.removeprefix("aten::"))(*args, **named)
    written = args[0] if line.name.endswith("_") else made
    return [number for x in written for number in x.reshape(-1).tolist()]


LINES = [read_line(text) for name, lines in foreach_lines().items() if name not in ABSENT for text in lines]


@each("line", [line for line in LINES if line.name[-3:] != "_mm" and line.overload != "ScalarAndTensor"])
def test_lines(line):
    assert called(dt, line) == pytest.approx(called(gt, line), rel=1e-5, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("name, others", [("add", [1]), ("mul", [[2, 3]]), ("sqrt", []), ("zero", []), ("maximum", [1]),
                                          ("pow", [2]), ("lerp", [[1.0, 2.0], 0.5]), ("copy", [[5.0, 6.0]])])
def test_what_writes_gives_its_list(name, others):
    for torch in (dt, gt):
        xs = [torch.tensor(1.0), torch.tensor(4.0)]
        others = [[torch.tensor(value) for value in other] if isinstance(other, list) and name != "mul" else other
                  for other in others]
        assert getattr(torch, f"_foreach_{name}_")(xs, *others) is xs


@pytest.mark.parametrize("name", ["maximum", "minimum", "clamp_min", "clamp_max"])
@pytest.mark.parametrize("of_tensors", [False, True])
def test_gradients_of_bounds_at_ties_and_nan(name, of_tensors):
    found = []
    for torch in (dt, gt):
        x, y = (torch.tensor(values, requires_grad=True) for values in ([1.0, 2.0, 0.0, float("nan")], [1.0] * 4))
        made, = getattr(torch, f"_foreach_{name}")([x], [y] if of_tensors else 1.0)
        made.sum().backward()
        found.append([x.grad.tolist(), y.grad.tolist() if of_tensors else None])
    assert found[0] == found[1]


@pytest.mark.parametrize("ord", [0, 0.5, 1, 2, 3, float("inf"), -1])
def test_sums_of_powers(ord):
    for values in ([3.0, -4.0, 0.0], [], [[1e20, -1.0]], [float("nan"), 1.0]):
        mine, theirs = (torch._foreach_powsum([torch.tensor(values)], ord, dtype=torch.float64)[0]
                        for torch in (dt, gt))
        assert mine.dtype == dt.float64 and float(mine) == pytest.approx(float(theirs), rel=1e-6, nan_ok=True)


def test_sums_of_powers_of_integers_are_refused():
    for torch in (dt, gt):
        with pytest.raises(NotImplementedError, match="powsum"):
            torch._foreach_powsum([torch.arange(3)])
        assert torch._foreach_powsum([torch.arange(3)], dtype=torch.float32)[0] == 5


def test_copies_of_views_are_those_of_pytorch():
    ours, theirs = ({name for name in dir(torch) if name.endswith("_copy") and not name.startswith("_")}
                    for torch in (dt, gt))
    assert ours <= theirs


def test_none_is_missing():
    assert {name for name in foreach_lines() if not hasattr(dt, f"_foreach_{name}")} == ABSENT
