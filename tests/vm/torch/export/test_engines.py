"""Exported programs in the engine: compiled, traced, and as ONNX models, with sizes that vary and control flow."""
import numpy
import pytest

from dragon.vm import torch
from dragon.vm.torch.core.functions import control
from dragon.vm.torch.export import Dim, ExportedProgram, export
from harness.subresults import each

onnxruntime = pytest.importorskip("onnxruntime")
genuine = pytest.importorskip("torch")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return y.reshape(x.shape[0] * 3).sum(0) + y


class Chosen(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


class Counted(torch.nn.Module):
    def forward(self, x):
        return control.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x + i), (torch.tensor(0), x))[1]


class Scanned(torch.nn.Module):
    def forward(self, x):
        return control.scan(lambda total, row: (total + row, total * row), torch.zeros(4), x)[1]


def close(result, wanted):
    numpy.testing.assert_allclose(result.detach().numpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-6)


WAYS = {
    "compile": lambda module, x: torch.compile(module),
    "trace": lambda module, x: torch.jit.trace(module, (x,)),
    "onnx": lambda module, x: lambda *args: torch.onnx.export(module, (x,), verbose=False)(*args)[0],
}


@each("way", WAYS)
@each("kind", [Net, Chosen, Counted, Scanned])
def test_modules_of_programs(kind, way):
    x, module = torch.linspace(-1, 2, 20).reshape(5, 4), kind().eval()
    made = WAYS[way](export(module, (x,)).module(), x)
    for value in (x, -x, x * 3 - 1):  # both ways, whichever the example took
        close(made(value), module(value))


@pytest.mark.parametrize("way", ["compile", "trace"])
def test_sizes_vary(way):
    x, module = torch.linspace(-1, 2, 20).reshape(5, 4), Net().eval()
    program = export(module, (x,), dynamic_shapes={"x": {0: Dim("batch", min=2, max=64)}})
    made = WAYS[way](program.module(), x)
    for rows in (5, 2, 9):
        value = torch.linspace(-1, 1, rows * 4).reshape(rows, 4)
        close(made(value), module(value))


@pytest.mark.parametrize("form", ["program", "core", "module"])
def test_models_with_sizes_that_vary(form):
    x, module, batch = torch.linspace(-1, 2, 20).reshape(5, 4), Net().eval(), Dim("batch", min=2, max=64)
    shapes = {"x": {0: batch}}
    if form == "module":
        model = torch.onnx.export(module, (x,), dynamic_shapes=shapes, verbose=False)
    else:
        program = export(module, (x,), dynamic_shapes=shapes)
        program = program.run_decompositions() if form == "core" else program
        model = torch.onnx.export(program, verbose=False)
        assert model.exported_program is program
    assert isinstance(model.exported_program, ExportedProgram)
    assert len(model.exported_program.range_constraints) == 1
    value = torch.linspace(-1, 1, 28).reshape(7, 4)
    close(model(value)[0], module(value))
