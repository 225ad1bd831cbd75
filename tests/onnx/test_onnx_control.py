"""Branches and loops as ONNX models: If, Loop and Scan, equal under ONNX Runtime to eager calls."""
import numpy
import pytest

pytest.importorskip("onnxruntime")

from harness import exported  # noqa: E402
from harness.subresults import each  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.vm import torch  # noqa: E402

flow = torch._higher_order_ops
W = torch.tensor(numpy.linspace(-1, 1, 9).reshape(3, 3), dtype=torch.float32)
POSITIVE = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.1, 4.0]])
NEGATIVE = torch.tensor([[-1.0, 2.0, -3.0], [0.5, -2.0, 0.25]])
LONG = torch.linspace(-1, 1, 60).reshape(20, 3)
PROGRAMS = {
    "cond": (lambda x: torch.cond(x.sum() > 0, lambda x: (x @ W).sin(), lambda x: x - W[0], (x,)), "If"),
    "cond of inputs": (lambda x: torch.cond(x.sum() > 0, lambda x: (x, x), lambda x: (x * 2, x), (x,)), "If"),
    "cond of a number": (lambda x: torch.cond(x[0, :1], lambda x: x.exp(), lambda x: x * 2, (x,)), "If"),
    "nested": (lambda x: torch.cond(
        x.sum() > 0, lambda x: torch.cond(x.max() > 3.5, lambda x: x.sin(), lambda x: x @ W, (x,)) + 1,
        lambda x: x * 2, (x,)), "If"),
    "while_loop": (lambda x: torch.while_loop(lambda i, y: y.abs().sum() > 0.1, lambda i, y: (i + 1, y @ W * 0.5),
                                              (torch.tensor(0), x)), "Loop"),
    "loop of branches": (lambda x: torch.while_loop(
        lambda i, y: (y.sum() < 30) & (i < 9), lambda i, y: (i + 1, torch.cond(
            y.sum() > 0, lambda y: y + x.abs(), lambda y: y * -1, (y,))), (torch.tensor(0), x)), "Loop"),
    "scan": (lambda x: flow.scan(lambda c, row: (torch.tanh(c @ W + row), c * row), x[0] * 0, torch.cat([x] * 10)),
             "Scan"),
    "scan back": (lambda x: flow.scan(lambda c, row: (c * 0.5 + row, c - row), x[0], torch.cat([x] * 10), reverse=True),
                  "Scan"),
    "map": (lambda x: flow.map(lambda row: (row @ W).sin(), torch.cat([x] * 10)), "Scan"),
}


def op_types(graph):
    """Return the operators of a graph and of those within it."""
    found = set()
    for node in graph.node:
        found.add(node.op_type)
        for attribute in node.attribute:
            found |= op_types(attribute.g)
    return found


@each("dynamic", [False, True], ids=["fixed", "dynamic"])
@each("name", PROGRAMS)
def test_equal_under_onnx_runtime(name, dynamic):
    function, op = PROGRAMS[name]
    model = onnx.export(function, (POSITIVE,), input_names=["x"], dynamic_axes={"x": {0: "rows"}} if dynamic else None)
    assert op in op_types(model.graph)
    for x in (POSITIVE, NEGATIVE, POSITIVE * 3, *([torch.cat([NEGATIVE] * 3)] if dynamic else [])):
        wanted = function(x)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for mine, theirs in zip(wanted, exported.run(model, [x]), strict=True):
            numpy.testing.assert_allclose(mine.numpy(), theirs, 1e-5, 1e-5)
