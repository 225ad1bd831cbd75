"""Models as libraries write them: results in objects, caches, code that asks whether it is exported, sizes of sizes."""
import collections
import re

import numpy
import pytest

pytest.importorskip("onnxruntime")
genuine = pytest.importorskip("torch")

from harness import exported  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.onnx.capture import leaves  # noqa: E402
from dragon.vm import torch  # noqa: E402
from dragon.vm.torch import nn  # noqa: E402


class Layer:
    """Keys and values of one layer."""

    def __init__(self):
        self.keys = self.values = None

    def update(self, keys, values):
        """Add keys and values; return all of them."""
        if self.keys is not None:
            keys, values = torch.cat([self.keys, keys], 2), torch.cat([self.values, values], 2)
        self.keys, self.values = keys, values
        return keys, values


class Cache:
    """Layers that are made when they are asked for."""

    def __init__(self):
        self.layers = []

    def __getitem__(self, number):
        while len(self.layers) <= number:
            self.layers.append(Layer())
        return self.layers[number]


class Output(collections.OrderedDict):
    """A result whose entries are attributes as well."""

    def __init__(self, **entries):
        super().__init__(entries)
        self.__dict__.update(entries)


class Reader(nn.Module):
    """Attention over words and what was read before."""

    def __init__(self):
        super().__init__()
        self.embedding, self.qkv, self.out = nn.Embedding(50, 16), nn.Linear(16, 48), nn.Linear(16, 50)

    def forward(self, words, cache=None, mask=None, **options):
        cache = Cache() if cache is None else cache
        batch, length = words.shape
        parts = self.qkv(self.embedding(words)).view(batch, length, 3, 2, 8).permute(2, 0, 3, 1, 4)
        keys, values = cache[0].update(parts[1], parts[2])
        whole = keys.shape[2]
        seen = torch.arange(whole) <= torch.arange(whole - length, whole)[:, None]
        if torch.compiler.is_exporting() or mask is not None and not mask.all():  # a look at numbers
            seen = seen & mask[:, None, None, :].bool()
        y = nn.functional.scaled_dot_product_attention(parts[0], keys, values, seen)
        return Output(scores=self.out(y.transpose(1, 2).flatten(2)), cache=cache)


def filled(batch, length, seed=0):
    """Return a cache of so many words."""
    torch.manual_seed(seed)
    cache = Cache()
    cache[0].update(torch.randn(batch, 2, length, 8), torch.randn(batch, 2, length, 8))
    return cache


def arguments(batch, length, past):
    """Return how the reader is called; the mask comes before the cache, unlike in its signature."""
    mask = torch.ones(batch, length + past, dtype=torch.int64)
    mask[0, 0] = 0
    return {"words": torch.arange(batch * length).reshape(batch, length) % 50, "mask": mask,
            "cache": filled(batch, past)}


def compare(model, function, kwargs):
    """Compare a model under ONNX Runtime with a call."""
    got = exported.run(model, leaves(kwargs))
    wanted = leaves(function(**kwargs))
    assert len(got) == len(wanted)
    for mine, theirs in zip(got, wanted):
        numpy.testing.assert_allclose(mine, theirs.detach().numpy(), 1e-4, 1e-5)


def test_caches_come_in_and_go_out():
    torch.manual_seed(0)
    model = Reader().eval()
    batch, past, length = ({0: "batch"}, {0: "batch", 2: "past"}, {0: "batch", 1: "length"})
    program = onnx.export(model, (), kwargs=arguments(2, 3, 5), dynamic_axes={
        "words": length, "mask": {**batch, 1: "past + length"}, "cache_0": past, "cache_1": past})
    names = [item.name for item in program.graph.input]
    assert names == ["words", "mask", "cache_0", "cache_1"]  # as the tensors come
    shapes = [[axis.dim_param or axis.dim_value for axis in item.type.tensor_type.shape.dim]
              for item in [*program.graph.input, *program.graph.output]]
    assert shapes[1] == ["batch", "past + length"] and shapes[2] == ["batch", 2, "past", 8]
    assert len(program.graph.output) == 3 and shapes[5] == ["batch", 2, "past + length", 8]
    for sizes in ((2, 3, 5), (1, 1, 9), (3, 7, 1), (2, 40, 30)):
        compare(program, model, arguments(*sizes))


@pytest.mark.parametrize("shapes", [
    {"words": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "past + length"},
     "cache": [[{0: "batch", 2: "past"}, {0: "batch", 2: "past"}]]},
    {"words": ("batch", "length"), "mask": ["batch", "past + length"],
     "cache": {"layers": [({0: "batch", 2: "past"}, ("batch", None, "past", None))]}},
    ({0: "batch", 1: "length"}, {0: "batch", 1: "past + length"}, [{0: "batch", 2: "past"}, {0: "batch", 2: "past"}]),
    {"words": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "past + length"}, "cache_0": {0: "batch", 2: "past"},
     "cache_1": {0: "batch", 2: "past"}}], ids=["nested", "by name", "in order", "by input"])
def test_shapes_nested_as_arguments_are(shapes):
    torch.manual_seed(0)
    model = Reader().eval()
    program = onnx.export(model, (), kwargs=arguments(2, 3, 5), dynamic_shapes=shapes)
    for sizes in ((2, 3, 5), (1, 1, 9)):
        compare(program, model, arguments(*sizes))


@pytest.mark.parametrize("shapes, says", [
    ({"cache": {0: "batch"}}, "dynamic shapes of 1 tensors for argument 'cache'; expected 2"),
    ({"cash": {0: "batch"}}, "got dynamic shapes of \\['cash'\\]; expected names among"),
    (({},) * 5, "dynamic shapes of 5 arguments; expected at most 4")])
def test_wrong_shapes(shapes, says):
    with pytest.raises(ValueError, match=says):
        onnx.export(Reader().eval(), (), kwargs=arguments(2, 3, 5), dynamic_shapes=shapes)


def test_an_example_is_not_changed():
    kwargs = arguments(2, 3, 5)
    onnx.export(Reader().eval(), (), kwargs=kwargs)
    assert kwargs["cache"][0].keys.shape == (2, 2, 5, 8)


@pytest.mark.parametrize("axes, says", [
    ({"x": {0: "n"}, "y": {0: "n + 2"}}, "got size 4 for 'n \\+ 2', expected 5 where n is 3"),
    ({"x": {0: "n"}, "y": {0: "2*n - 2"}}, None), ({"x": {0: "n"}, "y": {0: "n + 1"}}, None),
    ({"x": {0: "n"}, "y": {0: "m + 1"}}, None)])  # a name like any other: nothing is called m
def test_sizes_that_follow_others(axes, says):
    torch.manual_seed(0)
    x, y = torch.rand(3, 2), torch.rand(4, 2)

    def function(x, y):
        return y[:x.shape[0]] + x

    def export():
        return onnx.export(function, (x, y), dynamic_axes=axes)
    if says:
        with pytest.raises((ValueError, onnx.ExportError), match=says):
            export()
    else:
        more = torch.rand(6, 2), torch.rand(7 if "+" in axes["y"][0] else 10, 2)
        assert numpy.allclose(exported.run(export(), more)[0], function(*more).numpy())


def test_dimensions_that_follow_others():
    past = torch.export.Dim("past")
    texts = [dim.__name__ for dim in (past + 1, 2 * past, 3 * (past - 1) + 1, past * 2 - 4, 1 + past)]
    theirs = genuine.export.Dim("past")
    assert texts == ["past + 1", "2*past", "3*past - 2", "2*past - 4", "past + 1"]
    assert [dim.__name__ for dim in (theirs + 1, 2 * theirs)] == texts[:2]
    for wrong in (lambda: past + 0.5, lambda: past * 0, lambda: past + past):
        with pytest.raises(NotImplementedError, match="Dim: got past"):
            wrong()
    program = torch.onnx.export(lambda x, y: x + y[1:], (torch.rand(3), torch.rand(4)),
                                dynamic_shapes=({0: past}, {0: past + 1}))
    assert program(torch.rand(8), torch.rand(9))[0].shape == (8,)


def test_code_knows_that_it_is_exported():
    seen = []

    def function(x):
        seen.append((torch.compiler.is_exporting(), torch.onnx.is_in_onnx_export(), torch.jit.is_tracing(),
                     torch.compiler.is_compiling(), torch.compiler.is_dynamo_compiling()))
        return torch.compile(lambda y: y + 1)(x)

    torch.onnx.export(function, torch.rand(3))
    torch.onnx.export(function, torch.rand(3), dynamo=False)
    function(torch.rand(3))
    torch.jit.trace(function, torch.rand(3), check_trace=False)
    torch.compile(function)(torch.rand(3))
    # As PyTorch answers: an export, one by a trace, a plain call, a trace, a compiled call.
    assert seen[:2] == [(True, True, False, True, False), (True, True, True, True, False)]
    assert seen[2:] == [(False,) * 5, (False, False, True, False, False), (False, False, False, True, True)]


def test_functions_that_are_not_to_be_compiled_are_exported():
    function = torch.compiler.disable(lambda x: x * 2)
    program = torch.onnx.export(lambda x: function(x) + 1, torch.ones(3))
    assert program(torch.ones(3))[0].tolist() == [3.0] * 3


def test_the_line_that_cannot_be_said_is_named():
    def function(x):
        if x.sum() > 0:  # this one
            return x
        return -x

    line = function.__code__.co_firstlineno + 1
    with pytest.raises(onnx.ExportError, match=f"test_onnx_structures.py:{line}: if x.sum\\(\\) > 0:"):
        onnx.export(function, torch.rand(3))
    net = nn.Sequential(nn.Linear(3, 3), nn.Flatten(0))
    net.append(type("Squared", (nn.Module,), {"forward": lambda self, x: x[:x.shape[0] ** 2 // 90]})())
    with pytest.raises(onnx.ExportError, match=re.escape("Sequential.2 at test_onnx_structures.py")):
        onnx.export(net, torch.rand(3, 3), input_names=["x"], dynamic_axes={"x": {0: "n"}})


def test_results_that_nobody_can_look_into():
    with pytest.raises(onnx.ExportError, match="holds tensors in a function"):
        onnx.export(lambda x: (lambda y: lambda: y)(x + 1), torch.rand(3))
    with pytest.raises(onnx.ExportError, match="zip"):
        onnx.export(lambda x: zip([x], [x]), torch.rand(3))


def test_modules_among_arguments_are_baked_in():
    layer = nn.Linear(3, 2)
    program = onnx.export(lambda module, x: module(x), (layer, torch.rand(4, 3)))
    assert [item.name for item in program.graph.input] == ["x"]


@pytest.mark.parametrize("repeat", [
    lambda torch, x: x.repeat_interleave(3, 1), lambda torch, x: torch.repeat_interleave(x, 2),
    lambda torch, x: x.repeat_interleave(0, -1), lambda torch, x: x.repeat_interleave(2, dim=0, output_size=8),
    lambda torch, x: x[:, None].repeat_interleave(2, 1)])
def test_elements_repeated_as_often(repeat):
    """No number of a tensor is looked at; beside PyTorch's."""
    x = torch.arange(12.0).reshape(4, 3)
    program = onnx.export(lambda x: repeat(torch, x) + 1, x)
    wanted = repeat(genuine, genuine.from_numpy(x.numpy())) + 1
    numpy.testing.assert_array_equal(exported.run(program, [x])[0], wanted.numpy())
    compiled = torch.compile(lambda x: repeat(torch, x) + 1, fullgraph=True)
    for _ in range(2):
        assert torch.equal(compiled(x), torch.from_numpy(wanted.numpy()))


def test_wrong_repeats():
    for wrong, says in ((lambda x: x.repeat_interleave(-1), "none below 0"),
                        (lambda x: x.repeat_interleave(2, output_size=5), "the sum of repeats, 6"),
                        (lambda x: x.repeat_interleave(1 << 62), "overflows")):
        with pytest.raises((ValueError, RuntimeError), match=says):
            wrong(torch.rand(3))


class Keeps(nn.Module):
    """Keeps a table for its next call."""

    def __init__(self):
        super().__init__()
        self.weight, self.tables = nn.Parameter(torch.arange(6000.0)), {}

    def forward(self, x):
        if "table" not in self.tables:
            self.tables["table"] = (self.weight * 2)[torch.arange(5999, -1, -1)]
        return x + self.tables["table"][:3]


def test_what_modules_keep_has_numbers_after_an_export():
    model, x = Keeps().eval(), torch.ones(2, 3)
    program = torch.onnx.export(model, (x,), dynamic_axes={"x": {0: "batch"}})
    assert model(x).tolist() == [[11999, 11997, 11995]] * 2 == program(x)[0].tolist()


@pytest.mark.parametrize("function", [
    lambda torch, x: x * torch.tensor(TABLE), lambda torch, x: x * torch.tensor(TABLE, dtype=torch.float32),
    lambda torch, x: x + torch.from_numpy(TABLE), lambda torch, x: x + torch.as_tensor(TABLE),
    lambda torch, x: x.double() @ x.new_tensor(TABLE, dtype=torch.float64), lambda torch, x: x * torch.tensor(TABLE[1]),
    lambda torch, x: x[:, :0] @ torch.from_numpy(TABLE[:0, None])])
def test_arrays_are_constants(function):
    x = numpy.arange(6, dtype="float64").reshape(2, 3)
    model = onnx.export(lambda x: function(torch, x), torch.from_numpy(x), input_names=["x"],
                        dynamic_axes={"x": {0: "batch"}})
    for given in (x, x[:1], numpy.concatenate([x, x])):
        wanted = function(genuine, genuine.from_numpy(given))
        numpy.testing.assert_allclose(exported.run(model, [torch.from_numpy(given)])[0], wanted.numpy(), 1e-6)


TABLE = numpy.array([0.5, 2.0, -1.0])
