"""Products, convolutions, pools and norms of ONNX as TensorFlow's nodes: channels come last there."""
import numpy as np

from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.reductions import reduce
from dragon.vm.tensorflow.core.saved_model.writing.translation import handles

INT32 = as_dtype("int32")


@handles("MatMul")
def _matmul(b, call):
    x, y = call.ends
    if x.rank in (None, 1) or y.rank in (None, 1):
        raise call.refusal("of vectors is not supported")
    return b.node("BatchMatMulV2", [x, y], x.dtype, max(x.rank, y.rank), T=x.dtype)


@handles("Gemm")
def _gemm(b, call):
    x, y, added = call.end(0), call.end(1), call.end(2)
    found = b.node("MatMul", [x, y], x.dtype, 2, T=x.dtype, transpose_a=bool(call.get("transA", 0)),
                   transpose_b=bool(call.get("transB", 0)))
    if call.get("alpha", 1.0) != 1.0:
        found = b.binary("Mul", found, b.constant(call.get("alpha"), x.dtype))
    if added is None:
        return found
    if call.get("beta", 1.0) != 1.0:
        added = b.binary("Mul", added, b.constant(call.get("beta"), x.dtype))
    return b.binary("AddV2", found, added)


@handles("Einsum")
def _einsum(b, call):
    first = call.end(0)
    return b.node("Einsum", call.ends, first.dtype, N=len(call.ends), T=first.dtype, equation=call.get("equation"))


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


def _grouped(b, call, x, kernel, count, groups, options):
    """Return a convolution of groups: each channel by itself as one node, others group by group."""
    shape = call.shapes[1]
    if not shape or not all(shape) or count != 2:
        raise call.refusal("in groups is supported over two axes alone, with a kernel of known shape")
    outputs, each, height, width = shape
    if each == 1 and options["strides"][1] == options["strides"][2]:
        split = b.reshape(kernel, [groups, outputs // groups, height, width])
        weights = b.transpose(split, [2, 3, 0, 1])
        return b.node("DepthwiseConv2dNative", [x, weights], x.dtype, 4, **options)

    def parts(value, axis):
        first = b.node("Split", [b.constant(axis, "int32"), value], x.dtype, 4, num_split=groups, T=x.dtype)
        return [End(f"{first.text[:-1]}{place}", x.dtype, 4) for place in range(groups)]
    weights = b.transpose(kernel, [2, 3, 1, 0])
    made = [b.node("Conv2D", [part, weight], x.dtype, 4, **options)
            for part, weight in zip(parts(x, 3), parts(weights, 3))]
    return b.node("ConcatV2", [*made, b.constant(3, "int32")], x.dtype, 4, N=groups, T=x.dtype, Tidx=INT32)


@handles("ConvTranspose")
def _conv_transposed(b, call):
    x, kernel, bias = call.end(0), call.end(1), call.end(2)
    count, window = _spatial(call, x), call.shapes[1]
    if count == 1 or call.get("group", 1) != 1 or not window or not all(window) or call.get("output_shape"):
        raise call.refusal("over one axis, in groups, into a given size or with an unknown kernel is not supported")
    strides, dilations = (list(call.get(name) or [1] * count) for name in ("strides", "dilations"))
    pads, more = _pads(call, count), list(call.get("output_padding") or [0] * count)
    moved = _last(b, x)
    shape = b.node("Shape", [moved], INT32, 1, T=x.dtype, out_type=INT32)
    batch, spatial = (b.node("StridedSlice", [shape, *(b.constant([one], "int32") for one in (*ends, 1))], INT32, 1,
                             T=INT32, Index=INT32) for ends in ((0, 1), (1, count + 1)))
    reach = [(size - 1) * gap + 1 for size, gap in zip(window[2:], dilations)]
    steps = b.binary("Mul", b.binary("Sub", spatial, b.constant([1] * count, "int32")), b.constant(strides, "int32"))
    full = b.node("ConcatV2", [batch, b.binary("AddV2", steps, b.constant(reach, "int32")),
                               b.constant([window[1]], "int32"), b.constant(0, "int32")], INT32, 1, N=3, T=INT32,
                  Tidx=INT32)
    weights = b.transpose(kernel, [*range(2, x.rank), 1, 0])
    options = {"T": x.dtype, "strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": "VALID"}
    op = "Conv3DBackpropInputV2" if count == 3 else "Conv2DBackpropInput"
    found = b.node(op, [full, weights, moved], x.dtype, x.rank, **options)
    found = _pad(b, found, [[0, extra] for extra in more], 0)  # what no window reaches is 0
    found = _cut(b, found, pads)
    if bias is not None:
        found = b.node("BiasAdd", [found, bias], x.dtype, x.rank, T=x.dtype)
    return _first(b, found)


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
    if call.count > 1 or call.get("ceil_mode", 0) or any(one != 1 for one in call.get("dilations") or ()):
        raise call.refusal("with places, dilations or rounding up is not supported")
    if not is_max and any(map(any, pads)) and not call.get("count_include_pad", 0):
        raise call.refusal("that leaves out its paddings is not supported")
    lowest = np.finfo(x.dtype.as_numpy_dtype).min if x.dtype.name in ("float32", "float64", "float16") else 0
    moved = _widen(b, _pad(b, _last(b, x), pads, lowest if is_max else 0), count)
    op = ("MaxPool" if is_max else "AvgPool") + ("3D" if count == 3 else "")
    found = b.node(op, [moved], x.dtype, max(x.rank, 4), T=x.dtype, ksize=_steps(call.get("kernel_shape"), count),
                   strides=_steps(call.get("strides"), count), padding="VALID")
    return _first(b, _narrow(b, found, count))


@handles("GlobalAveragePool", "GlobalMaxPool")
def _global(b, call):
    x = call.end(0)
    return reduce(b, "Mean" if call.op == "GlobalAveragePool" else "Max", x, list(range(2, x.rank)), True)


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


@handles("InstanceNormalization")
def _instance_norm(b, call):
    x, scale, offset = call.ends
    axes, shape = list(range(2, x.rank)), [-1] + [1] * (x.rank - 2)
    centred, variance = _centred(b, x, axes)
    small = b.constant(call.get("epsilon", 1e-5), x.dtype)
    found = b.binary("Mul", centred, b.unary("Rsqrt", b.binary("AddV2", variance, small)))
    return b.binary("AddV2", b.binary("Mul", found, b.reshape(scale, shape)), b.reshape(offset, shape))


def _centred(b, x, axes):
    """Return numbers less their mean, and their variance."""
    centred = b.binary("Sub", x, reduce(b, "Mean", x, axes, True))
    return centred, reduce(b, "Mean", b.binary("Mul", centred, centred), axes, True)


@handles("LayerNormalization")
def _layer_norm(b, call):
    x, scale, offset = call.end(0), call.end(1), call.end(2)
    axes = list(range(call.get("axis", -1) % x.rank, x.rank))
    centred, variance = _centred(b, x, axes)
    small = b.constant(call.get("epsilon", 1e-5), x.dtype)
    found = b.binary("Mul", centred, b.unary("Rsqrt", b.binary("AddV2", variance, small)))
    found = b.binary("Mul", found, scale) if scale is not None else found
    return b.binary("AddV2", found, offset) if offset is not None else found
