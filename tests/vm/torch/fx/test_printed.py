"""Graphs, their code, and what they compute read as those of genuine PyTorch, program by program."""
import math
import operator
from collections import namedtuple

import pytest

torch = pytest.importorskip("torch")
from dragon.vm import torch as dt  # noqa: E402

Point = namedtuple("Point", "x y")
BOTH = (torch, dt)


def model_of(lib):
    """Return a module that has all kinds of members."""
    class Inner(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = lib.nn.Parameter(lib.full((3,), 2.0))
            self.register_buffer("shift", lib.full((3,), 0.5))

        def forward(self, x):
            return x * self.scale + self.shift

    class Model(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.layers = lib.nn.Sequential(lib.nn.ReLU(), Inner(), lib.nn.Sequential(lib.nn.Tanh()))
            self.weight = lib.nn.Parameter(lib.ones(3, 3))
            self.plain = lib.full((3,), 4.0)

        def forward(self, x: lib.Tensor, y=3, *rest, z: float = 1.5, **named):
            first = self.inner(x) @ self.weight - y
            second = self.layers(first) + self.plain
            return {"a": first, "b": [second, (z,)]}, rest, named
    return Model()


def operators(lib):
    def program(x, y):
        a = x + y - 1 * x / 2 // y % 3
        b = -a ** 2, +a, ~y, abs(a), 2 - a, 2 / a, 3 @ a, a << 1, a >> 1, a & y, a | y, a ^ y
        c = a < b[0], a <= 1, a > 1, a >= 1, a == 1, a != 1
        return b, c, a[0], a[1:, None, ..., ::2], a[y], a.shape, a.T.size(0), divmod
    return lambda x, y: program(x, y)[:-1]


def functions(lib):
    functional = lib.nn.functional

    def program(x, w):
        a = functional.relu(functional.conv2d(x, w, None, 2, padding=1))
        b = functional.max_pool2d(a, 2), functional.avg_pool2d(a, (2, 2)), functional.adaptive_avg_pool2d(a, 1)
        c = functional.interpolate(a, scale_factor=2.0), functional.pad(a, (1, 1)), functional.dropout(a, 0.1)
        d = functional.gelu(a), functional.softmax(a, dim=1), functional.log_softmax(a, 1)
        e = functional.layer_norm(a, [3]), functional.pdist(a), functional.linear(a, w)
        b = b, functional.softplus(a), functional.logsigmoid(a), functional.one_hot(w)
        f = functional.cross_entropy(a, w, reduction="sum"), functional.mse_loss(a, w), functional.embedding(a, w)
        return b, c, d, e, f, functional.hardtanh(a), functional.scaled_dot_product_attention(a, a, a, is_causal=True)
    return program


def of_torch(lib):
    def program(x, y):
        a = lib.cat([x, y], dim=1), lib.stack((x, y)), lib.add(x, y, alpha=2), lib.sum(x, 1), lib.matmul(x, y)
        b = lib.split(x, 2), lib.einsum("ij,jk", x, y), lib.meshgrid(x, y, indexing="ij"), lib.norm(x), lib.unique(x)
        c = lib.linalg.norm(x), lib.fft.fft(x, dim=0), lib.linalg.inv(x), lib.where(x, y, 1.0), lib.clamp(x, min=0)
        d = lib.zeros(3), lib.arange(4, dtype=lib.float64), lib.chunk(x, 2), lib.flatten(x, 1), lib.squeeze(x)
        e = lib.ops.aten.add.Tensor(x, y), lib.ops.aten.relu(x), lib.full_like(x, math.inf), lib.ones_like(x)
        return a, b, c, d, e, lib.tensordot(x, y, 1), lib.broadcast_tensors(x, y), lib.Size([1, 2])
    return program


def methods(lib):
    def program(x, y):
        a = x.view(-1, 2).permute(0, 1).contiguous(memory_format=lib.channels_last)
        b = a.to(lib.float16).to("cpu").to(device=lib.device("cpu")).sum(dim=(0, 1), keepdim=True)
        c = x.add_(y), x.mul(y).relu(), x.masked_fill(y, float("nan")), x.split(2), x.max(dim=1)[0], x.is_cuda
        return Point(a, b), c, slice(a, None, 2), {"k": x.dtype, 3: None}, True, "text", x.grad.data, x.foo(k=x.bar)
    return program


def numbers(lib):
    def program(x, y):
        first, second = x
        (third, fourth), fifth = y
        z = first
        z += second
        z *= third
        return math.floor(z), math.sqrt(fourth), z, fifth
    return program


def named_badly(lib):
    def program(input, self_, print, sum, __class__=None, getattr=3):
        return input.max(), print.sum(), sum + self_, getattr
    return program


PROGRAMS = [operators, functions, of_torch, methods, numbers, named_badly]


def words_of(module):
    """Return all that is printed of a module of a graph."""
    return str(module.graph), module.code, module.print_readable(print_output=False), str(module)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_read_alike(program):
    theirs, mine = (words_of(lib.fx.symbolic_trace(program(lib))) for lib in BOTH)
    assert mine == theirs


def test_a_module_reads_and_computes_alike():
    theirs, mine = (lib.fx.symbolic_trace(model_of(lib)) for lib in BOTH)
    assert words_of(mine) == words_of(theirs)
    assert [name for name, _ in mine.named_modules()] == [name for name, _ in theirs.named_modules()]
    assert list(mine.state_dict()) == list(theirs.state_dict())
    theirs, mine = (module(lib.tensor([[1.0, 2.0, 3.0]]), 2, 9, 8, k=1) for module, lib in zip((theirs, mine), BOTH))
    assert mine[1:] == theirs[1:] == ((8,), {"k": 1}) and mine[0]["b"][1] == theirs[0]["b"][1] == (9,)
    assert mine[0]["a"].tolist() == theirs[0]["a"].tolist()
    assert mine[0]["b"][0].tolist()[0] == pytest.approx(theirs[0]["b"][0].tolist()[0])


ARGUMENTS = {
    "nested": (lambda a, b, c: (a["x"][0] + b + a["y"]["z"], {"o": b}),
               lambda lib: {"a": {"x": [lib.fx.PH, 1], "y": {"z": lib.fx.PH}}, "c": 3}),
    "none": (lambda a, b: a + 1 if b is None else a, lambda lib: {"b": None}),
    "default": (lambda a, b=True: a + 1 if b else a, lambda lib: {"b": False}),
    "tuple": (lambda a, b=2.5, c="x": (a * b, c), lambda lib: {"b": 1.5, "c": "y"}),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_concrete_arguments_read_alike(name):
    program, concrete = ARGUMENTS[name]
    theirs, mine = (words_of(lib.fx.symbolic_trace(program, concrete_args=concrete(lib))) for lib in BOTH)
    assert mine == theirs


def test_nested_arguments_are_taken_apart_and_put_together():
    program, concrete = ARGUMENTS["nested"]
    module = dt.fx.symbolic_trace(program, concrete_args=concrete(dt))
    given = {"x": [dt.ones(1), 1], "y": {"z": dt.ones(1)}}, dt.ones(1), 3
    assert module(*given)[0].item() == 3.0 and list(module(*given)[1]) == ["o"]
    assert dt.fx.Interpreter(module).run(*given)[0].item() == 3.0
    with pytest.raises(AssertionError, match="c has been specialized to have value 3"):
        module(*given[:2], 4)


def build(lib):
    """Return a graph made by hand of all kinds of nodes."""
    graph = lib.fx.Graph()
    x = graph.placeholder("x", lib.Tensor)
    y = graph.placeholder("y", default_value=2.5)
    made = graph.call_function(operator.iadd, (x, y))
    graph.call_function(operator.setitem, (x, 0, y))
    graph.call_function(operator.contains, (x, y))
    graph.call_function(operator.isub, (x, 1), type_expr=lib.Tensor)
    graph.call_method("foo.bar", (x, 1), {"k": "s"})
    for name in ("1a", "sh"):
        graph.call_function(getattr, (x, name))
    graph.call_function(getattr, (x, "sh", 3))
    graph.call_function(lib.device, ("cpu",))
    graph.call_function(print, (x,))
    graph.call_function(operator.itemgetter, (1,))
    graph.call_function(lib.nn.Linear, (1, 2))
    graph.call_function(Point, (1, 2))
    graph.call_function(math.floor, (x,), name="Floor")
    graph.call_function(slice, (1, x))
    graph.call_function(operator.is_, (x, None))
    graph.call_function(operator.index, (x,))
    graph.output((made, Point(x, 1)), type_expr=tuple[lib.Tensor, int])
    return graph


def test_graphs_made_by_hand_read_alike():
    theirs, mine = map(build, BOTH)
    assert str(mine) == str(theirs)
    assert mine.python_code("self").src == theirs.python_code("self").src
    assert [node.is_impure() for node in mine.nodes] == [node.is_impure() for node in theirs.nodes]
    assert set(mine.python_code("self").globals) == set(theirs.python_code("self").globals)
    assert mine.python_code("self")._lineno_map == theirs.python_code("self")._lineno_map


NAMES = ["def", "sum", "x1", "x_1", "Foo", "HTTPServer", "a.b", "1", "", "x-y", "None", "self", "torch", "inf", "int_1",
         "getattr", "foo_01", "_", "T", "nan_3", "forward", "x_1", "x_1", "a_b", "a_b_1", "sum", "sum_2", "Foo"]


def test_names_of_nodes_are_alike():
    made = []
    for lib in BOTH:
        graph = lib.fx.Graph()
        made.append([graph.create_node("placeholder", name).name for name in NAMES])
    assert made[0] == made[1]


def test_tables_read_alike(capsys):
    pytest.importorskip("tabulate")
    tables = []
    for lib in BOTH:
        lib.fx.symbolic_trace(lambda x: (x + 1) * x.relu()).graph.print_tabular()
        tables.append([line.rstrip() for line in capsys.readouterr().out.split("\n")])
    assert tables[0] == tables[1]


def test_a_table_needs_no_package(capsys):
    dt.fx.symbolic_trace(lambda x: x + 1).graph.print_tabular()
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"] and len(lines) == 6


def test_remarks_tell_shapes_alike():
    words = []
    for lib, place in zip(BOTH, ("torch", "dragon.vm.torch")):
        prop = pytest.importorskip(f"{place}.fx.passes.shape_prop").ShapeProp
        module = lib.fx.symbolic_trace(lambda x, y=2: lib.relu(x) + y)
        prop(module).propagate(lib.ones(2, 3, dtype=lib.float64))
        meta = [node.meta.get("tensor_meta") for node in module.graph.nodes]
        words.append((module.print_readable(print_output=False), str(meta)))
    assert words[0] == words[1]
