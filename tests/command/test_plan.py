"""`dragon plan` and `dragon onnx`: saved graphs and ONNX files, told, drawn, measured, exported and run."""
import json

import numpy
import pytest

import dragon


@pytest.fixture
def graph(tmp_path):
    """Return the path of a saved graph."""
    @dragon.function
    def step(x, w):
        return dragon.ops.tanh(x @ w) * 2.0 + 1.0
    x, w = dragon.random.randn(4, 3), dragon.random.randn(3, 3)
    for _ in range(3):
        step(x, w)
    dragon.Graph(step.graph).save(tmp_path / "step.dragon")
    return tmp_path / "step.dragon"


def test_text_and_json(execute, graph):
    said = execute("plan", "step.dragon").stdout
    assert "matmul" in said and "step.dragon at level 3: " in said and "memory: " in said
    before = json.loads(execute("plan", "--json", "--level", "0", "step.dragon").stdout)
    after = json.loads(execute("plan", "--json", "step.dragon").stdout)
    assert before["calls"] == before["calls before"] == after["calls before"] > after["calls"]
    assert before["operators"]["tanh"] == 1 and before["memory"]["naive"] >= after["memory"]["planned"]


def test_skip_and_measure(execute, graph):
    told = json.loads(execute("plan", "--json", "--skip", "fuse_pointwise", "--measure", "3", "step.dragon").stdout)
    assert told["operators"]["tanh"] == 1 and 0 < told["seconds"] < 10 and told["memory"]["measured"] > 0
    assert "did you mean fuse_pointwise?" in execute("plan", "--skip", "fuse_pontwise", "step.dragon", status=2).stderr
    assert "expected none: this graph" in execute("plan", "--at", "n=3", "step.dragon", status=2).stderr
    assert "expected NAME=SIZE" in execute("plan", "--at", "n=x", "step.dragon", status=2).stderr


def test_svg(execute, graph, tmp_path):
    assert execute("plan", "--svg", "-", "step.dragon").stdout.startswith("<svg")
    assert "memory: " in execute("plan", "--svg", "a.svg", "step.dragon").stdout
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert "expected one of them" in execute("plan", "--svg", "-", "--json", "step.dragon", status=2).stderr
    assert "No such file" in execute("plan", "--svg", "no/a.svg", "step.dragon", status=2).stderr


def test_onnx(execute, graph, tmp_path):
    pytest.importorskip("onnx")
    said = execute("onnx", "export", "step.dragon", "step.onnx").stdout
    assert "MatMul" in said and "inputs:" in said
    told = json.loads(execute("onnx", "inspect", "--json", "step.onnx").stdout)
    assert [face["shape"] for face in told["inputs"]] == [[4, 3], [3, 3]] and told["operators"]["Tanh"] == 1
    assert "expected an ONNX file" in execute("onnx", "inspect", "step.dragon", status=2).stderr
    assert "expected the name of the ONNX file" in execute("onnx", "export", "step.dragon", status=2).stderr


def test_onnx_run(execute, graph, tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    names = [face["name"] for face in json.loads(
        execute("onnx", "export", "--json", "step.dragon", "step.onnx").stdout)["inputs"]]
    x, w = numpy.ones((4, 3), "float32"), numpy.eye(3, dtype="float32")
    numpy.save(tmp_path / "x.npy", x)
    numpy.save(tmp_path / "w.npy", w)
    told = json.loads(execute("onnx", "run", "--json", "step.onnx", "--input", f"{names[0]}=x.npy", "--input",
                              f"{names[1]}=w.npy", "--save", "out").stdout)
    output, = told["outputs"]
    assert numpy.allclose(numpy.load(tmp_path / "out" / (output["name"] + ".npy")), numpy.tanh(x) * 2 + 1)
    assert output["shape"] == [4, 3] and "ms under ONNX Runtime" in execute("onnx", "run", "step.onnx").stdout
    assert "expected NAME=FILE.npy" in execute("onnx", "run", "step.onnx", "--input", "q=x.npy", status=2).stderr
