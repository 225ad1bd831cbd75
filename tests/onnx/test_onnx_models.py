"""Whole models with dynamic sizes: equal under ONNX Runtime to eager, at sizes that were never captured."""
import pytest

pytest.importorskip("onnxruntime")

from harness import exported  # noqa: E402
from harness.subresults import each  # noqa: E402

import dragon  # noqa: E402
from dragon import onnx  # noqa: E402
from dragon.onnx.capture import leaves  # noqa: E402
from dragon.vm import torch, torchvision  # noqa: E402
from dragon.vm.torch import nn  # noqa: E402


class Tagger(nn.Module):
    """Embeddings, a recurrent network and a classifier of its last step."""

    def __init__(self, network, **options):
        super().__init__()
        self.embedding = nn.Embedding(50, 12)
        self.network = network(12, 24 if "proj_size" in options else 16, batch_first=True, **options)
        self.classifier = nn.Linear(32 if options.get("bidirectional") else 16, 5)

    def forward(self, words):
        y, state = self.network(self.embedding(words))
        return self.classifier(y[:, -1]), y, state


class Encoder(nn.Module):
    """A transformer's encoder with learnt positions."""

    def __init__(self, **options):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.positions = nn.Parameter(torch.randn(1, 40, 16))
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **options)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 3)

    def forward(self, words):
        y = self.embedding(words) + self.positions[:, :words.shape[1]]
        return self.head(self.encoder(y).mean(1))


class Decoder(nn.Module):
    """Causal attention over tokens whose number is known at run time only."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 50)

    def forward(self, words):
        batch, length = words.shape
        q, k, v = self.qkv(self.embedding(words)).view(batch, length, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, 16))


class Pyramid(nn.Module):
    """Convolutions over images of any size, with a path down and up again."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.SiLU())
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.norm = nn.BatchNorm2d(16)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        x = self.stem(x)
        y = torch.cat([x, self.up(self.down(x))], 1)
        return self.head(torch.relu(self.norm(y))), nn.functional.adaptive_avg_pool2d(y, 1).flatten(1)


def words(*shape):
    """Return random words."""
    return torch.randint(0, 50, shape)


BATCH, BOTH = {0: "batch"}, {0: "batch", 1: "time"}
IMAGES = [torch.Size((batch, 3, 32, 32)) for batch in (2, 1, 3, 5)]
SENTENCES = [(3, 7), (1, 7), (2, 5), (4, 9)]
MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(12, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3)), BATCH,
            torch.randn, [(2, 3, 4), (1, 3, 4), (5, 3, 4)]),
    "lstm": (lambda: Tagger(nn.LSTM, num_layers=2, bidirectional=True), BOTH, words, SENTENCES),
    "lstm with projection": (lambda: Tagger(nn.LSTM, proj_size=16), BOTH, words, SENTENCES),
    "gru": (lambda: Tagger(nn.GRU), BOTH, words, SENTENCES),
    "rnn": (lambda: Tagger(nn.RNN, nonlinearity="relu", bias=False), BOTH, words, SENTENCES),
    "encoder": (lambda: Encoder(activation="gelu"), BOTH, words, SENTENCES),
    "encoder with norms first": (lambda: Encoder(norm_first=True), BOTH, words, SENTENCES),
    "decoder": (Decoder, BOTH, words, SENTENCES),
    "pyramid": (Pyramid, {0: "batch", 2: "height", 3: "width"}, torch.randn,
                [(2, 3, 8, 12), (1, 3, 16, 8), (3, 3, 20, 20)]),
    "resnet18": (lambda: torchvision.models.resnet18(weights=None), BATCH, torch.randn, IMAGES),
}
LARGE = {
    "resnet50": (lambda: torchvision.models.resnet50(weights=None), BATCH, torch.randn, IMAGES),
    "mobilenet_v2": (lambda: torchvision.models.mobilenet_v2(weights=None), BATCH, torch.randn, IMAGES),
    "efficientnet_b0": (lambda: torchvision.models.efficientnet_b0(weights=None), BATCH, torch.randn, IMAGES),
    "swin_t": (lambda: torchvision.models.swin_t(weights=None), BATCH, torch.randn, IMAGES),
    # As deep as vit_b_16, and narrow: that one has 86 million numbers, which say no more of the twelve layers.
    "vision transformer": (lambda: torchvision.models.VisionTransformer(32, 8, num_layers=12, num_heads=12,
                                                                        hidden_dim=96, mlp_dim=384), BATCH,
                           torch.randn, IMAGES),
}


def build(make, sample):
    """Return a model for inference whose statistics and zero weights are not those it began with."""
    torch.manual_seed(0)
    model = make().train()
    with torch.no_grad():
        model(sample)
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(0, 0.1)
    return model.eval()


def check(make, axes, draw, shapes):
    """Export at one size and compare at all."""
    torch.manual_seed(1)
    model = build(make, draw(*shapes[0]))
    exporting = onnx.export(model, (draw(*shapes[0]),), input_names=["x"], dynamic_axes={"x": axes})
    assert {axis.dim_param for axis in exporting.graph.input[0].type.tensor_type.shape.dim} - {""} == set(
        axes.values())
    names = {tensor.name for tensor in exporting.graph.initializer}
    assert any(name in names for name in model.state_dict())
    for shape in shapes:
        x = draw(*shape)
        with torch.no_grad():
            wanted = leaves(model(x))
        for mine, theirs in zip(wanted, exported.run(exporting, [x]), strict=True):
            torch.testing.assert_close(torch.from_numpy(theirs.copy()), mine, rtol=1e-4, atol=1e-4)


@each("name", MODELS)
@pytest.mark.long("whole networks are exported and run at several sizes")
def test_equals_eager_at_other_sizes(name):
    check(*MODELS[name])


@pytest.mark.long("whole networks are exported, and run by ONNX Runtime for batches of four sizes")
@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_models_equal_eager(name):
    check(*LARGE[name])


@pytest.mark.parametrize("opset", [18, 20, 21])
def test_opsets(opset):
    model = build(Pyramid, torch.randn(2, 3, 8, 8))
    x = torch.randn(2, 3, 8, 8)
    made = onnx.export(model, (x,), opset=opset)
    assert made.opset_import[0].version == opset
    torch.testing.assert_close(torch.from_numpy(exported.run(made, [x])[0].copy()), model(x)[0], rtol=1e-4, atol=1e-4)


CONVOLUTION = nn.Conv2d(3, 4, 3, padding=1)


def write_views(x):
    """Write rows, columns, every other place, and through a transposed view."""
    y = x * 2
    y[:, 1] += 10
    y[0].mul_(3)
    y.transpose(1, 2)[:, :, 2] = 0
    y[:, ::2, 1:3] *= 2
    y[:, -1, -1:] = 7
    return y, y[1:].sum()


def write_channels_last(x):
    """Write what lies channels-last in memory."""
    y = CONVOLUTION(x)
    nn.functional.silu(y, inplace=True)
    y[:, 1] = 0
    y[:, :, 1:-1, 2:].add_(1)
    z = y.permute(0, 2, 3, 1)
    z[..., 2] *= 5
    return y, z


def write_flat(x):
    """Write through a view that joins axes."""
    y = x.clone()
    y.view(y.shape[0], -1)[:, 3:5] = 1
    return y


def fill_buffer(x):
    """Put a part beside a constant."""
    y = torch.zeros(x.shape[0], x.shape[1] + 1, 4)
    y[:, :x.shape[1]] = x[:, :, :4, 0]
    y[:, -1] = 5
    return y


@each("axes", [{}, {0: "batch"}, {0: "batch", 2: "height"}], ids=len)
@each("function", [write_views, write_channels_last, write_flat, fill_buffer])
def test_writes_in_place(function, axes):
    made = onnx.export(function, torch.randn(3, 3, 6, 5), input_names=["x"], dynamic_axes={"x": axes})
    for batch, height in ((3, 6), (2, 6), (5, 8))[:1 if not axes else None]:
        x = torch.randn(batch, 3, height if 2 in axes else 6, 5)
        with torch.no_grad():
            wanted = leaves(function(x))
        for mine, theirs in zip(wanted, exported.run(made, [x]), strict=True):
            torch.testing.assert_close(torch.from_numpy(theirs.copy()), mine, rtol=1e-4, atol=1e-5)


def test_function_of_native_tensors():
    made = onnx.export(lambda x, y: (x @ y).sum(axis=0), (dragon.ones((2, 3)), dragon.ones((3, 4))))
    assert exported.run(made, [dragon.ones((2, 3)), dragon.ones((3, 4))])[0].tolist() == [6.0] * 4


def test_graph_built_by_hand():
    graph = dragon.Graph()
    x = graph.add_input((3, 4), "float32", "x", symbolic={0: "batch"})
    y, = graph.add_call("relu", [x])
    graph.outputs = graph.add_call("sum", [y], axis=[1])
    made = onnx.export(graph)
    assert made.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert exported.run(made, [dragon.ones((5, 4))])[0].tolist() == [4.0] * 5


def test_graph_of_compositions():
    graph = dragon.Graph()
    x = graph.add_input((2, 3, 8, 8), "float32", "x", symbolic={0: "batch"})
    weight = graph.add_constant(dragon.ones((4, 3, 3, 3)), "weight")
    y, = graph.add_call("conv2d", [x, weight], padding=[1, 1])
    graph.outputs = graph.add_call("layer_norm", [y], normalized_shape=[8])
    made = onnx.export(graph)
    assert "weight" in {tensor.name for tensor in made.graph.initializer}
    x = dragon.ops.normal(dragon.ones((5, 3, 8, 8)))
    wanted = dragon.ops.layer_norm(dragon.ops.conv2d(x, dragon.ones((4, 3, 3, 3)), padding=[1, 1]), [8])
    assert abs(exported.run(made, [x])[0] - wanted.numpy()).max() < 1e-4


def test_sizes_in_numbers():
    """Sizes that go into numbers, products of sizes, ranges and paddings follow at run time."""
    def function(x):
        rows, columns = x.shape
        flat = x.reshape(rows * columns) / rows
        grid = torch.arange(columns) * 2 + rows
        return flat, grid, torch.zeros(rows, columns + 1), x[: rows // 1 - 1].mean(0), x.expand(2, rows, columns)

    made = onnx.export(function, torch.randn(4, 6), dynamic_axes={"x": {0: "rows", 1: "columns"}})
    for shape in ((4, 6), (3, 2), (7, 9)):
        x = torch.randn(*shape)
        for mine, theirs in zip(function(x), exported.run(made, [x]), strict=True):
            torch.testing.assert_close(torch.from_numpy(theirs.copy()), mine)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "autocast", "channels last"])
def test_other_dtypes_and_layouts(kind):
    model = build(Pyramid, torch.randn(2, 3, 8, 8))
    dtype = getattr(torch, kind, torch.float32) if "float" in kind else torch.float32
    layout = torch.channels_last if kind == "channels last" else torch.contiguous_format
    model = model.to(dtype).to(memory_format=layout)

    def function(x):
        with torch.autocast("cpu", torch.bfloat16, enabled=kind == "autocast"):
            return model(x)[0]

    made = onnx.export(function, torch.randn(2, 3, 8, 8).to(dtype), input_names=["x"], dynamic_axes={"x": [0]})
    x = torch.randn(3, 3, 8, 8).to(dtype).contiguous(memory_format=layout)
    with torch.no_grad():
        wanted = function(x)
    got = torch.from_numpy(exported.run(made, [x])[0].copy())
    loose = 1e-4 if kind == "channels last" else 5e-2
    torch.testing.assert_close(got.float(), wanted.float(), rtol=loose, atol=loose)


DYNAMIC = {
    "causal mask": lambda x: (x[:, :1] * torch.ones(x.shape[0], x.shape[0]).tril()).sum(1),
    "pairs of places": lambda x: x[torch.arange(x.shape[0]), torch.zeros(x.shape[0], dtype=torch.long)],
    "running maximum": lambda x: x.cumsum(0).cummax(0).values,
    "moments": lambda x: x.var(0) + x.std(),
    "padding": lambda x: nn.functional.pad(x, (0, x.shape[0])),
    "unit matrix": lambda x: torch.eye(x.shape[0]) @ x,
    "line": lambda x: x + torch.linspace(0, 1, x.shape[0])[:, None],
    "all but one": lambda x: x.topk(x.shape[0] - 1, 0).values,
    "median": lambda x: x.median(0).values,
    "order": lambda x: x.sort(0).values.roll(1, 0).flip(0),
    "grid": lambda x: torch.stack(torch.meshgrid(torch.arange(x.shape[0]), torch.arange(3), indexing="ij")).float(),
    "products of all pairs": lambda x: torch.einsum("bi,bj->ij", x, x) + torch.cdist(x, x).sum(),
    "last": lambda x: x[-1] + x[x.shape[0] - 2],
}


@each("name", DYNAMIC)
def test_dynamic_operators(name):
    function = DYNAMIC[name]
    made = onnx.export(function, torch.randn(4, 3), input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    for batch in (4, 2, 3, 7, 20):
        x = torch.randn(batch, 3)
        torch.testing.assert_close(torch.from_numpy(exported.run(made, [x])[0].copy()), function(x), rtol=1e-4,
                                   atol=1e-4)
