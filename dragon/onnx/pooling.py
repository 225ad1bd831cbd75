"""Poolings: of plain windows by ONNX's operators, of adaptive ones by what they come down to."""
import math

import numpy

from dragon.onnx.convolution import window_padding
from dragon.onnx.places import count_places, is_known
from dragon.onnx.places import whole as whole_number
from dragon.onnx.size import Size, product
from dragon.onnx.source import is_dynamic
from dragon.onnx.table import maps


def even_windows(image, size):
    """Return the window of each axis if adaptive ones all have the same size, else None."""
    if any(isinstance(places, Size) for places in [*image, *size]):
        return None
    if any(places == 0 or whole % places for whole, places in zip(image, size)):
        return None
    return [whole // places for whole, places in zip(image, size)]


def adaptive_edges(whole, places):
    """Return where each adaptive window begins and ends."""
    return [(place * whole // places, -(-(place + 1) * whole // places)) for place in range(places)]


def spatial_axes(x):
    """Return the axes after batch and channels."""
    return list(range(2, x.ndim))


def planes(w, x):
    """Return x with its axes after batch and channels joined."""
    return w.reshape(x, [*x.shape[:2], product(x.shape[2:])])


def is_ones(size):
    """Return whether each axis has one window."""
    return all(not isinstance(places, Size) and places == 1 for places in size)


def windows_of(w, whole, places):
    """Return which of an axis' places lie in which adaptive window, (places, windows), and how many do.

    Parameters
    ----------
    w : Writer
        The graph.
    whole, places : int or Size
        The axis' size, and how many windows it has.

    Returns
    -------
    Tuple[Value, Value]
        Booleans, and counts as whole numbers.

    """
    windows, size, count = count_places(w, places), *(whole_number(w, number) for number in (whole, places))
    begin = w.Div(w.Mul(windows, size), count)
    end = w.Div(w.Add(w.Mul(w.Add(windows, 1), size), w.Sub(count, 1)), count)
    inner = w.Unsqueeze(count_places(w, whole), [1])
    return w.And(w.GreaterOrEqual(inner, begin), w.Less(inner, end)), w.Sub(end, begin)


def adaptive_average(w, x, size):
    """Return means over adaptive windows: along each axis the product with a matrix."""
    if is_ones(size):
        return w.ReduceMean(x, spatial_axes(x), keepdims=1)
    window = even_windows(x.shape[2:], size)
    if window is not None:
        return w.AveragePool(x, kernel_shape=window, strides=window)
    y = x
    for axis, (whole, places) in enumerate(zip(x.shape[2:], size), start=2):
        if whole == places:
            continue
        if is_ones([places]):
            y = w.ReduceMean(y, [axis], keepdims=1)
            continue
        inside, counts = windows_of(w, whole, places)
        order = [n for n in range(x.ndim) if n != axis] + [axis]
        y = w.MatMul(w.transpose(y, order), w.Div(w.cast(inside, x.dtype), w.cast(counts, x.dtype)))
        y = w.transpose(y, numpy.argsort(order).tolist())
    return y


def average_of_counted(w, x, padding, after, count_include_pad, options):
    """Return means where the last windows reach as far as sizes say: sums divided by how many places count."""
    zero = w.constant(0, x.dtype)
    ones, beyond = w.full([1, 1, *x.shape[2:]], 1, x.dtype), after
    if count_include_pad:
        ones = w.Pad(ones, [0, 0, *padding] * 2, w.constant(1, x.dtype))
        beyond = [end - pad for end, pad in zip(after, padding)]
    begins = [0] * len(padding) if count_include_pad else padding
    counts = w.AveragePool(w.Pad(ones, [0, 0, *begins, 0, 0, *beyond], zero), **options)
    return w.Div(w.AveragePool(w.Pad(x, [0, 0, *padding, 0, 0, *after], zero), **options), counts)


def covers(image, window, padding):
    """Return whether a window of a size known at run time is all of the image."""
    return not is_known(*window) and padding == [0] * len(window) and list(window) == list(image)


@maps("average_pool")
def average_pool(w, x, size, window, stride, padding, dilation, adaptive, count_include_pad, divisor):
    if adaptive:
        return adaptive_average(w, x, size)
    if covers(x.shape[2:], window, padding) and not divisor:
        return w.ReduceMean(x, spatial_axes(x), keepdims=1)
    if any(step != 1 for step in dilation) and w.opset < 19:
        w.refuse("dilation before opset 19")
    after = window_padding(x.shape[2:], size, window, stride, padding, dilation)
    options = {"kernel_shape": window, "strides": stride}
    if w.opset >= 19:
        options["dilations"] = dilation
    if divisor:
        zeros = w.Pad(x, [0, 0, *padding, 0, 0, *after], w.constant(0, x.dtype))
        return w.Mul(w.AveragePool(zeros, **options), product(window) / divisor)
    if is_dynamic((*padding, *after)):
        return average_of_counted(w, x, padding, after, count_include_pad, options)
    if not count_include_pad or after == padding:
        return w.AveragePool(x, pads=padding + after, count_include_pad=int(count_include_pad), **options)
    # What lies beyond the padding asked for does not count.
    zeros = w.Pad(x, [0, 0, *padding, 0, 0, *map(min, after, padding)], w.constant(0, x.dtype))
    beyond = [max(end - pad, 0) for end, pad in zip(after, padding)]
    return w.AveragePool(zeros, pads=[0] * len(padding) + beyond, count_include_pad=0, **options)


@maps("max_pool_with_indices", "max_pool")
def max_pool_with_indices(w, x, size, window, stride, padding, dilation, adaptive):
    if adaptive:
        return adaptive_max(w, x, size)
    if covers(x.shape[2:], window, padding):
        return adaptive_max(w, x, [1] * len(window))
    after = window_padding(x.shape[2:], size, window, stride, padding, dilation)
    options = {"kernel_shape": window, "strides": stride, "dilations": dilation}
    if is_dynamic((*padding, *after)) or any(
            end > before and end >= length for before, end, length in zip(padding, after, window)):
        if w.wants(1):
            w.refuse("indices of windows that reach far beyond the image")
        x = w.Pad(x, [0, 0, *padding, 0, 0, *after], w.constant(-math.inf, x.dtype))
        return w.MaxPool(x, **options)
    options["pads"] = padding + after
    if not w.wants(1):
        return w.MaxPool(x, **options)
    y, places = w.MaxPool(x, outputs=2, **options)
    plane = product(x.shape[2:])
    plane = w.number(plane) if isinstance(plane, Size) else plane
    return y, w.Mod(places, plane)


def adaptive_max(w, x, size):
    """Return maxima over adaptive windows, and their places if somebody reads those."""
    image = x.shape[2:]
    if is_ones(size):
        y = w.ReduceMax(x, spatial_axes(x), keepdims=1)
        if not w.wants(1):
            return y
        flat = planes(w, x)
        return y, w.reshape(w.ArgMax(flat, axis=2, keepdims=1), w.call.outputs[1].shape)
    window = even_windows(image, size)
    if window is not None:
        return max_pool_with_indices(w, x, size, window, window, [0] * len(size), [1] * len(size), False)
    if not is_known(*image, *size) and not w.wants(1):
        return extremes_of_windows(w, x, size)
    places = [adaptive_edges(int(whole), int(count)) for whole, count in zip(image, size)]
    longest = [max(end - begin for begin, end in edges) for edges in places]
    grids = [numpy.array([[min(begin + step, end - 1) for step in range(length)] for begin, end in edges])
             for edges, length in zip(places, longest)]
    flat = numpy.zeros([1] * (2 * len(size)), "int64")
    for axis, (grid, whole) in enumerate(zip(grids, image)):
        shape = [1] * (2 * len(size))
        shape[axis], shape[len(size) + axis] = grid.shape
        flat = flat * whole + grid.reshape(shape)
    flat = flat.reshape([*map(int, size), -1])
    windows = w.Gather(planes(w, x), flat, axis=2)
    y = w.ReduceMax(windows, [-1], keepdims=0)
    if not w.wants(1):
        return y
    best = w.ArgMax(windows, axis=-1, keepdims=1)
    spread = w.Expand(w.constant(flat), w.Shape(windows))
    return y, w.Squeeze(w.GatherElements(spread, best, axis=-1), [-1])


def extremes_of_windows(w, x, size):
    """Return maxima over adaptive windows whose sizes are known at run time, axis by axis."""
    y = x
    for axis, (whole, places) in enumerate(zip(x.shape[2:], size), start=2):
        if whole == places:
            continue
        order = [n for n in range(x.ndim) if n != axis] + [axis]
        inside, _ = windows_of(w, whole, places)
        wide = w.Unsqueeze(w.transpose(y, order), [x.ndim])
        y = w.ReduceMax(w.Where(inside, wide, w.constant(-math.inf, x.dtype)), [x.ndim - 1], keepdims=0)
        y = w.transpose(y, numpy.argsort(order).tolist())
    return y


@maps("max_unpool")
def max_unpool(w, x, indices, size):
    sizes = [*x.shape[:2], product(size)]
    zeros = w.full(sizes, 0, x.dtype)
    flat = w.ScatterElements(zeros, planes(w, indices), planes(w, x), axis=2)
    return w.reshape(flat, [*x.shape[:2], *size])
