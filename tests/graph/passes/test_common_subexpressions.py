"""Common subexpressions: equal calls and equal constants become one, but outputs stay apart."""
import numpy as np

import dragon
from dragon import _C
from harness.graphs import build, call, check_equal, ops, optimized


def merged(graph):
    return ops(optimized(graph, "common_subexpressions", "prune"))


def test_equal_chains_meet():
    graph, (x, y) = build((2, 3), (2, 3))
    left = call(graph, "exp", call(graph, "add", x, y))
    right = call(graph, "exp", call(graph, "add", y, x))
    graph.outputs = [call(graph, "mul", left, right)]
    assert merged(graph) == ["add", "exp", "mul"]


def test_order_and_attributes_matter():
    for first, second in ((("sub", {}), ("sub", {})), (("add", {"alpha": 2}), ("add", {"alpha": 2}))):
        graph, (x, y) = build((3,), (3,))
        graph.outputs = [call(graph, "mul", call(graph, first[0], x, y, **first[1]),
                              call(graph, second[0], y, x, **second[1]))]
        assert len(merged(graph)) == 3
    graph, (x,) = build((3, 3))
    graph.outputs = [call(graph, "add", call(graph, "sum", x, axis=(0,)), call(graph, "sum", x, axis=(1,)))]
    assert len(merged(graph)) == 3


def test_zeros_of_both_signs_differ():
    graph, (x,) = build((2,))
    both = [call(graph, "full", shape=(2,), value=value, dtype="float32") for value in (0.0, -0.0)]
    graph.outputs = [call(graph, "div", x, value) for value in both]
    assert len(merged(graph)) == 4


def test_equal_constants_meet():
    graph, (x,) = build((2,))
    first, second, third = (graph.add_constant(dragon.tensor(np.array(v, "float32"))) for v in ((1, 2), (1, 2), (2, 1)))
    graph.outputs = [call(graph, "add", call(graph, "add", x, first), call(graph, "mul", x, second)),
                     call(graph, "mul", x, third)]
    after = optimized(graph, "common_subexpressions", "prune")
    assert len(after.constants) == 2


def test_random_calls_differ():
    graph, (x,) = build((2,))
    graph.outputs = [call(graph, "sub", call(graph, "rand_like", x), call(graph, "rand_like", x))]
    after = graph.copy()
    _C.optimize(after, 1, verify=True)
    assert len(after) == 3


def test_outputs_stay_two():
    graph, (x,) = build((2,))
    graph.outputs = [call(graph, "exp", x), call(graph, "exp", x)]
    assert merged(graph) == ["exp", "exp"]
    graph.outputs = [graph.outputs[0], call(graph, "neg", graph.outputs[1])]
    assert merged(graph) == ["exp", "neg"]


def test_results_that_only_the_second_asks_for():
    graph, (x,) = build((3, 4))
    first = call(graph, "sort", x, axis=1)
    second = call(graph, "sort", x, axis=1)
    graph.outputs = [call(graph, "neg", first[0]), call(graph, "neg", second[1])]
    _C.optimize(graph, 1, {name for name, *_ in _C.pass_names()} - {"prune"}, True)
    assert merged(graph) == ["sort", "neg", "neg"]


def test_views_of_an_output_keep_it_apart():
    graph, (x,) = build((4,))
    first, second = call(graph, "exp", x), call(graph, "exp", x)
    graph.outputs = [call(graph, "view", first, shape=(2, 2)), call(graph, "view", second, shape=(4, 1))]
    after = optimized(graph, "common_subexpressions")
    assert ops(after).count("exp") == 2
    check_equal(graph, after)
