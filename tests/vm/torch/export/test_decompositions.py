"""Functions in core operators, beside PyTorch's `run_decompositions`."""
import numpy
import pytest

from dragon.vm import torch
from harness.subresults import each

genuine = pytest.importorskip("torch")

# The same operators in the same order, and the same numbers.
SAME = {
    "activations": lambda t, x, y: [f(x) for f in (
        t.nn.functional.celu, t.nn.functional.selu, t.nn.functional.elu, t.nn.functional.hardswish,
        t.nn.functional.hardsigmoid, t.nn.functional.softplus, t.nn.functional.mish, t.nn.functional.logsigmoid,
        t.nn.functional.softshrink, t.nn.functional.hardshrink, t.nn.functional.glu, t.nn.functional.softsign,
        t.nn.functional.tanhshrink, t.nn.functional.relu6)] + [t.nn.functional.threshold(x, 0.0, 1.0)],
    "reductions": lambda t, x, y: (x.sum(), x.std(1), x.var(1), (x > 0).all(1), t.count_nonzero(x, 1), x.nansum(1),
                                   t.aminmax(x, dim=1), t.trace(y)),
    "losses": lambda t, x, y: [f(x, x.sin()) for f in (
        t.nn.functional.mse_loss, t.nn.functional.l1_loss, t.nn.functional.smooth_l1_loss,
        t.nn.functional.huber_loss)] + [
            t.nn.functional.soft_margin_loss(x, x.sign()),
            t.nn.functional.binary_cross_entropy_with_logits(x, t.sigmoid(x))],
    "factories": lambda t, x, y: (t.zeros(2, 3) + y[0, 0], t.ones(2) + y[0, 0], t.zeros_like(x), t.ones_like(x),
                                  x.new_zeros(3), x.new_ones(3), x.new_full((3,), 2.0), t.arange(4) + y[0, 0]),
    "choices": lambda t, x, y: (x.masked_fill(x > 0, 1.0), t.where(x > 0, x, 0.0), x.clamp_min(0), x.clamp(max=1)),
    "arithmetic": lambda t, x, y: (t.addcmul(x, x, x, value=2), t.addcdiv(x, x, x + 5), t.rad2deg(x), x.frac(),
                                   t.isfinite(x), t.dot(y[0], y[1]), t.outer(y[0], y[1]),
                                   t.baddbmm(x[:, :1, :3], x, x.transpose(1, 2))),
    "shapes": lambda t, x, y: (x.unsqueeze(1).squeeze(), x.unsqueeze(1).squeeze(1), t.nn.functional.pad(x, (1, 2)),
                               t.hstack([x, x]), t.vstack([x, x]), t.tile(x, (2,)), x.ravel(), x.swapaxes(0, 1)),
    "layers": lambda t, x, y: (t.nn.functional.rms_norm(x, (4,)), t.nn.functional.prelu(x, y[0, :1]),
                               t.nn.functional.conv_transpose1d(x, x[0][:, None]),
                               t.nn.functional.local_response_norm(x[None], 2)),
    "products": lambda t, x, y: (
        x @ y, x.transpose(0, 1) @ y, x.expand(2, 2, 3, 4) @ x.transpose(1, 2), x @ y[0], y[0, :3] @ x,
        y @ y[0], t.nn.functional.linear(x, y, y[0]), t.nn.functional.linear(x.transpose(0, 1), y, y[0]),
        t.nn.functional.linear(x[:, 1:], y), t.nn.functional.linear(x[:, 0], y, y[0]),
        t.nn.functional.linear(y[0], y, y[1])),
    "reshapes": lambda t, x, y: (x.transpose(0, 1).reshape(-1), x.transpose(0, 1).reshape(3, 2, 2, 2),
                                 x.transpose(0, 1).flatten(), x[:, :2].reshape(4, -1)),
    "parts from the end": lambda t, x, y: (x.narrow(1, -2, 2), x.narrow(-1, -3, 1)),
}
# Layers over steps: (class, settings).
RECURRENT = [("RNN", {}), ("RNN", {"nonlinearity": "relu", "num_layers": 2}), ("LSTM", {}), ("GRU", {}),
             ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True}), ("LSTM", {"proj_size": 2}),
             ("GRU", {"bias": False, "batch_first": True}), ("GRU", {"num_layers": 2, "bidirectional": True}),
             ("LSTM", {"num_layers": 2, "proj_size": 2, "bidirectional": True, "bias": False})]
# The same numbers.
ALIKE = {
    "parts": lambda t, x, y: (t.tensor_split(x, 2, 2), t.tensor_split(x, [1], 1), t.take_along_dim(y, y.argsort(0), 0),
                              t.tensordot(x, x, dims=([2], [2])), t.cartesian_prod(y[0], y[1])),
    "pixels": lambda t, x, y: (t.nn.functional.pixel_unshuffle(x[:, :2], 2), t.nn.functional.pixel_shuffle(
        t.nn.functional.pixel_unshuffle(x[:, :2], 2), 2)),
    "losses": lambda t, x, y: (t.nn.functional.margin_ranking_loss(x, x + 1, x.sign()),
                               t.nn.functional.smooth_l1_loss(x, x + 2, reduction="none", beta=0.5)),
}


def made(t, function):
    class Does(t.nn.Module):
        def forward(self, x, y):
            return function(t, x, y)
    return Does()


def arguments(t):
    return t.linspace(-2, 2.1, 24).reshape(2, 3, 4), t.linspace(-1, 1.3, 16).reshape(4, 4)


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]


def operators(program):
    return [str(node.target) for node in program.graph.nodes
            if node.op == "call_function" and "getitem" not in str(node.target)]


def decomposed(t, function):
    return t.export.export(made(t, function), arguments(t)).run_decompositions()


@each("name", SAME)
@pytest.mark.long("many programs are exported and taken apart, by genuine PyTorch as well")
def test_operators_and_numbers(name):
    mine, theirs = decomposed(torch, SAME[name]), decomposed(genuine, SAME[name])
    assert operators(mine) == operators(theirs)
    for one, another in zip(leaves(mine.module()(*arguments(torch))), leaves(theirs.module()(*arguments(genuine)))):
        numpy.testing.assert_allclose(one.numpy(), another.numpy(), rtol=2e-5, atol=1e-6)
        assert str(one.dtype) == str(another.dtype)


@pytest.mark.parametrize("name", ALIKE)
def test_numbers(name):
    mine = leaves(decomposed(torch, ALIKE[name]).module()(*arguments(torch)))
    for one, another in zip(mine, leaves(made(genuine, ALIKE[name])(*arguments(genuine)))):
        numpy.testing.assert_allclose(one.numpy(), another.numpy(), rtol=2e-5, atol=1e-6)


def network(t, name, settings):
    made = getattr(t.nn, name)(4, 5, **settings).eval()
    with t.no_grad():
        for place, parameter in enumerate(made.parameters()):
            parameter.copy_(t.linspace(-1, 1, parameter.numel()).reshape(parameter.shape).sin() + 0.1 * place)
    return made


@each("name, settings", RECURRENT)
@pytest.mark.long("recurrent networks are taken apart into hundreds of steps, by genuine PyTorch as well")
def test_recurrent_networks_become_steps(name, settings):
    mine, theirs = (t.export.export(network(t, name, settings), arguments(t)[:1]).run_decompositions()
                    for t in (torch, genuine))
    assert operators(mine) == operators(theirs)
    for one, another in zip(leaves(list(mine.module()(*arguments(torch)[:1]))),
                            leaves(list(theirs.module()(*arguments(genuine)[:1])))):
        numpy.testing.assert_allclose(one.detach().numpy(), another.detach().numpy(), rtol=2e-5, atol=1e-6)


def test_steps_that_vary_stay_one_operator():
    steps = {"input": {0: torch.export.Dim("steps", min=2, max=50)}}
    program = torch.export.export(network(torch, "GRU", {}), arguments(torch)[:1], dynamic_shapes=steps)
    assert "aten.gru.input" in operators(program.run_decompositions())
