"""The operators that backward passes come to: gradients of activations, normalisations, convolutions and losses."""
import math

import numpy

from dragon.core.capture.host_calls import is_noting
from dragon.onnx.convolution import window_padding
from dragon.onnx.loss import count_target, weight_of
from dragon.onnx.normalization import along_channels
from dragon.onnx.size import Size, product
from dragon.onnx.table import maps
from dragon.onnx.writer import DOMAIN

# --- functions of one number


@maps("gelu_backward")
def gelu_backward(w, dy, x, approximate):
    if approximate == "none":
        share = w.Mul(w.Add(w.Erf(w.Mul(x, math.sqrt(0.5))), 1), 0.5)
        density = w.Mul(w.Exp(w.Mul(w.Mul(x, x), -0.5)), 1 / math.sqrt(2 * math.pi))
        return w.Mul(dy, w.Add(share, w.Mul(x, density)))
    squared, factor = w.Mul(x, x), math.sqrt(2 / math.pi)
    inner = w.Tanh(w.Mul(w.Mul(x, w.Add(w.Mul(squared, 0.044715), 1)), factor))
    slope = w.Mul(w.Mul(w.Sub(1, w.Mul(inner, inner)), w.Add(w.Mul(squared, 3 * 0.044715), 1)), factor)
    return w.Mul(w.Mul(dy, 0.5), w.Add(w.Add(inner, 1), w.Mul(x, slope)))


# --- the softmax and losses over classes

def shares(w, dy, target, weight, classes, ignore_index):
    """Return what every target's gradient is, along an axis of one, and ones at the targets' classes."""
    if isinstance(classes, Size):
        w.refuse("a number of classes that is dynamic")
    counts, safe = count_target(w, target, ignore_index)
    scaled = dy if weight is None else w.Mul(dy, weight_of(w, weight, safe, dy.dtype))
    scaled = w.Where(counts, scaled, w.constant(0, dy.dtype))
    marks = w.OneHot(safe, w.constant(classes, "int64"), w.constant([0, 1], dy.dtype), axis=1, dtype=dy.dtype)
    return w.Unsqueeze(scaled, [1]), marks


@maps("nll_loss_terms_backward")
def nll_loss_terms_backward(w, dy, target, weight, classes, ignore_index):
    scaled, marks = shares(w, dy, target, weight, classes, ignore_index)
    return w.Mul(w.Neg(scaled), marks)


@maps("cross_entropy_terms_backward")
def cross_entropy_terms_backward(w, dy, lse, x, target, weight, ignore_index, label_smoothing):
    if label_smoothing:
        w.refuse("the gradient of smoothed labels")
    scaled, marks = shares(w, dy, target, weight, x.shape[1], ignore_index)
    return w.Mul(scaled, w.Sub(w.Softmax(x, axis=1), marks))


# --- rows of tables

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


# --- normalisations

def normalized_slope(w, slope, normal, rstd, axes):
    """Return the gradient of what was brought to mean 0 and variance 1 along some axes."""
    mean = w.ReduceMean(slope, axes, keepdims=1)
    along = w.ReduceMean(w.Mul(slope, normal), axes, keepdims=1)
    return w.Mul(rstd, w.Sub(w.Sub(slope, mean), w.Mul(normal, along)))


@maps("batch_norm_backward")
def batch_norm_backward(w, dy, x, mean, rstd, weight, training, with_x, with_weight, with_bias):
    dtype, wide = x.dtype, mean.dtype
    axes = [axis for axis in range(x.ndim) if axis != 1]
    slope, spread = w.cast(dy, wide), along_channels(w, rstd, x.ndim)
    normal = w.Mul(w.Sub(w.cast(x, wide), along_channels(w, mean, x.ndim)), spread)
    scaled = slope if weight is None else w.Mul(slope, along_channels(w, w.cast(weight, wide), x.ndim))
    dx = normalized_slope(w, scaled, normal, spread, axes) if training else w.Mul(scaled, spread)
    dweight, dbias = w.ReduceSum(w.Mul(slope, normal), axes, keepdims=0), w.ReduceSum(slope, axes, keepdims=0)
    return w.cast(dx, dtype), w.cast(dweight, dtype), w.cast(dbias, dtype)


@maps("layer_norm_backward")
def layer_norm_backward(w, dy, x, mean, rstd, weight, normalized_shape, with_x, with_weight, with_bias):
    dtype, wide = x.dtype, mean.dtype
    own = list(range(x.ndim - len(normalized_shape), x.ndim))
    slope = w.cast(dy, wide)
    normal = w.Mul(w.Sub(w.cast(x, wide), mean), rstd)
    scaled = slope if weight is None else w.Mul(slope, w.cast(weight, wide))
    dx = normalized_slope(w, scaled, normal, rstd, own)
    rows = list(range(own[0]))
    sums = [w.ReduceSum(value, rows, keepdims=0) if rows else value for value in (w.Mul(slope, normal), slope)]
    return w.cast(dx, dtype), *(w.cast(value, dtype) for value in sums)


@maps("rms_norm_backward")
def rms_norm_backward(w, dy, x, rstd, weight, normalized_shape, with_x, with_weight):
    dtype, wide = x.dtype, rstd.dtype
    own = list(range(x.ndim - len(normalized_shape), x.ndim))
    slope, normal = w.cast(dy, wide), w.Mul(w.cast(x, wide), rstd)
    scaled = slope if weight is None else w.Mul(slope, w.cast(weight, wide))
    along = w.ReduceMean(w.Mul(scaled, normal), own, keepdims=1)
    rows = list(range(own[0]))
    total = w.Mul(slope, normal)
    dx = w.Mul(rstd, w.Sub(scaled, w.Mul(normal, along)))
    return w.cast(dx, dtype), w.cast(w.ReduceSum(total, rows, keepdims=0) if rows else total, dtype)


@maps("group_norm_backward")
def group_norm_backward(w, dy, x, mean, rstd, weight, with_x, with_weight, with_bias):
    dtype, wide, groups = x.dtype, mean.dtype, mean.shape[1]
    axes = list(range(2, x.ndim + 1))
    shape = [x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]]

    def parted(value):
        return w.reshape(value, shape)

    def beside(value):
        return w.Unsqueeze(value, axes)
    slope, spread = w.cast(dy, wide), beside(rstd)
    normal = w.Mul(w.Sub(parted(w.cast(x, wide)), beside(mean)), spread)
    scaled = slope if weight is None else w.Mul(slope, along_channels(w, w.cast(weight, wide), x.ndim))
    dx = w.reshape(normalized_slope(w, parted(scaled), normal, spread, axes), x.shape)
    others = [axis for axis in range(x.ndim) if axis != 1]
    sums = [w.ReduceSum(value, others, keepdims=0) for value in (w.Mul(slope, w.reshape(normal, x.shape)), slope)]
    return w.cast(dx, dtype), *(w.cast(value, dtype) for value in sums)


# --- convolutions and pooling

@maps("conv_backward_weights")
def conv_backward_weights(w, dy, x, size, stride, padding, dilation, groups):
    """A convolution of the image with the gradient, in which channels and samples change places."""
    rank = len(size)
    after = window_padding(x.shape[2:], dy.shape[2:], size, stride, padding, dilation)
    if is_noting() and (groups > 1 or set(dilation) == {1}):  # formats that have a node for it take any size
        return w.add("GroupedWeights", dy, x, domain=DOMAIN, size=list(size), stride=list(stride),
                     padding=[*padding, *after], dilation=list(dilation), groups=groups, channels=x.shape[1],
                     filters=dy.shape[1])
    swapped = [1, 0, *range(2, 2 + rank)]
    image = w.transpose(x, swapped) if groups == 1 else groups_as_samples(w, dy, x, groups)
    y = w.Conv(image, w.transpose(dy, swapped), strides=list(dilation), dilations=list(stride),
               pads=[*padding, *after], group=groups)
    y = w.Slice(y, [0] * rank, list(size), list(range(2, 2 + rank)))  # places that a window's end never reached
    return w.transpose(y, swapped)


def groups_as_samples(w, dy, x, groups):
    """Return the image, its channels within a group where the samples were, groups and samples as channels."""
    if any(isinstance(places, Size) for places in [*x.shape, *dy.shape]):
        w.refuse("a gradient of a convolution's weight in groups for sizes that are dynamic")
    samples, channels = x.shape[:2]
    image = w.reshape(x, [samples, groups, channels // groups, *x.shape[2:]])
    image = w.transpose(image, [2, 1, 0, *range(3, 1 + x.ndim)])
    return w.reshape(image, [channels // groups, groups * samples, *x.shape[2:]])


@maps("max_pool_backward")
def max_pool_backward(w, dy, indices, size):
    whole = w.full([*dy.shape[:2], product(size)], 0, dy.dtype)
    flat = [w.reshape(value, [*dy.shape[:2], product(dy.shape[2:])]) for value in (w.cast(indices, "int64"), dy)]
    return w.reshape(w.ScatterElements(whole, *flat, axis=2, reduction="add"), [*dy.shape[:2], *size])


def counts_of_windows(cells, size, window, stride, padding, dilation, count_include_pad):
    """Return by how much each window's sum is divided: windows may reach beyond the end."""
    counts = numpy.ones((), "int64")
    for cell, places, reach, step, pad, space in zip(cells, size, window, stride, padding, dilation):
        at = numpy.arange(cell)[:, None] * step - pad + numpy.arange(reach) * space
        more = pad if count_include_pad else 0
        counts = counts[..., None] * ((at >= -more) & (at < places + more)).sum(1)
    return counts


@maps("average_pool_backward")
def average_pool_backward(w, dy, size, window, stride, padding, dilation, adaptive, count_include_pad, divisor):
    """Each place of a window gets its share: a transposed convolution with ones, channel by channel."""
    if any(isinstance(places, Size) for places in [*size, *dy.shape[1:]]):
        w.refuse("a gradient of averages for sizes that are dynamic")
    if adaptive:
        if any(places % cells for places, cells in zip(size, dy.shape[2:])):
            w.refuse("a gradient of averages of uneven windows")
        window = stride = [places // cells for places, cells in zip(size, dy.shape[2:])]
        padding, dilation = [0] * len(size), [1] * len(size)
    whole = [(cells - 1) * step + (reach - 1) * space + 1
             for cells, step, reach, space in zip(dy.shape[2:], stride, window, dilation)]
    counts = counts_of_windows(dy.shape[2:], size, window, stride, padding, dilation, count_include_pad)
    if divisor or (counts == product(window)).all():
        shares, slope = 1 / (divisor or product(window)), dy
    else:
        shares, slope = 1.0, w.Div(dy, w.constant(counts[None, None], dy.dtype))
    ones = w.full([dy.shape[1], 1, *window], shares, dy.dtype)
    y = w.ConvTranspose(slope, ones, kernel_shape=list(window), strides=stride, dilations=dilation, group=dy.shape[1])
    ends = [places + pad - length for places, pad, length in zip(size, padding, whole)]
    if not any(padding) and not any(ends):
        return y
    return w.Pad(y, [0, 0, *(-pad for pad in padding), 0, 0, *ends], w.constant(0, dy.dtype))
