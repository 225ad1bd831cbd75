"""Control flow among gradients and maps over slices, in graphs and programs: beside PyTorch's eager numbers."""
import io

import numpy
import pytest

from dragon.vm import torch
from dragon.vm.torch.core.exporting.errors import ExportError
from dragon.vm.torch.core.functions.control import while_loop
from dragon.vm.torch.fx.experimental.proxy_tensor import make_fx

genuine = pytest.importorskip("torch")


def gradient(t, x, p):
    p = p.clone().requires_grad_()
    made = t.cond(x.sum() > 0, lambda a, b: (a * b).sin(), lambda a, b: a.cos() * b * b, (x, p))
    return t.autograd.grad(made.sum(), [p])[0]


def gradient_with_results(t, x, p):
    p = p.clone().requires_grad_()
    one, another = t.cond(x.sum() > 0, lambda a, b: ((a * b).exp(), b + 1), lambda a, b: (a.cos() - b, b * b), (x, p))
    loss = (one.mean() * another).sum()
    return loss.detach(), one.detach(), t.autograd.grad(loss, [p])[0]


def nested(t, x, p):
    p = p.clone().requires_grad_()

    def deep(a, b):
        return t.cond(a.max() > 1, lambda a, b: a * b * b, lambda a, b: a + b.sin(), (a, b))
    return t.autograd.grad(t.cond(x.sum() > 0, deep, lambda a, b: a - b.exp(), (x, p)).sum(), [p])[0]


def closed_over(t, x, p):
    p, table = p.clone().requires_grad_(), t.tensor([1.0, 2.0, 3.0])
    made = t.cond(x.sum() > 0, lambda a: a * p * table, lambda a: a.sin() * p.cos(), (x,))
    return t.autograd.grad(made.sum(), [p])[0]


def second(t, x, p):
    p = p.clone().requires_grad_()
    made = t.cond(x.sum() > 0, lambda a, b: (a * b).sin(), lambda a, b: a.cos() * b ** 3, (x, p)).sum()
    slope = t.autograd.grad(made, [p], create_graph=True)[0]
    return t.autograd.grad(slope.square().sum(), [p])[0]


PROGRAMS = [gradient, gradient_with_results, nested, closed_over, second]


def operands(t, sign):
    return t.linspace(-1, 2, 9).reshape(3, 3) * sign, t.linspace(1, 2, 3)


def leaves(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def expected(function, sign):
    """Return PyTorch's numbers, by way of plain Python: PyTorch itself cannot capture each of these."""
    given = operands(genuine, sign)
    return [leaf.numpy() for leaf in leaves(function(Plain(), *given))]


class Plain:
    """PyTorch with a `cond` that is an `if`."""

    def __getattr__(self, name):
        return getattr(genuine, name)

    @staticmethod
    def cond(predicate, then, otherwise, operands):
        return (then if predicate else otherwise)(*operands)


def check(found, wanted):
    for one, another in zip(leaves(found), wanted, strict=True):
        numpy.testing.assert_allclose(one.numpy(), another, rtol=2e-5, atol=1e-6)


class Does(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(torch, *args)


@pytest.mark.parametrize("function", PROGRAMS)
def test_graphs_go_both_ways(function):
    graph = make_fx(lambda *args: function(torch, *args))(*operands(torch, 1))
    assert "cond" in {str(node.target) for node in graph.graph.nodes}
    for sign in (1, -1):
        check(graph(*operands(torch, sign)), expected(function, sign))


@pytest.mark.parametrize("function", PROGRAMS)
def test_programs_go_both_ways_in_pytorch_too(function):
    file = io.BytesIO()
    torch.export.save(torch.export.export(Does(function), operands(torch, 1)), file)
    for t in (torch, genuine):
        file.seek(0)
        module = t.export.load(file).module()
        for sign in (1, -1):
            check(module(*operands(t, sign)), expected(function, sign))


def test_sizes_that_vary_are_refused_by_name():
    rows = torch.export.Dim("rows", min=2, max=100)
    with pytest.raises(ExportError, match="cond, whose graphs are for one size"):
        torch.export.export(Does(gradient), operands(torch, 1), dynamic_shapes={"args": ({0: rows}, None)})


def test_loops_beside_gradients():
    def function(x, p):
        p = p.clone().requires_grad_()
        _, steps = while_loop(lambda a, n: a.sum() > 1, lambda a, n: (a * 0.5, n + 1), (x.abs(), torch.tensor(0)))
        return torch.autograd.grad((p * steps).sin().sum(), [p])[0]
    graph = make_fx(function)(*operands(torch, 1))
    for factor, steps in ((1, 4), (5, 6)):
        p = genuine.linspace(1, 2, 3)
        check(graph(*operands(torch, factor)), [(steps * (p * steps).cos()).numpy()])


def test_gradients_through_a_loop_without_a_count_are_refused_by_name():
    def function(x, p):
        p = p.clone().requires_grad_()
        made, = while_loop(lambda a: a.sum() < 50, lambda a: (a * 1.5,), (x.abs() * p,))
        return torch.autograd.grad(made.sum(), [p])
    with pytest.raises(ExportError, match="while_loop_backward"):
        make_fx(function)(*operands(torch, 1))


def test_maps_over_slices():
    def function(x):
        return torch.vmap(lambda a: torch.cond(a.sum() > 0, lambda b: b.sin(), lambda b: b.cos(), (a,)))(x)
    graph = make_fx(function)(torch.linspace(-1, 2, 9).reshape(3, 3))
    x = torch.linspace(2, -2, 9).reshape(3, 3)
    wanted = [row.sin() if row.sum() > 0 else row.cos() for row in genuine.linspace(2, -2, 9).reshape(3, 3)]
    check(graph(x), [genuine.stack(wanted).numpy()])
