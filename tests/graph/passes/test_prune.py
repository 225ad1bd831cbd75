"""Pruning: calls, constants, updates and results that nobody reads."""
import dragon
from harness.graphs import build, call, check_equal, ops, optimized
from dragon import _C


def test_a_dead_chain_goes():
    graph, (x,) = build((2, 3))
    call(graph, "exp", call(graph, "neg", x))
    graph.outputs = [call(graph, "abs", x)]
    assert ops(optimized(graph, "prune")) == ["abs"]


def test_random_calls_stay():
    graph, (x,) = build((2, 3))
    call(graph, "rand_like", x)
    graph.outputs = [call(graph, "abs", x)]
    after = graph.copy()
    _C.optimize(after, 1, verify=True)
    assert ops(after) == ["rand_like", "abs"]


def test_written_values_count_as_read_when_they_are_updates():
    graph, (x, weight, bias, mean, var) = build((4, 3), (3,), (3,), (3,), (3,))
    made = call(graph, "native_batch_norm", x, weight, bias, mean, var, training=True, momentum=0.1, eps=1e-5)
    graph.outputs = []
    graph.updates = [(3, made[3]), (4, made[4])]
    after = optimized(graph, "prune")
    assert ops(after) == ["native_batch_norm"]
    graph.updates = []
    assert ops(optimized(graph, "prune")) == []


def test_an_idle_update_goes():
    graph, (x,) = build((2,))
    graph.outputs = [call(graph, "abs", x)]
    graph.updates = [(0, x)]
    assert optimized(graph, "prune").updates == []


def test_unread_constants_go():
    graph, (x,) = build((2,))
    graph.add_constant(dragon.ones((2,)))
    graph.outputs = [call(graph, "abs", x)]
    assert not optimized(graph, "prune").constants


def test_a_cheaper_operator_for_the_one_result():
    for op, result, instead in (("max_axis", 0, "amax"), ("max_axis", 1, "argmax"), ("min_axis", 0, "amin"),
                                ("min_axis", 1, "argmin")):
        graph, (x,) = build((3, 4))
        graph.outputs = [call(graph, op, x, axis=1, keepdims=True)[result]]
        assert ops(optimized(graph, "prune")) == [instead]
    graph, (x,) = build((3, 4))
    graph.outputs = [call(graph, "real_var_mean", x, axis=(0,))[0]]
    assert ops(optimized(graph, "prune")) == ["real_var"]


def test_both_results_keep_the_operator():
    graph, (x,) = build((3, 4))
    graph.outputs = call(graph, "max_axis", x, axis=1)
    assert ops(optimized(graph, "prune")) == ["max_axis"]


def test_gradients_that_nobody_reads_are_not_computed():
    graph, (dy, x, weight) = build((4, 3), (4, 3), (3,))
    _, mean, rstd = call(graph, "native_layer_norm", x, weight, None, normalized_shape=(3,), eps=1e-5)
    dx, dweight, dbias = call(graph, "layer_norm_backward", dy, x, mean, rstd, weight, normalized_shape=(3,),
                              with_x=True, with_weight=True, with_bias=True)
    graph.outputs = [dweight]
    after = optimized(graph, "prune")
    attrs = after.calls[-1].attrs
    assert (attrs["with_x"], attrs["with_weight"], attrs["with_bias"]) == (False, True, False)
    check_equal(graph, after, seed=1)


def test_a_pooling_without_indices():
    graph, (x,) = build((1, 2, 6, 6))
    pooled = call(graph, "max_pool_with_indices", x, size=(3, 3), window=(3, 3), stride=(2, 2), padding=(1, 1),
                  dilation=(1, 1), adaptive=False)
    graph.outputs = [pooled[0]]
    assert ops(optimized(graph, "prune")) == ["max_pool"]
    graph.outputs = [pooled[1]]
    assert ops(optimized(graph, "prune")) == ["max_pool_with_indices"]
