"""Attention written by hand, with its gradient: compiled training holds no scores, and its gradients are the same."""
import math

import numpy
import pytest

import dragon
from dragon.core.capture.function import Function
from dragon.vm import torch
from harness.subresults import each

BATCH, HEADS, LENGTH, WIDTH = 2, 3, 9, 8
HIDDEN = torch.rand(LENGTH, LENGTH) > 0.6
HIDDEN[:, 0] = False
LATER = torch.triu(torch.ones(LENGTH, LENGTH), 1).bool()
MASK = torch.randn(LENGTH, LENGTH)


def operands(shape=(BATCH, HEADS, LENGTH, WIDTH), keys=None, values=None, dtype="float32"):
    draw = numpy.random.default_rng(0)
    shapes = shape, keys or shape, values or keys or shape
    return [torch.tensor(draw.normal(size=each)).to(getattr(torch, dtype)).requires_grad_() for each in shapes]


def divided(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(WIDTH), -1) @ v


def hidden(q, k, v):
    scores = (q @ k.transpose(-2, -1) * 0.4).masked_fill(HIDDEN, float("-inf"))
    return torch.nn.functional.softmax(scores, dim=-1) @ v


def chosen(q, k, v):
    scores = torch.where(~LATER, q @ k.mT * 0.4, float("-inf"))
    return torch.softmax(scores, 3) @ v


def added(q, k, v):
    return torch.softmax(MASK.to(q.dtype) + 0.4 * (q @ k.mT), -1) @ v


def scaled_before(q, k, v):
    return torch.matmul(torch.softmax(torch.matmul(q * 0.3, k.permute(0, 1, 3, 2)), -1), v)


def plain(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v


def three_axes(q, k, v):
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    return torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) * 0.4, -1), v)


def without_dropout(q, k, v):
    weights = torch.nn.functional.dropout(torch.softmax(q @ k.mT * 0.4, -1), 0.0)
    return (weights @ v).transpose(1, 2).reshape(q.shape[0], q.shape[2], -1)


FORMULAS = [divided, hidden, chosen, added, scaled_before, plain, three_axes, without_dropout]


def weights_too(q, k, v):
    weights = torch.softmax(q @ k.mT, -1)
    return (weights @ v).sum() + weights.square().sum()


def over_queries(q, k, v):
    return torch.softmax(q @ k.mT, -2) @ v


def dropped(q, k, v):
    return torch.nn.functional.dropout(torch.softmax(q @ k.mT, -1), 0.5) @ v


def scores_read(q, k, v):
    scores = q @ k.mT
    return torch.softmax(scores, -1) @ v + scores.amax()


def values_only(q, k, v):
    return torch.softmax(q.detach() @ k.detach().mT, -1) @ v


def learned_mask(q, k, v):
    return torch.softmax(q @ k.mT + q[..., :1], -1) @ v


def another_slope(q, k, v):
    scores = q @ k.mT
    return torch.softmax(torch.where(scores > 0, scores, scores * 0.1), -1) @ v


OTHERS = [weights_too, over_queries, dropped, scores_read, values_only, learned_mask, another_slope]


def calls_of(function):
    """Return the operators that a compiled function's plans run."""
    inner = next(cell.cell_contents for cell in (function.__closure__ or ()) if isinstance(cell.cell_contents, Function)
                 ) if not isinstance(function, Function) else function
    plans = inner.variants[0].compiled
    return [call.op for plan in (plans.forward, plans.backward) if plan is not None for call in plan.graph.calls]


def differentiate(call, tensors):
    torch.manual_seed(3)  # not within the call: seeding a generator is no part of a graph
    y = call(*tensors)
    y = y[0] if isinstance(y, tuple) else y
    weight = torch.cos(torch.arange(y.numel()).to(y.dtype)).reshape(y.shape)
    grads = torch.autograd.grad((y * weight).sum(), tensors, allow_unused=True)
    return [y.detach()] + [torch.zeros(1) if grad is None else grad for grad in grads]


def check(formula, tensors, tolerance=2e-5):
    """Check results and gradients; returns the operators that were run."""
    compiled = torch.compile(formula)
    for mine, eager in zip(differentiate(compiled, tensors), differentiate(formula, tensors)):
        assert mine.dtype == eager.dtype and mine.shape == eager.shape
        numpy.testing.assert_allclose(mine.double().numpy(), eager.double().numpy(), rtol=tolerance, atol=tolerance)
    return calls_of(compiled)


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_are_found(formula):
    found = check(formula, operands())
    assert found.count("attention") == found.count("attention_backward") == 1
    assert "softmax" not in found and "softmax_backward" not in found


@pytest.mark.parametrize("formula", OTHERS)
def test_other_formulas_stay(formula):
    assert "attention" not in check(formula, operands())


@each("formula", [divided, added, three_axes])
@each("dtype, tolerance", [("float64", 1e-12), ("float16", 1e-2), ("bfloat16", 6e-2)])
def test_other_dtypes(formula, dtype, tolerance):
    found = check(formula, operands(dtype=dtype), tolerance)
    assert "attention_backward" in found


@pytest.mark.parametrize("queries, keys, values", [
    ((2, 3, 5, 8), (2, 3, 12, 8), (2, 3, 12, 8)), ((2, 3, 12, 8), (2, 3, 5, 8), (2, 3, 5, 4)),
    ((1, 1, 1, 8), (1, 1, 1, 8), (1, 1, 1, 8)), ((1, 2, 300, 16), (1, 2, 300, 16), (1, 2, 300, 16)),
    ((2, 0, 5, 8), (2, 0, 5, 8), (2, 0, 5, 8)), ((0, 3, 5, 8), (0, 3, 5, 8), (0, 3, 5, 8))])
def test_other_shapes(queries, keys, values):
    """More keys than queries and the other way round, one of each, many, and none."""
    check(divided, operands(queries, keys, values), 1e-4)


def test_shapes_that_broadcast_stay():
    for shapes in (((2, 3, 5, 8), (1, 3, 5, 8), (2, 3, 5, 8)), ((2, 3, 5, 8), (2, 3, 5, 8), (3, 5, 8))):
        assert "attention" not in check(divided, operands(*shapes))


@pytest.mark.parametrize("formula", [hidden, added])
def test_a_query_that_sees_nothing_is_nan_as_in_the_formula(formula, monkeypatch):
    seen_by_none = HIDDEN.clone()
    seen_by_none[4] = True
    monkeypatch.setitem(globals(), "HIDDEN", seen_by_none)
    monkeypatch.setitem(globals(), "MASK", torch.where(seen_by_none, -float("inf"), MASK))
    tensors = operands()
    compiled = torch.compile(formula)
    for mine, eager in zip(differentiate(compiled, tensors), differentiate(formula, tensors)):
        numpy.testing.assert_array_equal(numpy.isnan(mine.numpy()), numpy.isnan(eager.numpy()))
    assert "attention_backward" in calls_of(compiled)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e30])
def test_numbers_beyond_measure(number):
    tensors = operands()
    with torch.no_grad():
        tensors[1][0, 1, 2, 3] = number
    for mine, eager in zip(differentiate(torch.compile(divided), tensors), differentiate(divided, tensors)):
        numpy.testing.assert_array_equal(numpy.isnan(mine.numpy()), numpy.isnan(eager.numpy()))


def test_the_result_may_be_written():
    """The formula's gradient does not read what it made."""
    found = []
    for call in (divided, three_axes, torch.compile(divided), torch.compile(three_axes)):
        tensors = operands()
        y = call(*tensors)
        y.mul_(2)
        found.append(torch.autograd.grad(y.sum(), tensors))
    for eager, mine in ((found[0], found[2]), (found[1], found[3])):
        for one, other in zip(mine, eager):
            numpy.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


class Net(torch.nn.Module):
    """Two blocks of attention by hand."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.projections = torch.nn.ModuleList(torch.nn.Linear(width, 3 * width) for _ in range(2))

    def forward(self, x):
        batch, length, width = x.shape
        later = torch.triu(torch.ones(length, length), 1).bool()
        for projection in self.projections:
            q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                       for part in projection(x).split(width, -1))
            scores = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).masked_fill(later, float("-inf"))
            weights = torch.nn.functional.dropout(torch.softmax(scores, -1), 0.0, self.training)
            x = x + (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return x


def train(compiled, length, steps=3):
    """Return the peak of a step in MiB, the gradients, and the operators that were run."""
    torch.manual_seed(0)
    net, x = Net(), torch.randn(2, length, 32)
    called = torch.compile(net) if compiled == "model" else net

    def step():
        net.zero_grad()
        loss = called(x).square().mean()
        loss.backward()
        return loss

    run = torch.compile(step) if compiled == "step" else step
    for _ in range(steps):
        run()
    net.zero_grad()
    before = dragon.memory_stats()["current"]
    dragon.reset_peak_memory()
    run()
    peak = (dragon.memory_stats()["peak"] - before) / 2 ** 20
    return peak, [parameter.grad.numpy() for parameter in net.parameters()]


@pytest.mark.parametrize("compiled", ["model", "step"])
def test_a_net_holds_no_scores(compiled):
    eager, wanted = train("", 512)
    peak, grads = train(compiled, 512)
    assert eager > 10 and peak < 0.4 * eager
    for mine, other in zip(grads, wanted):
        numpy.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-6)


def test_the_pass_can_be_left_out():
    graph = dragon._C.Graph()
    q, k, v, dy = (graph.add_input((1, 2, 5, 4), "float32") for _ in range(4))
    turned, = graph.add_call("transpose", [k], axis0=-1, axis1=-2)
    weights, = graph.add_call("softmax", graph.add_call("matmul", [q, turned]))
    y, = graph.add_call("matmul", [weights, v])
    dweights, = graph.add_call("matmul", [dy, *graph.add_call("transpose", [v], axis0=-1, axis1=-2)])
    dv, = graph.add_call("matmul", [*graph.add_call("transpose", [weights], axis0=-1, axis1=-2), dy])
    slope, = graph.add_call("softmax_backward", [dweights, weights], axis=-1)
    dq, = graph.add_call("matmul", [slope, k])
    dk, = graph.add_call("matmul", [*graph.add_call("transpose", [q], axis0=-1, axis1=-2), slope])
    graph.outputs = [y, dq, dk, dv]
    found, left = graph.copy(), graph.copy()
    dragon._C.optimize(found, 3, set(), verify=True)
    dragon._C.optimize(left, 3, {"find_attention_gradient"}, verify=True)
    names = [[call.op for call in after.calls] for after in (found, left)]
    assert "attention_backward" in names[0] and "softmax" not in names[0]
    assert "attention_backward" not in names[1] and "softmax" in names[1]
    feeds = [dragon.tensor(numpy.random.default_rng(seed).normal(size=(1, 2, 5, 4)).astype("float32"))
             for seed in range(4)]
    for mine, other in zip(dragon._C.Plan(found, 0).run(feeds), dragon._C.Plan(graph, 0).run(feeds)):
        numpy.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-4, atol=1e-6)
