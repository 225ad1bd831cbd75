"""Products, convolutions, pools and norms of ONNX as TensorFlow's nodes: channels come last there."""
import numpy as np

from dragon.onnx.writer import DOMAIN
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.translation import handles


# --- windows

def _spatial(call, x):
    """Return how many spatial axes there are; one is made two."""
    if x.rank not in (3, 4, 5):
        raise call.refusal("of a tensor of this rank is not supported")
    return x.rank - 2


def _pads(call, count):
    if call.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise call.refusal("with paddings that follow sizes is not supported")
    flat = list(call.get("pads") or [0] * 2 * count)
    return [[flat[place], flat[place + count]] for place in range(count)]


def _pad(b, x, pads, value):
    if not any(map(any, pads)):
        return x
    return b.PadV2(x, [[0, 0], *pads, [0, 0]], value)


def _widen(b, x, count):
    """Return a tensor of one spatial axis, channels last, as one of two."""
    return x if count != 1 else b.ExpandDims(x, 1, rank=4)


def _narrow(b, x, count):
    return x if count != 1 else b.Squeeze(x, rank=3, axis=[1])


def _steps(values, count):
    """Return numbers for all axes of a tensor with its channels last."""
    values = list(values or [1] * count)
    return [1, *([1] if count == 1 else []), *values, 1]


@handles("Conv")
def _conv(b, call):
    x, kernel, bias = call.end(0), call.end(1), call.end(2)
    count, groups = _spatial(call, x), call.get("group", 1)
    strides, dilations = (_steps(call.get(name), count) for name in ("strides", "dilations"))
    moved = _widen(b, _pad(b, b.channels_last(x), _pads(call, count), 0), count)
    options = {"strides": strides, "padding": "VALID", "dilations": dilations}
    rank = max(x.rank, 4)
    if groups == 1:
        weights = b.transpose(kernel, [*range(2, x.rank), 1, 0])
        if count == 1:
            weights = b.ExpandDims(weights, 0, rank=4)
        found = b.call("Conv3D" if count == 3 else "Conv2D", moved, weights, rank=rank, **options)
    else:
        found = _grouped(b, call, moved, kernel, count, groups, options)
    found = _narrow(b, found, count)
    if bias is not None:
        found = b.BiasAdd(found, bias, rank=x.rank)
    return b.channels_first(found)


def _parts(b, x, axis, count):
    """Return parts of equal size along an axis."""
    first = b.Split(axis, x, num_split=count)
    return [End(f"{first.text[:-1]}{place}", x.dtype, x.rank) for place in range(count)]


def _grouped(b, call, x, kernel, count, groups, options):
    """Return a convolution of groups: each channel by itself as one node, others group by group."""
    shape, rank = call.shapes[1], max(count, 2) + 2
    if not shape or not all(shape):
        raise call.refusal("in groups is supported with a kernel of known shape alone")
    outputs, each, *window = shape
    window = [1, *window] if count == 1 else window
    if each == 1 and count != 3 and len(set(options["strides"][1:-1])) == 1:
        weights = b.transpose(b.reshape(kernel, [groups, outputs // groups, *window]), [2, 3, 0, 1])
        return b.DepthwiseConv2dNative(x, weights, rank=4, **options)
    weights = b.transpose(b.reshape(kernel, [outputs, each, *window]), [*range(2, rank), 1, 0])
    op = "Conv3D" if count == 3 else "Conv2D"
    made = [b.call(op, part, weight, rank=rank, **options)
            for part, weight in zip(_parts(b, x, rank - 1, groups), _parts(b, weights, rank - 1, groups))]
    return b.ConcatV2(made, rank - 1)


@handles("ConvTranspose")
def _conv_transposed(b, call):
    x, kernel, bias = call.end(0), call.end(1), call.end(2)
    count, window, groups = _spatial(call, x), call.shapes[1], call.get("group", 1)
    if not window or not all(window) or call.get("output_shape"):
        raise call.refusal("into a given size or with an unknown kernel is not supported")
    moved = _widen(b, b.channels_last(x), count)
    weights = b.reshape(kernel, [*window[:2], 1, window[2]]) if count == 1 else kernel
    made = [_transposed(b, call, part, weight, count) for part, weight in zip(
        *([value] if groups == 1 else _parts(b, value, axis, groups)
          for value, axis in ((moved, moved.rank - 1), (weights, 0))))]
    found = made[0] if groups == 1 else b.ConcatV2(made, moved.rank - 1)
    found = _narrow(b, found, count)
    more = list(call.get("output_padding") or [0] * count)
    found = _pad(b, found, [[0, extra] for extra in more], 0)  # what no window reaches is 0
    found = _cut(b, found, _pads(call, count))
    if bias is not None:
        found = b.BiasAdd(found, bias, rank=x.rank)
    return b.channels_first(found)


def _transposed(b, call, x, kernel, count):
    """Return the transposed convolution of a tensor, channels last, and a kernel (channels, filters, window)."""
    first = [1] if count == 1 else []
    strides, dilations = ([*first, *(call.get(name) or [1] * count)] for name in ("strides", "dilations"))
    window, axes = [*first, *call.shapes[1][2:]], len(strides)
    shape = b.shape(x, "int32")
    batch, spatial = b.StridedSlice(shape, [0], [1], [1]), b.StridedSlice(shape, [1], [axes + 1], [1])
    reach = [(size - 1) * gap + 1 for size, gap in zip(window, dilations)]
    steps = b.Mul(b.Sub(spatial, [1] * axes), strides)
    full = b.ConcatV2([batch, b.AddV2(steps, reach), [call.shapes[1][1]]], 0)
    weights = b.transpose(kernel, [*range(2, axes + 2), 1, 0])
    options = {"strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": "VALID"}
    op = "Conv3DBackpropInputV2" if count == 3 else "Conv2DBackpropInput"
    return b.call(op, full, weights, x, dtype=x.dtype, rank=x.rank, **options)


def _cut(b, x, pads):
    """Return a tensor, channels last, without so many places at the ends of its spatial axes."""
    if not any(map(any, pads)):
        return x
    open_ends = 1 | 1 << x.rank - 1 | sum(1 << axis for axis, (_, after) in enumerate(pads, 1) if not after)
    begin, end = [0, *(before for before, _ in pads), 0], [0, *(-after for _, after in pads), 0]
    return b.StridedSlice(x, begin, end, [1] * x.rank, end_mask=open_ends)


@handles("MaxPool", "AveragePool")
def _pool(b, call):
    x = call.end(0)
    count, is_max = _spatial(call, x), call.op == "MaxPool"
    pads = _pads(call, count)
    if call.get("ceil_mode", 0) or any(one != 1 for one in call.get("dilations") or ()):
        raise call.refusal("with dilations or rounding up is not supported")
    if call.count > 1:
        return _pool_with_places(b, call, x, count, pads)
    lowest = np.finfo(x.dtype.as_numpy_dtype).min if x.dtype.name in ("float32", "float64", "float16") else 0
    op = ("MaxPool" if is_max else "AvgPool") + ("3D" if count == 3 else "")

    def pooled(value):
        moved = _widen(b, _pad(b, value, pads, lowest if is_max else 0), count)
        return b.call(op, moved, rank=max(x.rank, 4), ksize=_steps(call.get("kernel_shape"), count),
                      strides=_steps(call.get("strides"), count), padding="VALID")
    last = b.channels_last(x)
    found = pooled(last)
    if not is_max and any(map(any, pads)) and not call.get("count_include_pad", 0):
        found = b.binary("RealDiv", found, pooled(b.unary("OnesLike", last)))  # means without the paddings
    return b.channels_first(_narrow(b, found, count))


def _sizes(b, x):
    """Return the sizes of a tensor of four axes as scalars."""
    shape = b.shape(x)
    return [b.GatherV2(shape, axis, 0, rank=0) for axis in range(4)]


def _pool_with_places(b, call, x, count, pads):
    """Return the largest elements, and where they lie among all: in ONNX with channels before height and width."""
    if count == 3:
        raise call.refusal("with places is supported over one or two axes alone")
    last, kind = b.channels_last(x), as_dtype("int64")
    moved = _widen(b, _pad(b, last, pads, np.finfo(x.dtype.as_numpy_dtype).min), count)
    found = b.MaxPoolWithArgmax(moved, ksize=_steps(call.get("kernel_shape"), count), Targmax=kind,
                                strides=_steps(call.get("strides"), count), padding="VALID",
                                include_batch_in_index=True)
    places = End(found.text.replace(":output:", ":argmax:"), kind, 4)
    (_, height, width, channels), whole = _sizes(b, moved), _sizes(b, _widen(b, last, count))
    pixel, channel = b.binary("FloorDiv", places, channels), b.binary("FloorMod", places, channels)
    line, across = b.binary("FloorDiv", pixel, width), b.binary("FloorMod", pixel, width)
    image, down = b.binary("FloorDiv", line, height), b.binary("FloorMod", line, height)
    tops = [0, *(before for before, _ in pads)][-2:]
    down, across = (b.binary("Sub", one, b.constant(top, "int64")) for one, top in zip((down, across), tops))
    row = b.binary("AddV2", b.binary("Mul", image, channels), channel)
    row = b.binary("AddV2", b.binary("Mul", row, whole[1]), down)
    flat = b.binary("AddV2", b.binary("Mul", row, whole[2]), across)
    return tuple(b.channels_first(_narrow(b, one, count)) for one in (found, flat))


@handles(f"{DOMAIN}.GroupedWeights")
def _grouped_weights(b, call):
    """The gradient of a convolution by its weights, group by group; in one node if each channel is by itself."""
    dy, x = call.ends
    window, strides, pads, groups = (call.get(name) for name in ("size", "stride", "padding", "groups"))
    count, channels = len(window), call.get("channels")
    if any(one != 1 for one in call.get("dilation")):
        raise call.refusal("with dilations is not supported")
    pairs = [[before, max(after, 0)] for before, after in zip(pads[:count], pads[count:])]
    moved = _widen(b, _pad(b, b.channels_last(x), pairs, 0), count)
    slope, window = _widen(b, b.channels_last(dy), count), [1] * (2 - count) + window
    options = {"strides": _steps(strides, count), "padding": "VALID", "dilations": _steps(None, max(count, 2))}
    outputs, rank = call.get("filters"), max(count, 2) + 2
    if channels == groups and groups > 1 and count != 3 and len(set(strides)) == 1:
        options["strides"] = [1, strides[0], strides[0], 1]
        shape = [*window, groups, outputs // groups]
        made = b.DepthwiseConv2dNativeBackpropFilter(moved, shape, slope, rank=4, **options)
        made = b.transpose(made, [2, 3, 0, 1])
    else:
        shape = [*window, channels // groups, outputs // groups]
        op = "Conv3DBackpropFilterV2" if count == 3 else "Conv2DBackpropFilter"
        order = [rank - 1, rank - 2, *range(rank - 2)]
        pairs = [(moved, slope)] if groups == 1 else zip(*(_parts(b, one, rank - 1, groups) for one in (moved, slope)))
        parts = [b.transpose(b.call(op, one, shape, other, rank=rank, **options), order) for one, other in pairs]
        made = parts[0] if groups == 1 else b.ConcatV2(parts, 0)
    return b.reshape(made, [outputs, channels // groups, *call.get("size")])
