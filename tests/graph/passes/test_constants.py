"""Folding: what depends on constants only is computed beforehand, within bounds, and never where a user could write."""
import numpy as np

import dragon
from dragon import _C
from harness.graphs import build, call, ops, optimized


def test_a_chain_of_constants_becomes_one():
    graph, (x,) = build((2, 3))
    weight = graph.add_constant(dragon.ones((3, 2)))
    turned = call(graph, "transpose", call(graph, "exp", weight), axis0=0, axis1=1)
    graph.outputs = [call(graph, "mul", x, call(graph, "neg", turned))]
    after = optimized(graph, "constants", "prune")
    assert ops(after) == ["mul"] and len(after.constants) == 1
    (folded,) = after.constants.values()
    np.testing.assert_allclose(folded.numpy(), -np.e * np.ones((2, 3)), rtol=1e-6)


def test_views_stay_views_of_their_constant():
    graph, (x,) = build((2, 3))
    weight = graph.add_constant(dragon.ones((3, 2)))
    graph.outputs = [call(graph, "mul", x, call(graph, "transpose", weight, axis0=0, axis1=1))]
    assert ops(optimized(graph, "constants", "prune")) == ["transpose", "mul"]


def test_small_creations_fold_and_large_do_not():
    for size, left in ((8, ["mul"]), (1 << 20, ["ones", "mul"])):
        graph, (x,) = build((size,))
        graph.outputs = [call(graph, "mul", x, call(graph, "ones", shape=(size,), dtype="float32"))]
        after = graph.copy()
        _C.optimize(after, 1, {name for name, *_ in _C.pass_names()} - {"constants", "prune"}, True)
        assert ops(after) == left


def test_results_stay_bounded():
    graph, (x,) = build((1,))
    one = graph.add_constant(dragon.ones((1, 1)))
    wide = call(graph, "clone", call(graph, "expand", one, shape=(4096, 4096)))
    graph.outputs = [call(graph, "mul", x, wide)]
    after = graph.copy()
    _C.optimize(after, 1, {name for name, *_ in _C.pass_names()} - {"constants", "prune"}, True)
    assert ops(after) == ["expand", "clone", "mul"]


def test_outputs_keep_memory_of_their_own():
    graph, _ = build()
    fresh = call(graph, "zeros", shape=(2,), dtype="float32")
    graph.outputs = [fresh, call(graph, "view", fresh, shape=(1, 2))]
    assert ops(optimized(graph, level=1)) == ["zeros", "view"]


def test_random_numbers_and_bare_memory_are_not_constants():
    graph, (x,) = build((2,))
    known = graph.add_constant(dragon.ones((2,)))
    drawn = call(graph, "add", x, call(graph, "rand_like", known))
    graph.outputs = [call(graph, "add", drawn, call(graph, "empty", shape=(2,), dtype="float32"))]
    after = graph.copy()
    _C.optimize(after, 1, verify=True)
    assert "rand_like" in ops(after) and "empty" in ops(after)


def test_what_cannot_be_computed_is_left_alone():
    graph, (x,) = build((2,))
    singular = graph.add_constant(dragon.zeros((2, 2)))
    graph.outputs = [call(graph, "add", x, call(graph, "linalg_inv_ex", singular, check_errors=True)[0])]
    after = graph.copy()
    _C.optimize(after, 1, verify=True)
    assert ops(after) == ["linalg_inv_ex", "add"]
