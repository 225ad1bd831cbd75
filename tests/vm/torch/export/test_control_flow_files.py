"""Control flow in .pt2 files: graphs that operators take, read by PyTorch and by Dragon."""
import io
import sys

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


class BySize:
    """Modules that go one way or another by a size, by a number of a tensor, or by a truth value of one."""

    @staticmethod
    def nonzero(t):
        class Does(t.nn.Module):
            def forward(self, x):
                found = x.nonzero()
                return t.cond(found.size(0) > 3, lambda x: (x + 1).sum(), lambda x: (x + 3).sum(), (found,)) * 2
        return Does(), [(t.tensor(numbers),) for numbers in ([1.0, 2, 3, 4, 0, 0], [0, 1.0, 0, 0, 0, 0])], None

    @staticmethod
    def size(t):
        class Does(t.nn.Module):
            def forward(self, x):
                return t.cond(
                    4 <= x.shape[0],
                    lambda x: x + 1,
                    lambda x: x - 1,
                    (x,))
        return Does(), [(t.ones(5, 2),), (t.ones(3, 2),)], ({0: t.export.Dim("rows", min=2)},)

    @staticmethod
    def number(t):
        class Does(t.nn.Module):
            def forward(self, n, x):
                return t.cond(n.item() != 2, lambda x: x + 1, lambda x: x - 1, (x,))
        return Does(), [(t.tensor(5), t.ones(2)), (t.tensor(2), t.ones(2))], None

    @staticmethod
    def truth(t):
        class Does(t.nn.Module):
            def forward(self, p, x):
                return t.cond(p.item(), lambda x: x + 1, lambda x: x - 1, (x,))
        return Does(), [(t.tensor(True), t.ones(2)), (t.tensor(False), t.ones(2))], None


def targets(program):
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="older Pythons do not tell where in a line they are")
@pytest.mark.parametrize("name", ["nonzero", "size", "number", "truth"])
def test_branches_by_numbers(name):
    (module, mine, shapes), (original, theirs, its) = (getattr(BySize, name)(t) for t in (torch, genuine))
    program = export(module, mine[0], dynamic_shapes=shapes)
    if name != "truth":  # there genuine PyTorch makes another number of it first
        assert targets(program) == targets(genuine.export.export(original, theirs[0], dynamic_shapes=its))
    read = through(program, torch.export, genuine.export)
    for one, another in zip(mine, theirs):
        close(program.module()(*one), original(*another))
        close(read.module()(*another), original(*another))


def test_truth_values_are_numbers():
    class Does(torch.nn.Module):
        def forward(self, p):
            return p.item()
    program = export(Does(), (torch.tensor([True]),))
    assert program.module()(torch.tensor([False])) is False
    assert [(bounds.lower, bounds.upper) for bounds in program.range_constraints.values()] == [(0, 1)]


def test_constant_predicates_warn():
    class Does(torch.nn.Module):
        def forward(self, x):
            if x.shape[0] > 2:
                return torch.cond(True, lambda x: x + 1, lambda x: x - 1, (x,))
            return x
    with pytest.warns(UserWarning, match="Pred is a Python constant"):
        program = export(Does(), (torch.ones(3),), dynamic_shapes=({0: Dim("n", min=3)},))
    assert targets(program) == ["aten.add.Tensor"]
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="n = Dim"):  # the comparison before still counts
        export(Does(), (torch.ones(3),), dynamic_shapes=({0: Dim("n", min=2)},))


def test_programs_that_print(capsys):
    class Does(torch.nn.Module):
        def forward(self, x):
            print(x, f"{x > 0}")
            return x + 1
    program = export(Does(), (torch.ones(3, 2),), dynamic_shapes=({0: Dim("n", min=2)},))
    assert "FakeTensor(..., size=(3, 2)) FakeTensor(..., size=(3, 2), dtype=torch.bool)" in capsys.readouterr().out
    assert program.module()(torch.zeros(5, 2)).tolist() == [[1, 1]] * 5
    assert repr(torch.zeros(1)) == "tensor([0.])"
