"""Random programs that write small tensors of their own and read sizes off them, exported and compiled beside eager."""
import random

import pytest

from dragon.vm import torch
from dragon.vm.torch.export import export

STEPS = [
    "t[{i}] = {k}", "t += {k}", "t *= {k}", "t.fill_({k})", "t.copy_(u)", "u.copy_(t)", "t.zero_()", "t[{i}:] = {k}",
    "t[::2] += u[::2]", "t.narrow(0, 1, 2).add_({k})", "t.clamp_(-{k}, {k})", "t[t > {k}] = {k}", "t.neg_()",
    "t.index_fill_(0, torch.tensor([0, {i}]), {k})", "t.scatter_(0, torch.tensor([{i}]), {k})", "t.sub_(u)",
    "t.index_add_(0, torch.tensor([{i}]), u[:1])", "u = t.clone()", "u = t.view(2, 2).t().reshape(-1)",
    "v = t.view(2, 2); v[{i} % 2] -= {k}", "t.masked_fill_(t > {k}, {k})", "t[{i}] = x.shape[0]", "u = t.flip(0)",
    "u[{i}] = t[{j}] + 1", "u = u + t", "t = u * {k}", "t.remainder_({k})", "t[:] = u", "s = t[{i}]; s += {k}",
    "t[{i}], u[{j}] = u[{j}].clone(), t[{i}].clone()", "t.data[{i}] = {k}", "t = t.detach(); t[{i}] = {k}",
    "u = torch.empty(4, dtype=torch.int64); u.copy_(t)", "u = torch.full((4,), {k}); u[{i}] = t[{j}]",
    "t = torch.stack([t, u]).sum(0)", "t.unsqueeze(0)[0, {i}] = {k}", "u = torch.tensor([{k}, {i}, {j}, 2]); u *= 2"]


def grow(seed):
    """Return a program."""
    draw, space = random.Random(seed), {"torch": torch}
    lines = ["sizes, t, u = [], torch.zeros(4, dtype=torch.int64), torch.tensor([1, 2, 3, 4])"]
    for _ in range(draw.randint(1, 7)):
        lines.append(draw.choice(STEPS).format(i=draw.randint(0, 3), j=draw.randint(0, 3), k=draw.randint(1, 6)))
        lines += [f"sizes.append(int(t[{draw.randint(0, 3)}]) % 5)"] * (draw.random() < 0.3)
    lines += ["sizes += [int(t.sum()) % 7, int(u[0]) % 5]", "return x.new_zeros(sizes) + x.sum()"]
    source = "def program(x):\n    " + "\n    ".join(lines)
    exec(source, space)
    return space["program"], source


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize("group", [0, *(pytest.param(group, marks=pytest.mark.slow) for group in range(1, 8))])
def test_programs(group):
    held = 0
    for seed in range(40 * group, 40 * group + 40):
        program, source = grow(seed)
        compiled = torch.compile(program, dynamic=True)
        for rows in (3, 5, 6, 9):
            x = torch.ones(rows, 2)
            assert compiled(x).shape == program(x).shape, source
        try:
            exported = export(Module(program), (torch.ones(3, 2),))
        except RuntimeError as error:
            assert "data-dependent" in str(error) or "t.data" in source, f"{error}\n{source}"
            continue
        assert exported.module()(torch.ones(3, 2)).shape == program(torch.ones(3, 2)).shape, source
        held += 1
    assert held > 20
