"""What waits over the peak of memory is made again where that is cheap: the same numbers in less memory."""
import numpy
import pytest

import dragon
from dragon.vm import torch
from dragon.vm.torch import nn

F = nn.functional


class Tower(nn.Module):
    """Layers whose activations the backward pass reads; some are looked at through views."""

    def __init__(self, activation, norm, width=64, depth=10):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) if norm else nn.Identity() for _ in range(depth))
        self.activation, self.last = activation, nn.Linear(width // 2, 1)

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = self.activation(norm(layer(x)))
        return self.last(x.view(2 * x.shape[0], -1)).square().mean()


def trained(activation, norm, wrap, steps=3):
    """Return the losses and the parameters after some steps, and what ran them."""
    torch.manual_seed(0)
    net = Tower(activation, norm)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(2048, 64)

    def step():
        optimizer.zero_grad()
        loss = net(x)
        loss.backward()
        optimizer.step()
        return loss.detach()
    run = wrap(step)
    losses = [run().item() for _ in range(steps)]
    return losses, [parameter.detach().numpy() for parameter in net.parameters()], run


def plan_of(function):
    return function.variants[0].compiled.forward


@pytest.mark.parametrize("activation, norm", [(torch.relu, True), (F.gelu, False), (torch.tanh, True), (F.silu, False)])
def test_steps_take_less_memory_and_come_to_the_same(activation, norm):
    losses, parameters, _ = trained(activation, norm, lambda step: step)
    mine, found, function = trained(activation, norm, dragon.function)
    without, kept, other = trained(activation, norm, lambda step: dragon.function(step, skip=["remake"]))
    numpy.testing.assert_allclose(mine, losses, rtol=1e-5)
    assert mine == without  # made again, the numbers are the same to the bit
    for one, same, wanted in zip(found, kept, parameters):
        assert (one == same).all()
        numpy.testing.assert_allclose(one, wanted, rtol=1e-3, atol=1e-6)
    assert plan_of(function).memory["planned"] < 0.9 * plan_of(other).memory["planned"]


def test_what_is_drawn_is_never_drawn_again():
    def dropped(x):
        return F.dropout(x, 0.5)
    torch.manual_seed(1)
    mine, _, function = trained(dropped, False, dragon.function)
    without, _, _ = trained(dropped, False, lambda step: dragon.function(step, skip=["remake"]))
    assert mine == without
    drawn = [call.op for call in plan_of(function).graph.calls if call.op == "native_dropout"]
    assert len(drawn) == 10


def test_what_the_program_holds_is_kept():
    """An activation that is a result is there anyway, and is read on the way back."""
    def run(wrap):
        torch.manual_seed(2)
        layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(12))
        x = torch.randn(2048, 64)

        def step():
            y, held = x, []
            for layer in layers:
                y = torch.relu(layer(y))
                held.append(y)
            y.square().mean().backward()
            return [item.detach() for item in held]
        function = wrap(step)
        for _ in range(2):
            for layer in layers:
                layer.weight.grad = None
            held = function()
        return [item.numpy() for item in held], [layer.weight.grad.numpy() for layer in layers]
    for mine, wanted in zip(run(dragon.function), run(lambda step: step)):
        for one, other in zip(mine, wanted):
            numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
