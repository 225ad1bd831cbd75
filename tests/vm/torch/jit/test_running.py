"""How scripts run: beside the Python code that they were compiled from, and no slower."""
import time
from harness.subresults import each
from typing import List, Tuple

import pytest

import dragon.vm.torch as torch
from dragon.vm.torch import Tensor, nn


def nested(depth, head):
    """Return a text of blocks within blocks, each of which counts."""
    lines = ["def count(x: int) -> int:", "    n = 0"]
    for level in range(depth):
        pad = "    " * (level + 1)
        lines += [pad + head.format(level=level, depth=depth), pad + "    n += 1"]
    return "\n".join([*lines, "    return n"])


@each("head", ["for i{level} in range(2):", "if x > {level}:", "while n < {depth}:"])
@each("depth", [4, 13, 18])
def test_blocks_may_stand_deep_in_blocks(head, depth):
    if head.startswith("for"):
        head = head.replace("2", "1") if depth > 4 else head
    text, room = nested(depth, head), {}
    exec(text, room)
    unit = torch.jit.CompilationUnit(text)
    for x in (0, 5, 100):
        assert unit.count(x) == room["count"](x)


def many_variables(x: Tensor, n: int) -> List[Tensor]:
    """Return what needs old values long after they were made, while others come and go."""
    kept: List[Tensor] = []
    one, other = x, x * 2
    for i in range(n):
        one, other = other, one + other
        if i % 2 == 0:
            kept.append(one)
            kept += [other - 1]
        else:
            early = one * other
            one = early / (early + 1)
    return kept + [x, one, other]


def test_variables_are_taken_again_only_when_they_are_free():
    x = torch.tensor([0.5, -2.0])
    for n in (0, 1, 5):
        for found, expected in zip(torch.jit.script(many_variables)(x, n), many_variables(x, n), strict=True):
            assert torch.equal(found, expected)


def grown(x: Tensor) -> Tensor:
    """Return a list's elements that were put there after it was made."""
    row = [1, 2]
    row.append(x.size(0))
    return x.reshape(row) if x.numel() > 100 else x.sum() + len(row) + row[2]


def test_a_list_that_is_written_to_is_no_constant():
    for _ in range(2):
        assert torch.jit.script(grown)(torch.ones(3)).item() == 9


@torch.jit.script
def quiet(x: Tensor) -> Tensor:
    """Raise without gradients, or return."""
    with torch.no_grad():
        if bool(x.sum() > 0):
            raise ValueError("positive")
        y = x * 2
    return y


def test_a_with_block_is_left_where_something_is_raised():
    with pytest.raises(torch.jit.Error, match="positive"):
        quiet(torch.ones(2))
    assert torch.is_grad_enabled()
    assert not quiet(-torch.ones(2, requires_grad=True)).requires_grad and torch.is_grad_enabled()


def early(x: Tensor, n: int) -> Tuple[Tensor, List[int]]:
    """Return out of the middle of a context and of loops, before a variable is set."""
    row: List[int] = []
    with torch.no_grad():
        if n > 3:
            return x + 1, row
        y = x * 2
    for i in range(n):
        if i == 2:
            return y, row
        row.append(i)
    assert len(row) < 3
    count = len(row)
    count = [count]
    return y - 1, count


def test_ways_out_of_a_context_leave_variables_unset():
    x = torch.ones(2)
    for n in (0, 2, 3, 5):
        found, expected = torch.jit.script(early)(x, n), early(x, n)
        assert torch.equal(found[0], expected[0]) and found[1] == expected[1]


class Recurrent(nn.Module):
    """A loop over cells."""

    def __init__(self):
        super().__init__()
        self.cell, self.size = nn.LSTMCell(4, 8), 8

    def forward(self, x: Tensor) -> Tensor:
        """Return all states."""
        h, c = torch.zeros(x.size(1), self.size), torch.zeros(x.size(1), self.size)
        found: List[Tensor] = []
        for step in range(x.size(0)):
            h, c = self.cell(x[step], (h, c))
            found.append(h)
        return torch.stack(found)


def test_a_scripted_loop_is_no_slower_than_python():
    module, x = Recurrent().eval(), torch.randn(60, 2, 4)
    scripted, best = torch.jit.script(module), {}
    assert torch.equal(scripted(x), module(x))
    with torch.no_grad():
        for turn in range(15):
            for name, function in (("eager", module), ("script", scripted)):
                start = time.process_time()
                function(x)
                best[name] = min(best.get(name, 1.0), time.process_time() - start)
    assert best["script"] < 1.5 * best["eager"], best
