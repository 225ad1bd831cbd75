"""Graphs built, asked, drawn and changed by hand: right edits hold, wrong ones say why and change nothing."""
import xml.etree.ElementTree

import pytest

import dragon
from harness.graph_samples import make_nested
from harness.subresults import each


def make_graph():
    """Return y = relu(x @ w.T + b), and 2 * y beside it."""
    graph = dragon.Graph("small")
    with graph.edit():
        x = graph.add_input((2, 3), "float32", "x", symbolic={0: "batch"})
        w = graph.add_constant(dragon.ones((4, 3)), "w")
        (hidden,) = graph.add_call("linear", [x, w])
        (y,) = graph.add_call("relu", [hidden], scope="act")
        (twice,) = graph.add_call("mul", [y, graph.add_constant(2.0)])
        graph.set_name(y, "y")
        graph.outputs = [y, twice]
    return graph


TEXT = """graph small(%0:x float32[2, 3]) {
  %1:w float32[4, 3] = constant
  %4 float32[] = constant 2
  %2 float32[2, 4] = linear(%0:x, %1:w)
  %3:y float32[2, 4] = relu(%2)  # act
  %5 float32[2, 4] = mul(%3:y, %4)
  return %3:y, %5
}"""


def test_text():
    assert str(make_graph()) == TEXT
    assert repr(make_graph()) == "<dragon.Graph 'small': 1 inputs, 2 constants, 3 calls, 2 outputs>"


def test_snapshots_tell_calls_and_values():
    graph = make_graph()
    linear, relu, mul = graph
    assert linear.op == "linear" and linear.inputs == [0, 1, None] and linear.outputs == [2]
    assert linear.tensors == {"x": 0, "weight": 1, "bias": None} and mul.op == "mul"
    assert relu.scope == "act" and relu.position == 1 and relu.result_count == 1 and not relu.is_random
    x = graph.value(0)
    assert (x.name, x.shape, x.dtype, x.strides, x.device) == ("x", (2, 3), "float32", (3, 1), "cpu")
    assert x.symbolic == {0: "batch"}
    assert graph.symbols == ["batch"]
    assert graph.constants[1].tolist() == [[1.0] * 3] * 4
    assert graph.producers() == [-1, -1, 0, 1, -1, 2] and graph.consumers()[3] == [2]


def test_attributes_have_their_defaults():
    graph = dragon.Graph()
    x = graph.add_input((1, 3, 8, 8))
    graph.add_call("conv2d", [x], weight=graph.add_input((4, 3, 3, 3)), padding=1)
    (call,) = graph
    assert call.attrs == {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1}
    assert call.tensors == {"x": 0, "weight": 1, "bias": None}


def test_lists_and_written_arguments():
    graph = dragon.Graph()
    x = graph.add_input((2, 3))
    (joined,) = graph.add_call("cat", [[x, x]], axis=1)
    assert graph.call(0).tensors == {"xs": [x, x]} and graph.call(0).list_sizes == [2]
    assert graph.value(joined).shape == (2, 6)


def test_questions():
    graph = make_graph()
    y = graph.find("y")
    assert graph.find("nobody") is None
    assert [call.op for call in graph.calls_of("relu", "mul")] == ["relu", "mul"]
    assert graph.producer(y).op == "relu" and graph.producer(0) is None
    assert [call.op for call in graph.readers(y)] == ["mul"]
    assert [call.op for call in graph.calls_between([0], [y])] == ["linear", "relu"]


def test_a_part_stands_alone():
    graph = make_graph()
    part = graph.extract([2], [3], "part")
    assert [call.op for call in part] == ["relu"] and part.inputs == [2] and part.name == "part"
    assert str(graph) == TEXT
    with pytest.raises(ValueError, match=r"depend on the inputs \[0\]"):
        graph.extract([], [3])


def test_replace_call():
    graph = make_graph()
    graph.replace_call(1, "gelu", [2])
    assert [call.op for call in graph] == ["linear", "gelu", "mul"]
    y = graph.find("y")
    assert graph.outputs[0] == y and graph.call(1).outputs == [y] and graph.call(1).scope == "act"


def test_add_before_and_remove():
    graph = make_graph()
    with graph.edit():
        (negative,) = graph.add_call("neg", [0], position=0)
        graph.replace(0, negative, first_call=1)
    assert [call.op for call in graph] == ["neg", "linear", "relu", "mul"]
    with graph.edit():
        graph.replace(negative, 0)
        graph.remove(0)
    assert [call.op for call in graph] == ["linear", "relu", "mul"]


def cycle(graph):
    graph.replace(0, 3)


WRONG = {
    "unknown operator": (lambda g: g.add_call("reluu", [0]), NotImplementedError, "nearest is 'relu'"),
    "unknown value": (lambda g: g.add_call("relu", [99]), ValueError, "relu: got input 99"),
    "no value": (lambda g: g.add_call("relu"), TypeError, "relu: got nothing for argument 'x'"),
    "too many inputs": (lambda g: g.add_call("relu", [0, 0]), TypeError, "relu: got 2 inputs"),
    "unknown argument": (lambda g: g.add_call("relu", [0], axis=1), TypeError, "argument 'axis'"),
    "wrong kind": (lambda g: g.add_call("softmax", [0], axis="last"), TypeError, "softmax"),
    "shapes": (lambda g: g.add_call("cat", [[0, 1]], axis=1), ValueError, "cat: got"),
    "too early": (lambda g: g.add_call("relu", [3], position=0), ValueError, "before it is read"),
    "dynamic": (lambda g: g.add_call("nonzero", [0]), NotImplementedError, "depends on numbers"),
    "cycle": (cycle, ValueError, "made before it is read"),
    "shape of a reader": (lambda g: g.replace(2, 0), ValueError, r"\(relu\)"),
    "still read": (lambda g: g.remove([1]), RuntimeError, "is read by mul"),
    "no such call": (lambda g: g.remove([7]), IndexError, "got call 7, expected 0 to 2"),
    "negative call": (lambda g: g.remove(-1), IndexError, "got call -1"),
    "outputs": (lambda g: setattr(g, "outputs", [17]), ValueError, "outputs: got value 17"),
    "inputs": (lambda g: setattr(g, "inputs", [0, 0]), ValueError, "made once"),
    "updates": (lambda g: setattr(g, "updates", [(0, 3)]), ValueError, "update of input 0"),
    "name of nobody": (lambda g: g.set_name(99, "x"), IndexError, "set_name: got value 99"),
    "outputs differ": (lambda g: g.replace_call(1, "topk", [2], k=1), ValueError, "with 2 outputs, expected 1"),
}


@each("case", WRONG)
def test_wrong_edits_change_nothing(case):
    edit, error, text = WRONG[case]
    graph = make_graph()
    with pytest.raises(error, match=text):
        edit(graph)
    assert str(graph) == TEXT and len(graph.values) == 6
    graph.verify()


def test_a_failing_block_changes_nothing():
    graph = make_graph()
    with pytest.raises(KeyError), graph.edit():
        graph.add_call("relu", [0])
        raise KeyError("trouble")
    assert str(graph) == TEXT
    graph.add_call("relu", [0])
    assert len(graph) == 4


def test_copies_are_apart():
    graph = make_graph()
    graph.copy().add_call("relu", [0])
    assert str(graph) == TEXT


def test_drawing():
    graph = make_graph()
    drawing = xml.etree.ElementTree.fromstring(graph.svg())
    texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("relu") == 1 and "float32[batch, 3]" in texts and "y" in texts
    assert graph._repr_svg_() == graph.svg()
    xml.etree.ElementTree.fromstring(dragon.Graph("<&>").svg())


def test_graphs_within_graphs_are_told_by_their_operators():
    graph = make_nested()
    assert "fused([%0:x, %0:x], body={mul, add})" in str(graph)
    assert "mul, add" in graph.svg()


def test_boxes_do_not_overlap():
    graph = dragon.Graph("wide")
    with graph.edit():
        x = graph.add_input((2, 2))
        joined = [graph.add_call("pow", [graph.add_call("exp", [x])[0], graph.add_input((2, 2), name=f"input{i}")])[0]
                  for i in range(12)]
        graph.outputs = graph.add_call("cat", [joined + [x]])
    drawing = xml.etree.ElementTree.fromstring(graph.svg())
    boxes = [tuple(float(box.get(key)) for key in ("x", "y", "width", "height"))
             for box in drawing.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(boxes) == 13 + 24 + 1 + 1
    for place, (x0, y0, w0, h0) in enumerate(boxes):
        for x1, y1, w1, h1 in boxes[place + 1:]:
            assert x0 + w0 <= x1 + 0.2 or x1 + w1 <= x0 + 0.2 or y0 + h0 <= y1 or y1 + h1 <= y0
