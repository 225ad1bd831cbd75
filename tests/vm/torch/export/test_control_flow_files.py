"""Control flow in .pt2 files: graphs that operators take, read by PyTorch and by Dragon."""
import io

import numpy
import pytest

from dragon.vm import torch
from dragon.vm.torch.export import Dim, export, load, save

genuine = pytest.importorskip("torch")


def flow(t):
    """Return (map, while_loop, scan) of a frontend."""
    if t is genuine:
        from torch._higher_order_ops.map import map as mapped
        from torch._higher_order_ops.scan import scan
        from torch._higher_order_ops.while_loop import while_loop
        return mapped, while_loop, scan
    from dragon.vm.torch.core.functions import control
    return lambda f, xs, *args: control.map(lambda x: f(x, *args), xs), control.while_loop, control.scan


CALLS = {
    "cond": lambda t, x, n: t.cond(n > 2, lambda x: x.sin() + n, lambda x: x.cos(), (x,)),
    "cond within cond": lambda t, x, n: t.cond(
        n > 2, lambda x: t.cond(n > 3, lambda x: x + 1, lambda x: x - 1, (x,)), lambda x: x * 2, (x,)),
    "while_loop": lambda t, x, n: flow(t)[1](lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (n, x)),
    "map": lambda t, x, n: flow(t)[0](lambda x, y: x * y, x, n),
    "scan": lambda t, x, n: flow(t)[2](lambda c, x: (c + x, c * x), t.zeros(2), x),
}


def made(t, function):
    class Does(t.nn.Module):
        def forward(self, x, n):
            return function(t, x, n)
    return Does()


def arguments(t, count=3):
    return t.linspace(-1, 1, 6).reshape(3, 2), t.tensor(count)


def close(results, wanted):
    for one, another in zip(*(value if isinstance(value, (list, tuple)) else [value] for value in (results, wanted))):
        numpy.testing.assert_allclose(one.numpy(), another.numpy(), rtol=1e-6)


def through(program, its, other):
    """Return a program that one frontend saves and another loads."""
    file = io.BytesIO()
    its.save(program, file)
    file.seek(0)
    return other.load(file)


@pytest.mark.parametrize("name", CALLS)
def test_files_of_ours(name):
    program = export(made(torch, CALLS[name]), arguments(torch))
    again = through(program, torch.export, torch.export)
    theirs = through(program, torch.export, genuine.export)
    for count in (1, 3, 4):
        wanted = made(torch, CALLS[name])(*arguments(torch, count))
        close(again.module()(*arguments(torch, count)), wanted)
        close(theirs.module()(*arguments(genuine, count)), wanted)


@pytest.mark.parametrize("name", CALLS)
def test_files_of_theirs(name):
    program = genuine.export.export(made(genuine, CALLS[name]), arguments(genuine), strict=name == "scan")
    mine = through(program, genuine.export, torch.export)
    for count in (1, 3, 4):
        close(mine.module()(*arguments(torch, count)), made(torch, CALLS[name])(*arguments(torch, count)))


def test_open_sizes_within():
    program = export(made(torch, CALLS["cond"]), arguments(torch), dynamic_shapes={"x": {0: Dim("rows")}, "n": None})
    for read in (load, genuine.export.load):
        file = io.BytesIO()
        save(program, file)
        file.seek(0)
        t = torch if read is load else genuine
        result = read(file).module()(t.ones(5, 2), t.tensor(1))
        assert tuple(result.shape) == (5, 2)
