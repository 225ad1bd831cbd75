"""Products, convolutions, pools and norms of ONNX as TensorFlow's nodes: channels come last there."""
import numpy as np

from dragon.onnx.writer import DOMAIN
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.translation import handles

INT32 = as_dtype("int32")


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


def _last(b, x):
    """Return a tensor with its channels last."""
    return b.transpose(x, [0, *range(2, x.rank), 1])


def _first(b, x):
    """Return a tensor with its channels first."""
    return b.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def _pad(b, x, pads, value):
    if not any(map(any, pads)):
        return x
    widths = b.constant([[0, 0], *pads, [0, 0]], "int32")
    return b.node("PadV2", [x, widths, b.constant(value, x.dtype)], x.dtype, x.rank, T=x.dtype, Tpaddings=INT32)


def _widen(b, x, count):
    """Return a tensor of one spatial axis, channels last, as one of two."""
    if count != 1:
        return x
    return b.node("ExpandDims", [x, b.constant(1, "int32")], x.dtype, 4, T=x.dtype, Tdim=INT32)


def _narrow(b, x, count):
    return x if count != 1 else b.node("Squeeze", [x], x.dtype, 3, T=x.dtype, squeeze_dims=[1])


def _steps(values, count):
    """Return numbers for all axes of a tensor with its channels last."""
    values = list(values or [1] * count)
    return [1, *([1] if count == 1 else []), *values, 1]


@handles("Conv")
def _conv(b, call):
    x, kernel, bias = call.end(0), call.end(1), call.end(2)
    count, groups = _spatial(call, x), call.get("group", 1)
    strides, dilations = (_steps(call.get(name), count) for name in ("strides", "dilations"))
    moved = _widen(b, _pad(b, _last(b, x), _pads(call, count), 0), count)
    options = {"T": x.dtype, "strides": strides, "padding": "VALID", "dilations": dilations}
    rank = max(x.rank, 4)
    if groups == 1:
        weights = b.transpose(kernel, [*range(2, x.rank), 1, 0])
        if count == 1:
            weights = b.node("ExpandDims", [weights, b.constant(0, "int32")], x.dtype, 4, T=x.dtype, Tdim=INT32)
        found = b.node("Conv3D" if count == 3 else "Conv2D", [moved, weights], x.dtype, rank, **options)
    else:
        found = _grouped(b, call, moved, kernel, count, groups, options)
    found = _narrow(b, found, count)
    if bias is not None:
        found = b.node("BiasAdd", [found, bias], x.dtype, x.rank, T=x.dtype)
    return _first(b, found)


def _parts(b, x, axis, count):
    """Return parts of equal size along an axis."""
    first = b.node("Split", [b.constant(axis, "int32"), x], x.dtype, x.rank, num_split=count, T=x.dtype)
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
        return b.node("DepthwiseConv2dNative", [x, weights], x.dtype, 4, **options)
    weights = b.transpose(b.reshape(kernel, [outputs, each, *window]), [*range(2, rank), 1, 0])
    op = "Conv3D" if count == 3 else "Conv2D"
    made = [b.node(op, [part, weight], x.dtype, rank, **options)
            for part, weight in zip(_parts(b, x, rank - 1, groups), _parts(b, weights, rank - 1, groups))]
    return b.node("ConcatV2", [*made, b.constant(rank - 1, "int32")], x.dtype, rank, N=groups, T=x.dtype, Tidx=INT32)


@handles("ConvTranspose")
def _conv_transposed(b, call):
    x, kernel, bias = call.end(0), call.end(1), call.end(2)
    count, window, groups = _spatial(call, x), call.shapes[1], call.get("group", 1)
    if not window or not all(window) or call.get("output_shape"):
        raise call.refusal("into a given size or with an unknown kernel is not supported")
    moved = _widen(b, _last(b, x), count)
    weights = b.reshape(kernel, [*window[:2], 1, window[2]]) if count == 1 else kernel
    made = [_transposed(b, call, part, weight, count) for part, weight in zip(
        *([value] if groups == 1 else _parts(b, value, axis, groups)
          for value, axis in ((moved, moved.rank - 1), (weights, 0))))]
    found = made[0] if groups == 1 else b.node(
        "ConcatV2", [*made, b.constant(moved.rank - 1, "int32")], x.dtype, moved.rank, N=groups, T=x.dtype, Tidx=INT32)
    found = _narrow(b, found, count)
    more = list(call.get("output_padding") or [0] * count)
    found = _pad(b, found, [[0, extra] for extra in more], 0)  # what no window reaches is 0
    found = _cut(b, found, _pads(call, count))
    if bias is not None:
        found = b.node("BiasAdd", [found, bias], x.dtype, x.rank, T=x.dtype)
    return _first(b, found)


def _transposed(b, call, x, kernel, count):
    """Return the transposed convolution of a tensor, channels last, and a kernel (channels, filters, window)."""
    first = [1] if count == 1 else []
    strides, dilations = ([*first, *(call.get(name) or [1] * count)] for name in ("strides", "dilations"))
    window, axes = [*first, *call.shapes[1][2:]], len(strides)
    shape = b.node("Shape", [x], INT32, 1, T=x.dtype, out_type=INT32)
    batch, spatial = (b.node("StridedSlice", [shape, *(b.constant([one], "int32") for one in (*ends, 1))], INT32, 1,
                             T=INT32, Index=INT32) for ends in ((0, 1), (1, axes + 1)))
    reach = [(size - 1) * gap + 1 for size, gap in zip(window, dilations)]
    steps = b.binary("Mul", b.binary("Sub", spatial, b.constant([1] * axes, "int32")), b.constant(strides, "int32"))
    full = b.node("ConcatV2", [batch, b.binary("AddV2", steps, b.constant(reach, "int32")),
                               b.constant([call.shapes[1][1]], "int32"), b.constant(0, "int32")], INT32, 1, N=3,
                  T=INT32, Tidx=INT32)
    weights = b.transpose(kernel, [*range(2, axes + 2), 1, 0])
    options = {"T": x.dtype, "strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": "VALID"}
    op = "Conv3DBackpropInputV2" if count == 3 else "Conv2DBackpropInput"
    return b.node(op, [full, weights, x], x.dtype, x.rank, **options)


def _cut(b, x, pads):
    """Return a tensor, channels last, without so many places at the ends of its spatial axes."""
    if not any(map(any, pads)):
        return x
    open_ends = 1 | 1 << x.rank - 1 | sum(1 << axis for axis, (_, after) in enumerate(pads, 1) if not after)
    begin, end = [0, *(before for before, _ in pads), 0], [0, *(-after for _, after in pads), 0]
    parts = [b.constant(one, "int32") for one in (begin, end, [1] * x.rank)]
    return b.node("StridedSlice", [x, *parts], x.dtype, x.rank, T=x.dtype, Index=INT32, end_mask=open_ends)


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
        return b.node(op, [moved], x.dtype, max(x.rank, 4), T=x.dtype, ksize=_steps(call.get("kernel_shape"), count),
                      strides=_steps(call.get("strides"), count), padding="VALID")
    last = _last(b, x)
    found = pooled(last)
    if not is_max and any(map(any, pads)) and not call.get("count_include_pad", 0):
        found = b.binary("RealDiv", found, pooled(b.unary("OnesLike", last)))  # means without the paddings
    return _first(b, _narrow(b, found, count))


def _sizes(b, x):
    """Return the sizes of a tensor of four axes as scalars."""
    kind = as_dtype("int64")
    shape = b.node("Shape", [x], kind, 1, T=x.dtype, out_type=kind)
    return [b.node("GatherV2", [shape, b.constant(axis, "int64"), b.constant(0, "int32")], kind, 0, Tparams=kind,
                   Tindices=kind, Taxis=INT32) for axis in range(4)]


def _pool_with_places(b, call, x, count, pads):
    """Return the largest elements, and where they lie among all: in ONNX with channels before height and width."""
    if count == 3:
        raise call.refusal("with places is supported over one or two axes alone")
    last, kind = _last(b, x), as_dtype("int64")
    moved = _widen(b, _pad(b, last, pads, np.finfo(x.dtype.as_numpy_dtype).min), count)
    found = b.node("MaxPoolWithArgmax", [moved], x.dtype, 4, T=x.dtype, ksize=_steps(call.get("kernel_shape"), count),
                   strides=_steps(call.get("strides"), count), padding="VALID", Targmax=kind,
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
    return tuple(_first(b, _narrow(b, one, count)) for one in (found, flat))


@handles(f"{DOMAIN}.GroupedWeights")
def _grouped_weights(b, call):
    """The gradient of a convolution by its weights, group by group; in one node if each channel is by itself."""
    dy, x = call.ends
    window, strides, pads, groups = (call.get(name) for name in ("size", "stride", "padding", "groups"))
    count, channels = len(window), call.get("channels")
    if any(one != 1 for one in call.get("dilation")):
        raise call.refusal("with dilations is not supported")
    pairs = [[before, max(after, 0)] for before, after in zip(pads[:count], pads[count:])]
    moved = _widen(b, _pad(b, _last(b, x), pairs, 0), count)
    slope, window = _widen(b, _last(b, dy), count), [1] * (2 - count) + window
    options = {"T": x.dtype, "strides": _steps(strides, count), "padding": "VALID",
               "dilations": _steps(None, max(count, 2))}
    outputs, rank = call.get("filters"), max(count, 2) + 2
    if channels == groups and groups > 1 and count != 3 and len(set(strides)) == 1:
        options["strides"] = [1, strides[0], strides[0], 1]
        shape = b.constant([*window, groups, outputs // groups], "int32")
        made = b.node("DepthwiseConv2dNativeBackpropFilter", [moved, shape, slope], x.dtype, 4, **options)
        made = b.transpose(made, [2, 3, 0, 1])
    else:
        shape = b.constant([*window, channels // groups, outputs // groups], "int32")
        op = "Conv3DBackpropFilterV2" if count == 3 else "Conv2DBackpropFilter"
        order = [rank - 1, rank - 2, *range(rank - 2)]
        pairs = [(moved, slope)] if groups == 1 else zip(*(_parts(b, one, rank - 1, groups) for one in (moved, slope)))
        parts = [b.transpose(b.node(op, [one, shape, other], x.dtype, rank, **options), order) for one, other in pairs]
        made = parts[0] if groups == 1 else b.node("ConcatV2", [*parts, b.constant(0, "int32")], x.dtype, rank,
                                                   N=groups, T=x.dtype, Tidx=INT32)
    return b.reshape(made, [outputs, channels // groups, *call.get("size")])


# --- norms

@handles("BatchNormalization")
def _batch_norm(b, call):
    x, scale, offset, mean, variance = call.ends[:5]
    if call.get("training_mode", 0):
        raise call.refusal("in training is not supported")
    moved = _last(b, x)
    small = b.constant(call.get("epsilon", 1e-5), variance.dtype)
    factor = b.binary("Mul", b.unary("Rsqrt", b.binary("AddV2", variance, small)), scale)
    shift = b.binary("Sub", offset, b.binary("Mul", mean, factor))
    return _first(b, b.binary("AddV2", b.binary("Mul", moved, factor), shift))
