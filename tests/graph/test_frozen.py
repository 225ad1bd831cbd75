"""Inference over parameters takes them for constants, and notices every write to them."""
import numpy
import pytest

import dragon
from dragon import _C
from dragon.vm import torch
from dragon.vm.torch import nn


def make_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 1)).eval()


def compile_net(net, x):
    trace = _C.Trace()
    trace.add_input(x)
    with torch.no_grad():
        trace.start()
        result = net(x)
        trace.stop()
        return trace.finish([result]).compile()


def write_through_numpy(net):
    net[0].weight.detach().numpy()[0] += 1.0


WRITES = {
    "in place": lambda net: net[3].bias.add_(1.0),
    "by data": lambda net: net[0].weight.data.mul_(0.5),
    "by a view": lambda net: net[0].weight[0].fill_(0.25),
    "another memory": lambda net: setattr(net[0].weight, "data", torch.randn(8, 3, 3, 3)),
    "statistics": lambda net: net[1].running_mean.fill_(0.5),
    "a state dict": lambda net: net.load_state_dict({name: value + 0.25 for name, value in net.state_dict().items()}),
    "through NumPy": write_through_numpy,
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_seen(write):
    net, x = make_net(), torch.randn(2, 3, 8, 8)
    compiled = compile_net(net, x)
    with torch.no_grad():
        for _ in range(2):
            assert torch.allclose(compiled.run([x])[0], net(x), atol=1e-5)
        assert [report[0] for report in compiled.reports].count("pack_weights") == 2  # once more, with constants
        WRITES[write](net)
        for _ in range(2):
            assert torch.allclose(compiled.run([x])[0], net(x), atol=1e-5)


def test_parameters_that_change_at_every_call_stay_inputs():
    net, x = make_net(), torch.randn(2, 3, 8, 8)
    compiled = compile_net(net, x)
    with torch.no_grad():
        for _ in range(8):
            net[3].weight.mul_(0.9)
            assert torch.allclose(compiled.run([x])[0], net(x), atol=1e-5)


def test_memory_lent_before_is_never_frozen():
    weight = numpy.ones((64, 64), numpy.float32)
    w, x = dragon.from_numpy(weight), dragon.ones((2, 64))
    trace = _C.Trace()
    trace.add_input(x)
    trace.start()
    result = dragon.math.matmul(x, w)
    trace.stop()
    compiled = trace.finish([result]).compile()
    for number in (1.0, 2.0):
        weight[:] = number
        assert compiled.run([x])[0].numpy()[0, 0] == 64 * number
