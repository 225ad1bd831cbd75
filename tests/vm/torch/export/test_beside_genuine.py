"""Exported programs beside PyTorch's: the same nodes, signatures and results, and files that each reads."""
import io
import warnings

import pytest

from dragon.vm import torch
from harness.subresults import each

genuine = pytest.importorskip("torch")
pytest.importorskip("torch.export")

CALLS = {
    "activations": lambda t, x, y: [f(y) for f in (
        t.nn.functional.relu, t.nn.functional.silu, t.nn.functional.elu, t.nn.functional.hardtanh, t.tanh,
        t.nn.functional.gelu, t.nn.functional.softplus, t.nn.functional.mish, t.nn.functional.glu)],
    "arithmetic": lambda t, x, y: (1 - y, 2 / y, y ** 2, y // 2, y % 2, 2 ** y, -y, y @ y.t(), y + 1.5, 3 * y),
    "logic": lambda t, x, y: ~((y > 0) | (y < 1)) & (y != 2),
    "subscripts": lambda t, x, y: (y[0], y[:, 1], y[1:], y[..., None], y[:, ::2], x[0, :, 1:3], y[-1], y[:, None]),
    "index tensors": lambda t, x, y: (y[:, t.tensor([0, 1])], y.index_select(0, t.tensor([1]))),
    "shapes": lambda t, x, y: (y.reshape(-1), x.transpose(1, 2), x.permute(0, 2, 1, 3).contiguous(), y.T,
                               x.unsqueeze(0), x.unbind(1), y.expand(3, 2, 4), y.flatten(), y.unflatten(1, (2, 2))),
    "parts": lambda t, x, y: (x.chunk(2, 1), t.split(y, 1), t.split(y, [1, 3], 1), t.stack([y, y]), t.cat([y, y], -1)),
    "reductions": lambda t, x, y: (y.sum(), y.sum(1), y.mean(-1, keepdim=True), y.amax(1), y.norm(), y.std(0),
                                   y.var(), y.logsumexp(1), t.norm(y, dim=1)),
    "dtypes": lambda t, x, y: (y.to(t.int32), y.double(), y.half(), y.type_as(y.long())),
    "factories": lambda t, x, y: (t.zeros(2, 3), t.full((2, 2), 3.0), t.arange(4), t.zeros_like(y), y.new_zeros(3)),
    "pictures": lambda t, x, y: (t.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
                                 t.nn.functional.interpolate(x, size=(7, 5)), t.nn.functional.max_pool2d(x, 2),
                                 t.nn.functional.adaptive_avg_pool2d(x, 1), t.nn.functional.pad(y, (1, 1))),
    "losses of signs": lambda t, x, y: (
        t.nn.functional.soft_margin_loss(y, y.sign(), reduction="sum"),
        t.nn.functional.hinge_embedding_loss(y, y.sign(), 2.0, reduction="none"),
        t.nn.functional.margin_ranking_loss(y, y + 1, y.sign(), 0.1, reduction="sum"),
        t.nn.functional.cosine_embedding_loss(y, y + 1, y[:, 0].sign(), 0.1),
        t.nn.functional.triplet_margin_loss(y, y + 1, y * 2, swap=True, reduction="none"),
        t.nn.functional.poisson_nll_loss(y, y + 1, full=True), t.nn.functional.multilabel_margin_loss(y, y.long()),
        t.nn.functional.multilabel_soft_margin_loss(y, y, reduction="none"),
        t.nn.functional.kl_div(y, y.abs() + 1, reduction="batchmean")),
    "functions of several operators": lambda t, x, y: (
        t.nn.functional.embedding_bag(y.long().abs() % 2, y, mode="sum"), t.nn.functional.local_response_norm(x, 2),
        t.nn.functional.max_unpool1d(*t.nn.functional.max_pool1d(y, 2, return_indices=True), 2),
        t.nn.functional.fractional_max_pool2d(x, 2, output_size=2, _random_samples=x[:, :, 0, :2].sigmoid())),
    "losses": lambda t, x, y: (t.nn.functional.cross_entropy(y, y.argmax(1)), t.nn.functional.mse_loss(y, y + 1)),
    "attention": lambda t, x, y: t.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True),
    "normalization": lambda t, x, y: (t.nn.functional.layer_norm(y, (4,)), t.nn.functional.normalize(y)),
    "written": lambda t, x, y: (t.nn.functional.relu(y.clone(), inplace=True), y.clone().mul_(2).sub_(1).zero_()),
    "choices": lambda t, x, y: (t.where(y > 0, y, 0.0), y.masked_fill(y > 0, -1.0), y.clamp(0, 1), y.clamp(min=0)),
    "sorted": lambda t, x, y: (y.argsort(), y.cumsum(0), t.gather(y, 1, y.argmax(1, keepdim=True))),
    "einsum": lambda t, x, y: t.einsum("abcd,abed->abce", x, x),
}
LAYERS = {
    "dense": lambda t: (t.nn.Sequential(t.nn.Linear(4, 8), t.nn.ReLU(), t.nn.Linear(8, 2)), (2, 4)),
    "convolutional": lambda t: (t.nn.Sequential(
        t.nn.Conv2d(2, 3, 3, padding=1), t.nn.BatchNorm2d(3), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(),
        t.nn.Linear(12, 2)).eval(), (2, 2, 4, 4)),
    "trained": lambda t: (t.nn.Sequential(t.nn.Conv2d(2, 3, 3), t.nn.BatchNorm2d(3)), (2, 2, 4, 4)),
    "others": lambda t: (t.nn.Sequential(t.nn.GroupNorm(1, 2), t.nn.Upsample(scale_factor=2), t.nn.PReLU(),
                                         t.nn.Softmax(1)), (2, 2, 4, 4)),
    "recurrent": lambda t: (t.nn.GRU(4, 3), (1, 2, 4)),
}


def make_module(t, function):
    """Return a module of a function."""
    class Called(t.nn.Module):
        def forward(self, x, y):
            return function(t, x, y)
    return Called()


def inputs(t):
    return (t.linspace(-2, 2, 64).reshape(2, 2, 4, 4), t.linspace(-1.2, 3, 8).reshape(2, 4))


def leaves(t, value):
    return t.utils._pytree.tree_leaves(value)


def same_numbers(mine, theirs):
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs):
        genuine.testing.assert_close(genuine.tensor(one.detach().numpy()), other.detach(), rtol=1e-4, atol=1e-5)


def described(program):
    """Return the lines of a program's nodes and signature, without the results' names."""
    lines = [node.format_node() for node in program.graph.nodes if node.op != "output"]
    signature = program.graph_signature
    return lines, [str(spec) for spec in signature.input_specs], [spec.kind.name for spec in signature.output_specs]


@each("name", CALLS)
def test_calls_are_the_same_nodes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = genuine.export.export(make_module(genuine, CALLS[name]), inputs(genuine))
        mine = torch.export.export(make_module(torch, CALLS[name]), inputs(torch))
    assert described(mine) == described(theirs)
    same_numbers(leaves(torch, mine.module()(*inputs(torch))), leaves(genuine, theirs.module()(*inputs(genuine))))


@pytest.mark.parametrize("name", LAYERS)
def test_layers_and_files_both_ways(name):
    (mine, shape), (theirs, _) = LAYERS[name](torch), LAYERS[name](genuine)
    mine.load_state_dict({key: torch.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    x = genuine.linspace(-1, 1, genuine.Size(shape).numel()).reshape(shape)
    program, other = torch.export.export(mine, (torch.tensor(x.numpy()),)), genuine.export.export(theirs, (x,))
    assert [str(node.target) for node in program.graph.nodes] == [str(node.target) for node in other.graph.nodes]
    assert described(program)[1:] == described(other)[1:]
    file, theirs_file = io.BytesIO(), io.BytesIO()
    torch.export.save(program, file)
    genuine.export.save(other, theirs_file)
    wanted = leaves(genuine, other.module()(x))
    same_numbers(leaves(torch, torch.export.load(io.BytesIO(theirs_file.getvalue())).module()(
        torch.tensor(x.numpy()))), wanted)
    read = genuine.export.load(io.BytesIO(file.getvalue()))
    assert described(read)[1:] == described(other)[1:]
    same_numbers(leaves(torch, program.module()(torch.tensor(x.numpy()))), leaves(genuine, read.module()(x)))


def test_sizes_that_vary_are_the_same_in_files():
    def make(t):
        class Flat(t.nn.Module):
            def forward(self, x):
                return x.reshape(x.shape[0] * 2, -1) + 1, t.zeros(x.shape[0] * 2 + 1), x.shape[0]
        return t.export.export(Flat(), (t.ones(5, 4),), dynamic_shapes=({0: t.export.Dim("n", min=2, max=99)},))
    file, theirs = io.BytesIO(), io.BytesIO()
    torch.export.save(make(torch), file)
    genuine.export.save(make(genuine), theirs)
    read = genuine.export.load(io.BytesIO(file.getvalue()))
    mine = torch.export.load(io.BytesIO(theirs.getvalue()))
    assert [str(value) for value in read.range_constraints.values()] == ["VR[2, 99]"]
    assert [str(value) for value in mine.range_constraints.values()] == ["VR[2, 99]"]
    got, wanted = mine.module()(torch.ones(7, 4)), read.module()(genuine.ones(7, 4))
    same_numbers(got[:2], wanted[:2])
    assert got[2] == wanted[2] == 7


def test_writes_become_outputs_as_they_do_there():
    def make(t):
        class Counts(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("count", t.zeros(3))

            def forward(self, x):
                self.count.add_(1)
                part = x.view(-1)
                part.mul_(2)
                x[0] = self.count
                return x + self.count
        return t.export.export(Counts(), (t.ones(2, 3),)).run_decompositions()
    mine, theirs = make(torch), make(genuine)
    told = [[(spec.kind.name, spec.target) for spec in program.graph_signature.output_specs]
            for program in (mine, theirs)]
    assert told[0] == told[1]
    x, other = torch.ones(2, 3), genuine.ones(2, 3)
    same_numbers([mine.module()(x), x], [theirs.module()(other), other])
