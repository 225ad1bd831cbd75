"""Gradients of activations, losses and norms, and steps of optimizers: for models of functions that train."""
import math

import numpy

from dragon.onnx.convolution import window_padding
from dragon.onnx.loss import count_target
from dragon.onnx.table import maps


def along(w, dy, slope):
    """Return a gradient times a slope."""
    return w.Mul(dy, slope)


def chosen(w, x, positive, negative):
    """Return one value where x is above 0, another elsewhere."""
    return w.Where(w.Greater(x, w.constant(0, x.dtype)), positive, negative)


@maps("relu_backward")
def relu_backward(w, dy, x):
    return chosen(w, x, dy, w.constant(0, dy.dtype))


@maps("leaky_relu_backward")
def leaky_relu_backward(w, dy, x, negative_slope):
    return chosen(w, x, dy, w.Mul(dy, negative_slope))


@maps("elu_backward")
def elu_backward(w, dy, x, alpha, scale, input_scale):
    below = w.Mul(w.Exp(w.Mul(x, input_scale)), alpha * scale * input_scale)
    return chosen(w, x, w.Mul(dy, scale), along(w, dy, below))


@maps("tanh_backward")
def tanh_backward(w, dy, y):
    return along(w, dy, w.Sub(1, w.Mul(y, y)))


@maps("sigmoid_backward")
def sigmoid_backward(w, dy, y):
    return along(w, dy, w.Mul(y, w.Sub(1, y)))


@maps("silu_backward")
def silu_backward(w, dy, x):
    y = w.Sigmoid(x)
    return along(w, dy, w.Mul(y, w.Add(w.Mul(x, w.Sub(1, y)), 1)))


@maps("gelu_backward")
def gelu_backward(w, dy, x, approximate):
    square = w.Mul(x, x)
    if approximate == "none":
        share = w.Mul(w.Add(w.Erf(w.Mul(x, math.sqrt(0.5))), 1), 0.5)
        density = w.Mul(w.Exp(w.Mul(square, -0.5)), 1 / math.sqrt(2 * math.pi))
        return along(w, dy, w.Add(share, w.Mul(x, density)))
    inner = w.Tanh(w.Mul(w.Mul(x, w.Add(w.Mul(square, 0.044715), 1)), math.sqrt(2 / math.pi)))
    slope = w.Mul(w.Add(w.Mul(square, 3 * 0.044715), 1), math.sqrt(2 / math.pi))
    rest = w.Mul(w.Mul(w.Mul(x, w.Sub(1, w.Mul(inner, inner))), slope), 0.5)
    return along(w, dy, w.Add(w.Mul(w.Add(inner, 1), 0.5), rest))


@maps("softmax_backward")
def softmax_backward(w, dy, y, axis):
    terms = w.Mul(dy, y)
    return w.Sub(terms, w.Mul(y, w.ReduceSum(terms, [axis], keepdims=1)))


@maps("log_softmax_backward")
def log_softmax_backward(w, dy, y, axis):
    return w.Sub(dy, w.Mul(w.Exp(y), w.ReduceSum(dy, [axis], keepdims=1)))


@maps("cross_entropy_terms_backward")
def cross_entropy_terms_backward(w, dy, lse, x, target, weight, ignore_index, label_smoothing):
    if weight is not None or label_smoothing:
        w.refuse("the gradient of a loss with weights of classes or smoothed labels")
    counts, safe = count_target(w, target, ignore_index)
    classes = w.constant(numpy.arange(int(x.shape[1])).reshape(1, -1, 1), "int64")
    hit = w.cast(w.Equal(w.Unsqueeze(safe, [1]), classes), x.dtype)
    share = w.Exp(w.Sub(x, w.cast(w.Unsqueeze(lse, [1]), x.dtype)))
    given = w.Where(counts, dy, w.constant(0, dy.dtype))
    return w.Mul(w.Sub(share, hit), w.Unsqueeze(given, [1]))


@maps("embedding_backward")
def embedding_backward(w, dy, index, rows, padding_row, scale_grad_by_freq):
    if scale_grad_by_freq:
        w.refuse("gradients that are divided by how often a row is read")
    width = dy.shape[-1]
    places = w.Reshape(index, [-1, 1])
    parts = w.Reshape(dy, [-1, int(width)])
    if 0 <= padding_row < rows:
        parts = w.Where(w.Equal(w.cast(places, "int64"), padding_row), w.constant(0, dy.dtype), parts)
    return w.ScatterND(w.full([int(rows), int(width)], 0, dy.dtype), w.cast(places, "int64"), parts, reduction="add")


@maps("layer_norm_backward")
def layer_norm_backward(w, dy, x, mean, rstd, weight, normalized_shape, with_x, with_weight, with_bias):
    inner = list(range(x.ndim - len(normalized_shape), x.ndim))
    outer = list(range(x.ndim - len(normalized_shape)))
    lead = [*x.shape[:len(outer)], *[1] * len(inner)]
    mean, rstd = (w.cast(w.reshape(value, lead), x.dtype) for value in (mean, rstd))
    unit = w.Mul(w.Sub(x, mean), rstd)
    results = [None, None, None]
    if with_x:
        scaled = dy if weight is None else w.Mul(dy, weight)
        centre = w.Sub(scaled, w.ReduceMean(scaled, inner, keepdims=1))
        results[0] = w.Mul(w.Sub(centre, w.Mul(unit, w.ReduceMean(w.Mul(scaled, unit), inner, keepdims=1))), rstd)
    if with_weight:
        results[1] = w.ReduceSum(w.Mul(dy, unit), outer, keepdims=0)
    if with_bias:
        results[2] = w.ReduceSum(dy, outer, keepdims=0)
    return results


@maps("adam_scaled_step")
def adam_scaled_step(w, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, rate, kept, beta1, beta2, eps, amsgrad):
    made = [[], [], [], []]
    for place, (param, grad, mean, square) in enumerate(zip(params, grads, exp_avgs, exp_avg_sqs)):
        mean = w.Add(w.Mul(mean, beta1), w.Mul(grad, 1 - beta1))
        square = w.Add(w.Mul(square, beta2), w.Mul(w.Mul(grad, grad), 1 - beta2))
        most = square
        if amsgrad:
            most = w.Max(max_exp_avg_sqs[place], square)
            made[3].append(most)
        step = w.Div(w.Mul(mean, w.cast(rate, param.dtype)), w.Add(w.Sqrt(most), eps))
        made[0].append(w.Sub(w.Mul(param, w.cast(kept, param.dtype)), step))
        made[1].append(mean)
        made[2].append(square)
    return [value for group in made for value in group]


@maps("batch_norm_backward")
def batch_norm_backward(w, dy, x, mean, rstd, weight, training, with_x, with_weight, with_bias):
    axes, lead = [0, *range(2, x.ndim)], [1, int(x.shape[1]), *[1] * (x.ndim - 2)]
    mean, rstd = (w.cast(w.Reshape(value, lead), x.dtype) for value in (mean, rstd))
    unit = w.Mul(w.Sub(x, mean), rstd)
    results = [None, None, None]
    if with_x:
        centre = dy
        if training:
            centre = w.Sub(dy, w.ReduceMean(dy, axes, keepdims=1))
            centre = w.Sub(centre, w.Mul(unit, w.ReduceMean(w.Mul(dy, unit), axes, keepdims=1)))
        results[0] = w.Mul(centre, rstd if weight is None else w.Mul(rstd, w.Reshape(weight, lead)))
    if with_weight:
        results[1] = w.ReduceSum(w.Mul(dy, unit), axes, keepdims=0)
    if with_bias:
        results[2] = w.ReduceSum(dy, axes, keepdims=0)
    return results


@maps("conv_backward_weights")
def conv_backward_weights(w, dy, x, size, stride, padding, dilation, groups):
    """The convolution of the input with the gradient as its kernel, channels in the place of the batch."""
    if groups != 1:
        w.refuse("the gradient of a convolution in groups by its weight")
    turned = [1, 0, *range(2, x.ndim)]
    count = x.ndim - 2
    after = window_padding(x.shape[2:], dy.shape[2:], size, stride, padding, dilation)
    found = w.Conv(w.Transpose(x, perm=turned), w.Transpose(dy, perm=turned), strides=list(dilation),
                   dilations=list(stride), pads=[*padding, *after])
    found = w.Slice(found, [0] * count, list(size), list(range(2, x.ndim)))  # what no window reached is left out
    return w.Transpose(found, perm=turned)


@maps("max_pool_backward")
def max_pool_backward(w, dy, indices, size):
    outer, plane = list(dy.shape[:2]), math.prod(int(one) for one in size)
    zeros = w.full([*outer, plane], 0, dy.dtype)
    rows = [w.reshape(value, [*outer, math.prod(int(one) for one in dy.shape[2:])]) for value in (indices, dy)]
    return w.reshape(w.ScatterElements(zeros, *rows, axis=2, reduction="add"), [*outer, *size])


@maps("sgd_step")
def sgd_step(w, params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    made, buffers = [], []
    for place, (param, step) in enumerate(zip(params, grads)):
        step = w.Neg(step) if maximize else step
        if weight_decay:
            step = w.Add(step, w.Mul(param, weight_decay))
        if momentum:
            kept = step if first else w.Add(w.Mul(momentum_buffers[place], momentum), w.Mul(step, 1 - dampening))
            buffers.append(kept)
            step = w.Add(step, w.Mul(kept, momentum)) if nesterov else kept
        made.append(w.Sub(param, w.Mul(step, lr)))
    return [*made, *buffers]
