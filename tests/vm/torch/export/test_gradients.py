"""Gradients and maps over slices within graphs and exported programs: beside eager calls, and beside PyTorch's."""
import io

import numpy
import pytest

from dragon._C import op_names, schema
from dragon.vm import torch
from dragon.vm.torch.core.exporting.schemas import schema_of_engine
from dragon.vm.torch.fx.experimental.proxy_tensor import make_fx
from harness.subresults import each

genuine = pytest.importorskip("torch")


def wave(t, *shape):
    """Return numbers between -1 and 1."""
    count = int(numpy.prod(shape))
    return t.linspace(-4, 4, count).reshape(shape).sin()


def settled(t, module):
    """Return a module with parameters that are the same everywhere."""
    with t.no_grad():
        for place, parameter in enumerate(module.parameters()):
            parameter.copy_(wave(t, *parameter.shape) * 0.5 + 0.1 * place)
    return module


def slopes(t, loss, module, **named):
    """Return the gradients of a loss by a module's parameters."""
    return t.autograd.grad(loss, list(module.parameters()), **named)


def dense(t):
    n = t.nn
    return settled(t, n.Sequential(n.Linear(4, 8), n.GELU(), n.Linear(8, 8), n.Tanh(), n.Linear(8, 3)))


def entropy(t, x):
    return t.nn.functional.cross_entropy(x, t.tensor([0, 2, 1]))


def classified(t):
    module = dense(t)
    return lambda x: slopes(t, entropy(t, module(x)), module), wave(t, 3, 4)


def convolved(t):
    n = t.nn
    module = settled(t, n.Sequential(n.Conv2d(2, 4, 3, padding=1, stride=2), n.BatchNorm2d(4), n.ReLU(), n.MaxPool2d(2),
                                     n.Conv2d(4, 4, 1, groups=2), n.AvgPool2d(2), n.Flatten(), n.Linear(16, 3)))
    return lambda x: slopes(t, entropy(t, module(x)), module), wave(t, 3, 2, 16, 16)


def attended(t):
    module = settled(t, t.nn.MultiheadAttention(8, 2, batch_first=True))
    return lambda x: slopes(t, module(x, x, x)[0].square().mean(), module), wave(t, 3, 6, 8)


def encoded(t):
    module = settled(t, t.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0))
    return lambda x: slopes(t, module(x).square().mean(), module), wave(t, 3, 6, 8)


def remembered(t):
    cell = settled(t, t.nn.LSTMCell(4, 5))

    def call(x):
        h, c = cell(x * 2, cell(x))
        return slopes(t, (h * c).sum(), cell)
    return call, wave(t, 3, 4)


def looked_up(t):
    module = settled(t, t.nn.Sequential(t.nn.Embedding(7, 4, padding_idx=1), t.nn.LayerNorm(4), t.nn.Linear(4, 2)))
    return lambda i: slopes(t, module(i).square().sum(), module), t.tensor([[1, 2, 6], [0, 2, 2]])


def second(t):
    module = dense(t)

    def call(x):
        found = slopes(t, entropy(t, module(x)), module, create_graph=True)
        return slopes(t, sum(item.square().sum() for item in found), module)
    return call, wave(t, 3, 4)


def penalized(t):
    module = dense(t)

    def call(x):
        x = x.detach().requires_grad_(True)
        found, = t.autograd.grad(module(x).sum(), x, create_graph=True)
        (found.norm(dim=1) - 1).square().mean().backward()
        return [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    return call, wave(t, 3, 4)


def stepped(t):
    module = dense(t)

    def call(x):
        parameters = list(module.parameters())
        return [p - 0.1 * g for p, g in zip(parameters, slopes(t, entropy(t, module(x)), module))]
    return call, wave(t, 3, 4)


def by_function(make):
    return lambda t: (make(t), wave(t, 4))


def in_triangles(t):
    def call(x):
        x = x.clone().requires_grad_()
        low, high = t.tril_indices(3, 4, 1), t.triu_indices(3, 4, -1)
        loss = (x[low[0], low[1]] ** 2).sum() + x[high[0], high[1]].sin().sum()
        pairs = [t.combinations(x[0], 2), t.combinations(x[1], 2, with_replacement=True), t.combinations(x[2, :1], 2)]
        return t.autograd.grad(loss + sum((pair ** 2).prod(1).sum() for pair in pairs), [x])
    return call, wave(t, 3, 4)


PROGRAMS = {
    "triangles": in_triangles,
    "a classifier": classified, "convolutions": convolved, "attention": attended, "an encoder": encoded,
    "an LSTM cell": remembered, "an embedding": looked_up, "second gradients": second, "a penalty": penalized,
    "a step": stepped,
    "func.grad": by_function(lambda t: t.func.grad(lambda x: (x.sin() * x).sum())),
    "func.grad_and_value": by_function(lambda t: t.func.grad_and_value(lambda x: (x.exp() * x).sum())),
    "func.vjp": by_function(lambda t: lambda x: t.func.vjp(t.tanh, x)[1](x.cos())),
    "func.jvp": by_function(lambda t: lambda x: t.func.jvp(lambda y: t.softmax(y, 0), (x,), (x.cos(),))),
    "func.jacrev": by_function(lambda t: t.func.jacrev(lambda x: t.cumsum(x ** 2, 0))),
    "func.hessian": by_function(lambda t: t.func.hessian(lambda x: (x ** 3).sum())),
    "func.vmap": lambda t: (t.func.vmap(lambda row: t.softmax(row, 0) * row.sum()), wave(t, 3, 4)),
}


def flat(t, value):
    """Return the tensors in a structure as arrays."""
    return [numpy.array(item.detach().numpy()) for item in t.utils._pytree.tree_leaves(value)]


@each("name", list(PROGRAMS))
def test_graphs_give_what_the_program_gives_and_pytorch_s_does(name):
    wanted, argument = PROGRAMS[name](genuine)
    wanted = flat(genuine, wanted(argument))
    for mode in ("real", "fake"):
        call, argument = PROGRAMS[name](torch)
        graph = make_fx(call, tracing_mode=mode)(argument)
        again = make_fx(graph)(argument)
        for made in (graph, again):
            call, _ = PROGRAMS[name](torch)
            found = flat(torch, made(argument))
            assert len(found) == len(wanted)
            for one, other in zip(found, wanted):
                numpy.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)


def test_the_calls_are_pytorch_s_operators():
    call, argument = convolved(torch)
    targets = [str(node.target) for node in make_fx(call)(argument).graph.nodes if node.op == "call_function"]
    for wanted in ("aten.convolution_backward.default", "aten.native_batch_norm_backward.default",
                   "aten.threshold_backward.default", "aten.max_pool2d_with_indices_backward.default",
                   "aten.avg_pool2d_backward.default", "aten._log_softmax_backward_data.default"):
        assert wanted in targets
    assert not [target for target in targets if target.startswith("dragon.")]


def test_the_text_of_a_map_is_pytorch_s():
    def code(t, make):
        return make(t.func.vmap(lambda row: row.sin().sum()))(wave(t, 3, 4)).code
    from torch.fx.experimental.proxy_tensor import make_fx as make_genuine
    assert code(torch, make_fx) == code(genuine, make_genuine)


class Step(torch.nn.Module):
    """A loss and its gradients."""

    def __init__(self, picture):
        super().__init__()
        n = torch.nn
        self.net = settled(torch, n.Sequential(
            n.Conv2d(2, 4, 3, padding=1), n.BatchNorm2d(4), n.ReLU(), n.AdaptiveAvgPool2d(1), n.Flatten(),
            n.Linear(4, 3)) if picture else n.Sequential(n.Linear(4, 8), n.ReLU(), n.Linear(8, 3)))

    def forward(self, x, y):
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        return loss.detach(), *torch.autograd.grad(loss, list(self.net.parameters()))


@pytest.mark.parametrize("picture", [False, True])
def test_a_step_is_exported_for_all_batches(picture):
    def arguments(count):
        return wave(torch, count, *((2, 8, 8) if picture else (4,))), torch.arange(count) % 3
    batch = torch.export.Dim("batch")
    module = Step(picture)
    program = torch.export.export(module, arguments(5), dynamic_shapes=({0: batch}, {0: batch}))
    assert {spec.target for spec in program.graph_signature.input_specs} >= {"net.0.weight", "net.0.bias"}
    for count in (5, 11):
        for one, other in zip(program.module()(*arguments(count)), module(*arguments(count))):
            numpy.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_sizes_that_are_symbols_are_followed():
    module = dense(torch)

    def call(x):
        return slopes(torch, module(x).square().mean(), module)
    graph = make_fx(call, tracing_mode="symbolic")(wave(torch, 3, 4))
    for one, other in zip(graph(wave(torch, 9, 4)), call(wave(torch, 9, 4))):
        numpy.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_gradients_accumulate_where_there_are_some():
    weight = wave(torch, 4).requires_grad_(True)

    def call(x):
        (x * weight).sum().backward()
        return weight.grad
    weight.grad = torch.ones(4)
    graph = make_fx(call)(wave(torch, 4))
    assert weight.grad.tolist() == [1, 1, 1, 1]
    for count in (1, 2):
        graph(torch.full((4,), 2.0))
        assert weight.grad.tolist() == [1 + 2 * count] * 4


def test_a_gradient_follows_weights_that_change():
    class Slope(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        def forward(self, x):
            x = x.detach().requires_grad_(True)
            return torch.autograd.grad(self.layer(x).sum(), x)[0]
    module = Slope()
    run = torch.export.export(module, (torch.ones(2, 3),)).module()
    with torch.no_grad():
        for one in (run, module):
            for parameter in one.parameters():
                parameter.fill_(2.0)
    assert run(torch.ones(2, 3)).tolist() == module(torch.ones(2, 3)).tolist() == [[4.0] * 3] * 2


def test_the_program_s_own_handlers_do_not_catch_the_second_run():
    def call(x):
        try:
            return torch.func.grad(lambda y: y.sin().sum())(x)
        except Exception:
            return x
    assert torch.equal(make_fx(call)(wave(torch, 4))(wave(torch, 4)), wave(torch, 4).cos())


def test_decisions_by_sizes_of_what_was_computed_are_told():
    def call(x):
        x = x.detach().requires_grad_(True)
        y = x[1:] * 2
        if y.shape[0] > 3:
            y = y + 1
        return torch.autograd.grad(y.square().sum(), x)[0]
    with pytest.raises(RuntimeError, match="decides by the size of a tensor that it computed"):
        make_fx(call, tracing_mode="symbolic")(wave(torch, 6, 2))


def test_maps_and_gradients_of_slices_among_sizes_that_vary():
    row = torch.func.vmap(torch.func.grad(lambda y: (y.sin() * y).sum()))

    def call(x):
        return row(x), torch.func.vmap(lambda y: torch.softmax(y, 0))(x)
    graph = make_fx(call, tracing_mode="symbolic")(wave(torch, 3, 4))
    for count in (4, 7):
        for one, other in zip(graph(wave(torch, 3, count)), call(wave(torch, 3, count))):
            numpy.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-6)


def test_what_pytorch_has_no_name_for_is_saved_and_loaded():
    class Slopes(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = settled(torch, torch.nn.Sequential(
                torch.nn.Linear(4, 8), torch.nn.Softsign(), torch.nn.GroupNorm(2, 8)))

        def forward(self, x):
            return slopes(torch, self.net(x).square().mean(), self.net)
    module, x = Slopes(), wave(torch, 2, 4)
    program, file = torch.export.export(module, (x,)), io.BytesIO()
    assert "torch.ops.dragon.softsign_backward.default" in program.graph_module.code
    torch.export.save(program, file)
    file.seek(0)
    for one, other in zip(torch.export.load(file).module()(x), module(x)):
        numpy.testing.assert_allclose(one.detach().numpy(), other.numpy(), rtol=1e-5, atol=1e-7)


def test_every_operator_of_the_engine_says_what_it_takes_in_pytorch_s_words():
    for name in op_names():
        found, own = schema_of_engine(name), schema(name)["arguments"]
        assert [one.name for one in found.arguments] == [one["name"] for one in own]
        assert [one.is_write for one in found.arguments] == [one["mutated"] for one in own]


def test_a_step_of_an_optimizer():
    def losses(wrap):
        net = settled(torch, torch.nn.Linear(3, 2))
        optimizer = torch.optim.SGD(net.parameters(), 0.1)

        def train(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()
        run = wrap(train)
        with torch.set_grad_enabled(run is train):
            return [run(torch.ones(4, 3)).item() for _ in range(3)]
    numpy.testing.assert_allclose(losses(lambda step: make_fx(step)(torch.ones(4, 3))), losses(lambda step: step),
                                  rtol=1e-5)


def test_numbers_are_drawn_in_the_program_s_order():
    def call(x):
        x = x.detach().requires_grad_(True)
        return torch.autograd.grad((torch.nn.functional.dropout(x) * torch.rand(8) * torch.randn(8)).sum(), x)[0]
    graph, found = make_fx(call)(torch.ones(8)), []
    for run in (graph, call):
        torch.manual_seed(3)
        found.append(run(torch.ones(8)).tolist())
    assert found[0] == found[1]


def test_jacobians_of_autograd():
    graph = make_fx(lambda x: torch.autograd.functional.jacobian(torch.sin, x))(torch.ones(2))
    assert torch.allclose(graph(wave(torch, 2)), torch.diag(wave(torch, 2).cos()))


@pytest.mark.parametrize("places", [
    lambda t, x: t.tril_indices(100_000, 100_000), lambda t, x: t.triu_indices(10 ** 9, 2),
    lambda t, x: t.combinations(x, 6), lambda t, x: t.combinations(x, 10 ** 9, with_replacement=True)])
def test_places_beyond_what_is_written_down_are_refused(places):
    """At once: they would fill the memory."""
    def call(x):
        return torch.autograd.grad((x * places(torch, x).sum()).sum(), [x])
    with pytest.raises(RuntimeError, match="depends on numbers|expected 0 to 64"):
        make_fx(call)(torch.ones(300, requires_grad=True))
