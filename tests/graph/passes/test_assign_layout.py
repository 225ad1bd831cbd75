"""Copies into row-major order go where nobody needs them."""
import dragon
from harness.graphs import build, call, ops, optimized


def test_heads_of_attention_are_read_where_they_lie():
    graph, (x,) = build((5, 1, 24))
    y = call(graph, "permute", call(graph, "view", x, shape=[5, 1, 3, 8]), axes=[2, 0, 1, 3])
    y = call(graph, "to_row_major", y)
    parts = [call(graph, "select", y, axis=0, index=index) for index in range(3)]
    heads = [call(graph, "transpose", call(graph, "view", part, shape=[5, 2, 4]), axis0=0, axis1=1) for part in parts]
    graph.outputs = [call(graph, "matmul", call(graph, "add", heads[0], heads[1]),
                          call(graph, "transpose", heads[2], axis0=1, axis1=2))]
    assert "to_row_major" not in ops(optimized(graph, "assign_layout", tolerance=1e-5))


def test_a_view_that_needs_the_order_keeps_the_copy():
    graph, (x,) = build((4, 6))
    y = call(graph, "to_row_major", call(graph, "transpose", x, axis0=0, axis1=1))
    graph.outputs = [call(graph, "exp", call(graph, "view", y, shape=[24]))]
    assert ops(optimized(graph, "assign_layout")) == ["transpose", "to_row_major", "view", "exp"]


def test_results_keep_their_order():
    for tail in ([], ["exp"]):
        graph, (x,) = build((4, 6))
        y = call(graph, "to_row_major", call(graph, "transpose", x, axis0=0, axis1=1))
        for op in tail:
            y = call(graph, op, y)
        graph.outputs = [y]
        after = optimized(graph, "assign_layout")
        assert "to_row_major" in ops(after) and tuple(after.value(after.outputs[0]).strides) == (4, 1)


def test_reductions_end_what_a_copy_changes():
    graph, (x,) = build((4, 6))
    y = call(graph, "to_row_major", call(graph, "transpose", x, axis0=0, axis1=1))
    graph.outputs = [call(graph, "sum", call(graph, "exp", y), axis=[0], keepdims=False)]
    assert ops(optimized(graph, "assign_layout", tolerance=1e-6)) == ["transpose", "exp", "sum"]


def test_joined_images_keep_channels_side_by_side():
    graph, (x,) = build((2, 3, 5, 6))
    weight = graph.add_constant(dragon.ones((4, 3, 1, 1)))
    y = call(graph, "conv_forward", x, weight, None, size=[5, 6], stride=[1, 1], padding=[0, 0], dilation=[1, 1],
             groups=1)
    joined = call(graph, "cat", [y, call(graph, "exp", y)], axis=1)
    assert tuple(graph.value(joined).strides) == (5 * 6 * 8, 1, 6 * 8, 8)
    graph.outputs = [call(graph, "mean", joined, axis=[2, 3], keepdims=False)]
    optimized(graph, tolerance=1e-5)
