"""PyTorch's operators for gradients, called by name: the same numbers as there, for graphs that came from elsewhere."""
import numpy
import torch as genuine

from dragon.vm import torch
from harness.subresults import each

ONES, IMAGE, WEIGHT = (2, 3), (2, 3, 5, 6), (4, 3, 3, 2)
ALL = [True, True, True]
# By name and case: what makes the arguments of a framework; `r` draws a tensor.
CALLS = {
    "tanh_backward": lambda t, r: (r(*ONES), r(*ONES)), "sigmoid_backward": lambda t, r: (r(*ONES), r(*ONES)),
    "gelu_backward": lambda t, r: (r(*ONES), r(*ONES)), "silu_backward": lambda t, r: (r(*ONES), r(*ONES)),
    "hardswish_backward": lambda t, r: (r(*ONES), 4 * r(*ONES)), "mish_backward": lambda t, r: (r(*ONES), r(*ONES)),
    "hardsigmoid_backward": lambda t, r: (r(*ONES), 4 * r(*ONES)),
    "softplus_backward": lambda t, r: (r(*ONES), r(*ONES), 2.0, 1.0),
    "hardtanh_backward": lambda t, r: (r(*ONES), r(*ONES), -0.5, 0.5),
    "hardshrink_backward": lambda t, r: (r(*ONES), r(*ONES), 0.5),
    "softshrink_backward": lambda t, r: (r(*ONES), r(*ONES), 0.5),
    "threshold_backward": lambda t, r: (r(*ONES), r(*ONES), 0.1),
    "leaky_relu_backward": lambda t, r: (r(*ONES), r(*ONES), 0.1, True),
    "elu_backward": lambda t, r: (r(*ONES), 0.7, 1.2, 0.9, False, r(*ONES)),
    "elu_backward of a result": lambda t, r: (r(*ONES), 0.7, 1.2, 0.9, True, r(*ONES).clamp(min=-0.5)),
    "log_sigmoid_backward": lambda t, r: (r(*ONES), t.ones(2, 3) / 3, t.exp(-t.ones(2, 3) / 3)),
    "_softmax_backward_data": lambda t, r: (r(*ONES), r(*ONES).softmax(1), 1, t.float32),
    "_log_softmax_backward_data": lambda t, r: (r(*ONES), r(*ONES).log_softmax(1), 1, t.float32),
    "convolution_backward": lambda t, r: (r(2, 4, 3, 3), r(*IMAGE), r(*WEIGHT), [4], [2, 2], [1, 0], [1, 1], False,
                                          [0, 0], 1, ALL),
    "convolution_backward in groups": lambda t, r: (r(2, 6, 3, 5), r(*IMAGE), r(6, 1, 3, 2), [6], [1, 1], [0, 0],
                                                    [1, 1], False, [0, 0], 3, [True, True, False]),
    "convolution_backward transposed": lambda t, r: (r(2, 4, 7, 7), r(*IMAGE), r(3, 4, 3, 2), [4], [1, 1], [0, 0],
                                                     [1, 1], True, [0, 0], 1, ALL),
    "native_batch_norm_backward": lambda t, r: (r(*IMAGE), r(*IMAGE), r(3), r(3), r(3) ** 2 + 1, r(3), r(3) ** 2 + 1,
                                                True, 1e-5, ALL),
    "native_batch_norm_backward at rest": lambda t, r: (r(*IMAGE), r(*IMAGE), r(3), r(3), r(3) ** 2 + 1, r(3),
                                                        r(3) ** 2 + 1, False, 1e-5, [True, False, True]),
    "native_layer_norm_backward": lambda t, r: (r(4, 6), r(4, 6), [6], r(4, 1), r(4, 1) ** 2 + 1, r(6), r(6), ALL),
    "native_group_norm_backward": lambda t, r: (r(2, 4, 5), r(2, 4, 5), r(2, 2), r(2, 2) ** 2 + 1, r(4), 2, 4, 5, 2,
                                                ALL),
    "embedding_dense_backward": lambda t, r: (r(2, 3), t.tensor([1, 3]), 5, 3, False),
    "avg_pool2d_backward": lambda t, r: (r(2, 3, 2, 3), r(*IMAGE), [2, 2], [2, 2], [0, 0], False, True, None),
    "max_pool2d_with_indices_backward": lambda t, r: (r(2, 3, 2, 3), r(*IMAGE), [2, 2], [2, 2], [0, 0], [1, 1], False,
                                                      t.arange(6).reshape(2, 3).expand(2, 3, 2, 3).contiguous() * 5),
    "nll_loss_backward": lambda t, r: (r(1)[0], r(4, 3), t.tensor([0, 2, -100, 1]), r(3), 1, -100, t.tensor(2.5)),
    "nll_loss_backward of each": lambda t, r: (r(4), r(4, 3), t.tensor([0, 2, 2, 1]), None, 0, -100, t.tensor(4.0)),
    "select_backward": lambda t, r: (r(3), [3, 4], 1, -2), "slice_backward": lambda t, r: (r(3, 2), [3, 5], 1, 1, 5, 2),
    "diagonal_backward": lambda t, r: (r(2), [3, 4], -1, 0, 1),
}


def called(t, name):
    """Return what an operator gives, as arrays."""
    draws = numpy.random.default_rng(3)
    arguments = CALLS[name](t, lambda *shape: t.tensor(draws.normal(size=shape).astype("float32").tolist()))
    found = getattr(t.ops.aten, name.split()[0])(*arguments)
    return [one if one is None else one.numpy() for one in (found if isinstance(found, (tuple, list)) else [found])]


@each("name", CALLS)
def test_backward_operators(name):
    for mine, theirs in zip(called(torch, name), called(genuine, name), strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            numpy.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
