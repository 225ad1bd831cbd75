"""A call captured at one size of its batch runs at every size, without its Python code."""
import copy

import pytest

from dragon import _C
from dragon.vm import torch
from dragon.vm.torch import nn


def capture(function, arguments, phantom=False):
    """Return what a call does; a phantom one computes nothing."""
    trace = _C.Trace()
    for argument in arguments:
        trace.add_input(argument)
    before = _C.set_phantom(phantom)
    trace.start()
    try:
        result = function(*arguments)
    finally:
        trace.stop()
        _C.set_phantom(before)
    assert trace.failure is None
    captured = trace.finish([result])
    if phantom:
        trace.restore_gradients()
    return captured


def generalize(function, x, differentiate=True):
    """Return the call for every size of the first axis of x."""
    shapes = [(size, *x.shape[1:]) for size in (5, 14)]
    samples = [(capture(function, [x]), x.shape[0])]
    samples += [(capture(function, [_C.phantom_like(x, shape)], True), shape[0]) for shape in shapes]
    return _C.unify(samples, differentiate)


def make_net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))


def test_values_statistics_and_gradients_at_other_sizes():
    net = make_net()

    def function(x):
        return (net(x) / x.shape[0]).log_softmax(-1)

    symbolic = generalize(function, torch.randn(8, 1, 8, 8))
    twin = copy.deepcopy(net)
    for size in (3, 5, 11, 8):
        x = torch.randn(size, 1, 8, 8)
        result, = symbolic.compile_at(size).run([x])
        expected = (twin(x) / size).log_softmax(-1)
        assert torch.equal(result, expected)
        result[:, 0].sum().backward()
        expected[:, 0].sum().backward()
        for mine, other in zip(net.parameters(), twin.parameters()):
            assert torch.equal(mine.grad, other.grad)
        for mine, other in zip(net.buffers(), twin.buffers()):
            assert torch.equal(mine, other)


def test_a_whole_step_leaves_no_phantom_gradients():
    net = make_net()
    optimizer = torch.optim.Adam(net.parameters())

    def step(x):
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    x = torch.randn(8, 1, 8, 8)
    step(x)
    symbolic = generalize(step, x, differentiate=False)
    twin, twin_optimizer = copy.deepcopy((net, optimizer))
    x = torch.randn(3, 1, 8, 8)
    loss, = symbolic.compile_at(3).run([x])
    twin_optimizer.zero_grad()
    expected = twin(x).pow(2).mean()
    expected.backward()
    twin_optimizer.step()
    assert torch.equal(loss, expected)
    for mine, other in zip(net.parameters(), twin.parameters()):
        assert torch.equal(mine, other) and torch.equal(mine.grad, other.grad)


@pytest.mark.parametrize("function", [
    lambda x: x * (1.0 / x.shape[0]), lambda x: x.reshape(-1)[:x.shape[0] ** 2],
    lambda x: x[:min(x.shape[0], 6)], lambda x: x * 2 if x.shape[0] > 6 else x + 1])
def test_what_is_not_linear_in_the_size_is_refused(function):
    with pytest.raises(ValueError, match="batch"):
        generalize(function, torch.randn(8, 200))


def test_the_graph_tells_which_sizes_follow_the_batch():
    graph = generalize(lambda x: x.reshape(x.shape[0] * 2, 3), torch.randn(8, 6)).graph
    assert list(graph.symbols) == ["batch"]
    assert "2*batch" in graph.str()


def test_one_graph_of_a_whole_step_serves_all_sizes():
    """With a schedule on, gradients that come and go, and a short last batch."""
    def train(wrap):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(10, 32), nn.Dropout(0.2), nn.ReLU(), nn.Linear(32, 3))
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)

        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step, losses = wrap(step), []
        for size in (16, 16, 16, 16, 7, 5, 16, 9, 3, 12, 16, 2):
            losses.append(step(torch.randn(size, 10), torch.randint(0, 3, (size,))).item())
            schedule.step()
        return step, losses, [parameter.grad.clone() for parameter in net.parameters()]

    step, losses, grads = train(torch.compile)
    _, wanted, wanted_grads = train(lambda function: function)
    assert losses == wanted
    assert all(map(torch.equal, grads, wanted_grads))
    assert "1 graphs" in step.explain()
