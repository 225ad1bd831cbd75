"""Simplification: work that changes nothing goes, chains of views become one, and all of it to the bit."""
import numpy as np
import pytest

import dragon
from dragon import _C
from harness.graphs import build, call, check_equal, ops, optimized
from harness.subresults import each


def number(graph, value, dtype="float32"):
    return graph.add_constant(dragon.tensor(np.array(value, dtype)))


def chain(*steps, shape=(2, 3), behind="exp"):
    """Return a graph of one input, a call for each (op, arguments), and one more operator before the output."""
    graph, (value,) = build(shape)
    value = call(graph, "sin", value)
    for op, arguments in steps:
        value = call(graph, op, value, **arguments)
    graph.outputs = [call(graph, behind, value)]
    return graph


def simplified(graph):
    return ops(optimized(graph, "simplify", "prune"))


@pytest.mark.parametrize("op, value, left, right", [
    ("mul", 1, True, True), ("mul", 2, False, False), ("div", 1, True, False), ("sub", 0.0, True, False),
    ("sub", -0.0, False, False), ("add", 0.0, False, False), ("add", -0.0, True, True), ("pow", 1, True, False)])
def test_numbers_that_change_nothing(op, value, left, right):
    for number_first, goes in ((False, left), (True, right)):
        graph, (x,) = build((2, 3))
        operands = [call(graph, "abs", x), number(graph, value)]
        graph.outputs = [call(graph, "exp", call(graph, op, *operands[::-1 if number_first else 1]))]
        assert simplified(graph) == (["abs", "exp"] if goes else ["abs", op, "exp"])


def test_zero_added_to_integers():
    graph, (x,) = build((2, 3), dtype="int64")
    graph.outputs = [call(graph, "neg", call(graph, "add", x, number(graph, 0, "int64")))]
    assert simplified(graph) == ["neg"]


def test_a_wider_operand_still_broadcasts():
    graph, (x,) = build((3,))
    graph.outputs = [call(graph, "exp", call(graph, "mul", x, call(graph, "ones", shape=(2, 3), dtype="float32")))]
    assert simplified(graph) == ["ones", "mul", "exp"]


def test_squares():
    graph, (x,) = build((2, 3))
    graph.outputs = [call(graph, "pow", x, number(graph, 2))]
    assert simplified(graph) == ["square"]


@pytest.mark.parametrize("op", ["relu", "abs", "floor", "ceil", "trunc", "round", "sign"])
def test_once_is_enough(op):
    assert simplified(chain((op, {}), (op, {}))) == ["sin", op, "exp"]


def test_other_arguments_are_another_operation():
    assert len(simplified(chain(("round", {"decimals": 1}), ("round", {})))) == 4


def test_there_and_back():
    assert simplified(chain(("neg", {}), ("neg", {}), ("neg", {}))) == ["sin", "neg", "exp"]
    assert simplified(chain(("neg", {}), behind="abs")) == ["sin", "abs"]


def test_both_the_same():
    graph, (x, y) = build((2, 3), (2, 3))
    z = call(graph, "maximum", x, x)
    condition = call(graph, "gt", x, y)
    graph.outputs = [call(graph, "exp", call(graph, "where", condition, z, x))]
    assert simplified(graph) == ["exp"]


@each("steps", [
    [("clone", {})], [("copy", {})], [("to_row_major", {})], [("cast", {"dtype": "float32"})],
    [("to_device", {"device": "cpu"})], [("cast", {"dtype": "float64"}), ("cast", {"dtype": "float32"})],
    [("expand", {"shape": (2, 3)})], [("expand", {"shape": (-1, -1)})], [("slice", {"axis": 1})],
    [("slice", {"axis": 0, "start": 0, "stop": 9})], [("squeeze", {})], [("view", {"shape": (2, 3)})],
    [("view", {"shape": (6,)}), ("view", {"shape": (2, -1)})], [("unsqueeze", {"axis": 1}), ("squeeze", {"axis": 1})],
    [("transpose", {"axis0": 0, "axis1": 1}), ("transpose", {"axis0": -1, "axis1": -2})],
    [("permute", {"axes": (1, 0)}), ("transpose", {"axis0": 0, "axis1": 1})], [("permute", {"axes": (0, 1)})],
    [("unsqueeze", {"axis": 0}), ("permute", {"axes": (1, 0, 2)}), ("squeeze", {"axis": 1})],
    [("unsqueeze", {"axis": 0}), ("sum", {"axis": (0,)})], [("unsqueeze", {"axis": 0}), ("amax", {"axis": (0,)})],
    [("clone", {}), ("clone", {}), ("view", {"shape": (3, 2)}), ("clone", {}), ("view", {"shape": (2, 3)})]])
def test_chains_that_change_nothing(steps):
    assert simplified(chain(*steps)) == ["sin", "exp"]


@each("steps, left", [
    ([("view", {"shape": (6,)}), ("view", {"shape": (3, 2)})], ["view"]),
    ([("unsqueeze", {"axis": 0}), ("unsqueeze", {"axis": 0}), ("view", {"shape": (6,)})], ["view"]),
    ([("view", {"shape": (1, 2, 3)}), ("permute", {"axes": (2, 0, 1)}), ("permute", {"axes": (2, 1, 0)})], ["view"]),
    ([("view", {"shape": (1, 6, 1)}), ("transpose", {"axis0": 0, "axis1": 2})], ["view"]),
    ([("unsqueeze", {"axis": 0}), ("expand", {"shape": (4, 2, 3)}), ("expand", {"shape": (5, 4, 2, 3)})],
     ["unsqueeze", "expand"]),
    ([("cast", {"dtype": "float64"}), ("cast", {"dtype": "float16"})], ["cast"]),
    ([("cast", {"dtype": "float16"}), ("cast", {"dtype": "float32"})], ["cast", "cast"]),
    ([("sum", {"axis": (1,)}), ("clone", {}), ("unsqueeze", {"axis": 1}), ("mean", {"axis": (1,)})], ["sum"]),
    ([("transpose", {"axis0": 0, "axis1": 1}), ("to_row_major", {})], ["transpose", "to_row_major"]),
    ([("transpose", {"axis0": 0, "axis1": 1}), ("view", {"shape": (3, 2)})], ["transpose"])])
def test_chains_that_shrink(steps, left):
    assert simplified(chain(*steps)) == ["sin"] + left + ["exp"]


def test_casts_of_integers():
    for steps, left in (((("cast", {"dtype": "int64"}), ("cast", {"dtype": "int8"})), 1),
                        ((("cast", {"dtype": "float64"}), ("cast", {"dtype": "int8"})), 2)):
        graph, (x,) = build((5,), dtype="int32")
        value = x
        for op, arguments in steps:
            value = call(graph, op, value, **arguments)
        graph.outputs = [call(graph, "neg", value)]
        assert simplified(graph) == ["cast"] * left + ["neg"]


@pytest.mark.parametrize("first, middle, last, left", [
    ("uint8", "int16", "int32", 1), ("uint8", "int8", "int32", 2), ("int8", "uint8", "int32", 2),
    ("int16", "int8", "int64", 2), ("int32", "float32", "float64", 2), ("bool", "uint8", "float32", 1)])
def test_casts_between_kinds_of_integers(first, middle, last, left):
    """A cast of a cast is one where the first of them loses nothing; the numbers are the same in any case."""
    graph, (x,) = build((5,), dtype=first)
    value = call(graph, "cast", call(graph, "cast", x, dtype=middle), dtype=last)
    graph.outputs = [call(graph, "neg", value)]
    assert simplified(graph) == ["cast"] * left + ["neg"]


def test_a_number_need_not_fill_memory():
    graph, (x,) = build((4, 5))
    half = call(graph, "full", shape=(4, 5), value=0.5, dtype="float32")
    graph.outputs = [call(graph, "add", call(graph, "mul", x, half), half)]
    after = optimized(graph, "simplify", "prune")
    assert ops(after) == ["mul", "add"] and [c.shape for c in after.constants.values()] == [()]


def test_complex_numbers_keep_their_product():
    graph, (x,) = build((2,), dtype="complex64")
    graph.outputs = [call(graph, "mul", x, number(graph, 1, "complex64"))]
    after = graph.copy()
    _C.optimize(after, 1, verify=True)
    assert ops(after) == ["mul"]


def test_outputs_stay_apart_from_inputs_and_each_other():
    graph, (x,) = build((2, 3))
    graph.outputs = [call(graph, "clone", x)]
    assert simplified(graph) == ["clone"]
    graph, (x,) = build((2, 3))
    y = call(graph, "exp", x)
    graph.outputs = [y, call(graph, "clone", y), call(graph, "view", call(graph, "clone", y), shape=(6,))]
    assert simplified(graph).count("clone") == 2
    graph.outputs = [graph.outputs[1]]
    assert simplified(graph) == ["exp"]


def test_what_an_input_held_before_stays_its_own():
    graph, (x,) = build((2, 3))
    old, new = call(graph, "clone", x), call(graph, "neg", x)
    graph.outputs, graph.updates = [old], [(0, new)]
    assert simplified(graph) == ["clone", "neg"]
    graph.outputs = [call(graph, "exp", old)]
    assert simplified(graph) == ["neg", "exp"]


def test_sizes_known_only_later():
    graph = _C.Graph()
    x = graph.add_input((4, 3), "float32", "x", symbolic={0: "batch"})
    y = graph.add_input((4, 3), "float32", "y")
    graph.outputs = [call(graph, "add", call(graph, "expand", x, shape=(4, 3)), y)]
    after = graph.copy()
    _C.optimize(after, 1, verify=True)
    check_equal(graph, after)


@pytest.mark.parametrize("condition, left", [(True, ["sin", "exp"]), (False, ["cos", "exp"])])
def test_a_condition_that_is_known(condition, left):
    graph, (x,) = build((2, 3))
    known = number(graph, condition, "bool")
    graph.outputs = [call(graph, "exp", call(graph, "where", known, call(graph, "sin", x), call(graph, "cos", x)))]
    assert simplified(graph) == left


def test_numbers_of_unsigned_integers():
    def run(x):
        return dragon.ops.mul(x, dragon.full((3,), -1, dtype="uint8")), dragon.ops.floor_divide(
            x, dragon.full_like(x, -1))
    x = dragon.tensor([1, 200, 255], dtype="uint8")
    for own, eager in zip(dragon.function(run)(x), run(x)):
        assert own.tolist() == eager.tolist()
    assert run(x)[1].tolist() == [0, 0, 1]
