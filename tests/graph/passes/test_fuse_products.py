"""Convolutions and linear layers take in what follows them; batch norms are folded; weights are packed."""
import numpy
import pytest

import dragon
from harness.graphs import build, call, check_equal, evaluate, feeds_of, ops, optimized
from harness.subresults import each
from dragon import _C
from dragon.vm import torch

CONV = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
FUSE = ("fuse_convolution", "fuse_linear", "prune")
ACTIVATIONS = [("relu", {}), ("relu6", {}), ("hardtanh", {"min_val": -0.5, "max_val": 0.25}), ("hardsigmoid", {}),
               ("leaky_relu", {"negative_slope": 0.2}), ("elu", {"alpha": 0.5}), ("hardswish", {}), ("sigmoid", {}),
               ("silu", {}), ("tanh", {}), ("gelu", {"approximate": "none"}), ("gelu", {"approximate": "tanh"})]


def constant(graph, *shape, seed=0, positive=False):
    numbers = numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype("float32")
    return graph.add_constant(dragon.tensor(numpy.abs(numbers) + 0.5 if positive else numbers))


def convolve(graph, x, channels, seed=0, weight=None, bias=None):
    """Add a convolution of a 3 x 3 window that keeps the image's size."""
    _, into, height, width = graph.value(x).shape
    weight = constant(graph, channels, into, 3, 3, seed=seed) if weight is None else weight
    return call(graph, "conv_forward", x, weight, bias, size=[height, width], **CONV)


def normalise(graph, x, seed=0, training=False):
    channels = graph.value(x).shape[1]
    statistics = [constant(graph, channels, seed=seed + i, positive=i == 4) for i in range(1, 5)]
    return call(graph, "native_batch_norm", x, *statistics, training=training, momentum=0.1, eps=1e-3)[0]


def net(*tails):
    """Return the graph of a convolution, followed by what each of `tails` adds."""
    graph, (x, other) = build((2, 4, 5, 6), (2, 8, 5, 6))
    y = convolve(graph, x, 8)
    other = call(graph, "conv_forward", other, constant(graph, 8, 8, 1, 1), None, size=[5, 6],
                 **{**CONV, "padding": [0, 0]})
    for tail in tails:
        y = tail(graph, y, other)
    graph.outputs = [y]
    return graph


def add_residual(graph, y, other):
    return call(graph, "add", other, y)


def add_bias(graph, y, other):
    return call(graph, "add", y, constant(graph, 1, 8, 1, 1, seed=5))


def relu(graph, y, other):
    return call(graph, "relu", y)


@each("name, attributes", ACTIVATIONS)
def test_every_activation_goes_into_the_product(name, attributes):
    graph = net(lambda graph, y, other: call(graph, name, y, **attributes))
    assert ops(optimized(graph, *FUSE, tolerance=1e-4)) == ["conv_fused"]
    graph, (x, weight, bias) = build((3, 4, 16), (8, 16), (8,))
    graph.outputs = [call(graph, name, call(graph, "linear", x, weight, bias), **attributes)]
    assert ops(optimized(graph, *FUSE, tolerance=1e-4)) == ["linear_fused"]


@pytest.mark.parametrize("tails, left", [
    ((add_residual, relu), ["conv_forward", "conv_fused"]),
    ((add_bias, add_residual, relu), ["conv_forward", "conv_fused"]),
    ((add_bias, relu), ["conv_fused"]),
    ((relu, add_residual), ["conv_fused", "conv_fused"]),  # the other convolution takes the first one in
    ((relu, relu), ["conv_fused", "relu"]),
    ((add_residual, add_bias), ["conv_forward", "conv_fused"]),
])
def test_chains(tails, left):
    assert ops(optimized(net(*tails), *FUSE, tolerance=1e-4)) == left


def test_what_is_read_twice_stays():
    graph, (x,) = build((1, 3, 4, 4))
    y = convolve(graph, x, 4)
    graph.outputs = [call(graph, "relu", y), y]
    assert ops(optimized(graph, *FUSE)) == ["conv_forward", "relu"]


def test_a_scaled_or_broadcast_sum_stays():
    graph, (x, row) = build((1, 3, 4, 4), (4,))
    y = convolve(graph, x, 4)
    graph.outputs = [call(graph, "add", y, row)]
    assert ops(optimized(graph, *FUSE)) == ["conv_forward", "add"]
    graph, (x, w, r) = build((3, 4), (5, 4), (3, 5))
    graph.outputs = [call(graph, "add", call(graph, "linear", x, w, None), r, alpha=2)]
    assert ops(optimized(graph, *FUSE)) == ["linear", "add"]


def test_a_residual_in_another_layout_keeps_the_layout_of_the_sum():
    graph, (x, other) = build((2, 4, 5, 6), (2, 8, 5, 6))
    graph.outputs = [call(graph, "relu", call(graph, "add", other, convolve(graph, x, 8)))]
    optimized(graph, *FUSE, tolerance=1e-4)


def test_products_with_constant_matrices_are_linear_layers():
    graph, (x,) = build((2, 5, 8))
    y = call(graph, "add", call(graph, "matmul", x, constant(graph, 8, 6)), constant(graph, 6, seed=2))
    graph.outputs = [call(graph, "gelu", y, approximate="none")]
    assert ops(optimized(graph, *FUSE, tolerance=1e-4)) == ["linear_fused"]
    graph, (x, bias) = build((5, 8), (6,))
    graph.outputs = [call(graph, "relu", call(graph, "addmm", bias, x, constant(graph, 8, 6)))]
    assert ops(optimized(graph, *FUSE, tolerance=1e-4)) == ["linear_fused"]


def test_batch_norms_fold_into_weights():
    for weight_is_constant, left in ((True, ["conv_forward"]), (False, ["conv_forward", "addcmul"])):
        graph, (x, weight) = build((2, 3, 5, 5), (4, 3, 3, 3))
        graph.outputs = [normalise(graph, convolve(graph, x, 4, weight=None if weight_is_constant else weight))]
        assert ops(optimized(graph, "fold_batch_norm", "prune", tolerance=1e-4)) == left
    graph, (x,) = build((5, 6))
    y = call(graph, "linear", x, constant(graph, 4, 6), constant(graph, 4))
    graph.outputs = [normalise(graph, y)]
    assert ops(optimized(graph, "fold_batch_norm", "prune", tolerance=1e-4)) == ["linear"]


def test_batch_norms_in_training_stay():
    graph, (x,) = build((2, 3, 5, 5))
    graph.outputs = [normalise(graph, convolve(graph, x, 4), training=True)]
    assert "native_batch_norm" in ops(optimized(graph, "fold_batch_norm"))


@pytest.mark.parametrize("shape", [(2, 3, 5, 5), (4, 6), (2, 3, 7)])
def test_batch_norms_that_stand_alone_are_pointwise(shape):
    graph, (x,) = build(shape)
    graph.outputs = [normalise(graph, x)]
    assert ops(optimized(graph, "fold_batch_norm", tolerance=1e-5)) == ["addcmul"]
    if len(shape) == 4:
        graph, (x,) = build(shape)
        y = convolve(graph, x, 4)
        graph.outputs = [normalise(graph, y), y]  # what is read twice keeps its weights
        assert ops(optimized(graph, "fold_batch_norm", tolerance=1e-4)) == ["conv_forward", "addcmul"]


def test_statistics_at_inference_are_no_updates():
    graph, (x, mean, var) = build((2, 3, 5, 5), (3,), (3,))
    made = call(graph, "native_batch_norm", x, None, None, mean, call(graph, "abs", var), training=False,
                momentum=0.1, eps=1e-3)
    graph.outputs, graph.updates = [made[0]], [(1, made[3])]
    assert optimized(graph, "fold_batch_norm", "prune").updates == []


def residual_net():
    """Return the graph of a small net of residual blocks with batch norms and a linear layer at its end."""
    graph, (x,) = build((2, 3, 12, 12))
    y = call(graph, "relu", normalise(graph, convolve(graph, x, 32)))
    for block in range(2):
        inner = call(graph, "relu", normalise(graph, convolve(graph, y, 32, seed=block), block))
        inner = normalise(graph, convolve(graph, inner, 32, seed=9), 7)
        y = call(graph, "relu", call(graph, "add", inner, y))
    y = call(graph, "mean", y, axis=[2, 3], keepdims=False)
    graph.outputs = [call(graph, "linear", y, constant(graph, 10, 32), constant(graph, 10))]
    return graph


def test_a_residual_net_is_its_products():
    graph = residual_net()
    after = optimized(graph, tolerance=1e-3)
    assert ops(after) == ["conv_fused"] * 5 + ["mean", "linear_fused"]
    packed = [node.attrs["weight_layout"] for node in after.calls if "weight_layout" in node.attrs]
    assert len(packed) == 6


def test_packed_weights_serve_another_batch():
    graph = residual_net()
    after = graph.copy()
    _C.optimize(after, 3)
    feeds = [dragon.tensor(numpy.random.default_rng(0).standard_normal((5, 3, 12, 12)).astype("float32"))]
    numpy.testing.assert_allclose(evaluate(after, feeds)[0][0].numpy(), evaluate(graph, feeds)[0][0].numpy(),
                                  rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shape, weight, groups", [
    ((1, 32, 7, 7), (32, 1, 3, 3), 32), ((2, 64, 5, 5), (48, 64, 1, 1), 1), ((1, 8, 9, 9), (12, 4, 3, 3), 2),
    ((2, 3, 9, 9), (16, 3, 3, 3), 1)])
def test_packing_every_kind_of_window(shape, weight, groups):
    graph, (x,) = build(shape)
    pad = weight[2] // 2
    y = call(graph, "conv_forward", x, constant(graph, *weight), constant(graph, weight[0]), size=list(shape[2:]),
             **{**CONV, "padding": [pad, pad], "groups": groups})
    graph.outputs = [call(graph, "relu6", y)]
    assert ops(optimized(graph, "fuse_convolution", "pack_weights", tolerance=1e-4)) == ["conv_fused"]


def test_weights_that_are_inputs_are_not_packed():
    graph, (x, w) = build((4, 8), (6, 8))
    graph.outputs = [call(graph, "relu", call(graph, "linear", x, w, None))]
    after = optimized(graph, tolerance=1e-4)
    assert [node.attrs["weight_layout"] for node in after.calls] == [""]
    check_equal(graph, after, tolerance=1e-4)
    assert len(feeds_of(after)) == 2


def test_a_training_step_shows_that_it_has_diverged():
    """A fused maximum would turn NaN into 0, and the loss would look healthy."""
    conv = torch.nn.Conv2d(3, 4, 3)
    x = torch.randn(2, 3, 8, 8)

    def step(x):
        loss = torch.relu(conv(x)).sum()
        with torch.no_grad():
            conv.bias.add_(1.0)
        return loss.detach()

    trace = _C.Trace()
    trace.add_input(x)
    trace.start()
    loss = step(x)
    trace.stop()
    compiled = trace.finish([loss]).compile(differentiate=False)
    x[0, 0, 0, 0] = float("nan")
    assert compiled.run([x])[0].isnan() and step(x).isnan()
