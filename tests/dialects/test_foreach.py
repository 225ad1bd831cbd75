"""Functions of lists of tensors are those of PyTorch's signatures, and compute the same."""
import pytest

from dragon.dialects.aten.signature_lines import read_line
from dragon.dialects.aten.signatures import foreach_lines
from dragon.vm import torch as dt
from harness.subresults import each

gt = pytest.importorskip("torch")
# The last two are, in PyTorch, functions that write alone.
ABSENT = {"powsum", "copy", "zero"}


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


def test_none_is_missing():
    assert {name for name in foreach_lines() if not hasattr(dt, f"_foreach_{name}")} == ABSENT
