"""Operators of networks: convolutions, pools, norms and activations."""
from dragon.vm.shared.errors import UnimplementedError, invalid_argument
from dragon.vm.shared.recording.tape import GradientTape
from dragon.vm.shared.tensors.dtypes import float32, int64
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import nn
from dragon.vm.tensorflow.core.saved_model.table import operator, row_function
from dragon.vm.tensorflow.core.saved_model.values import dtype_of, numbers, tensor
from dragon.vm.tensorflow.core.shape_checks import require_axes, require_norm, require_sizes


@row_function
def pads(node):
    """Return what a window's padding is in the words of `tf.nn`: a word, or pairs for all axes."""
    word = node.get("padding")
    if word != "EXPLICIT":
        return word
    flat = node.get("explicit_paddings", [])
    return [flat[place:place + 2] for place in range(0, len(flat), 2)]


@row_function
def steps(node):
    """Return the strides of a window, one for each axis of the images or volumes."""
    require_axes(node.get("strides"), "strides", node.op)
    return node.get("strides")


@row_function
def gaps(node):
    """Return the dilations of a window for each axis, None where it has none."""
    found = node.get("dilations", None)
    require_axes(found or (), "dilations", node.op)
    return None if not found or all(one == 1 for one in found) else found


_CONVOLUTIONS = {"Conv2DBackpropFilter": ("conv2d", "NHWC"), "Conv3DBackpropFilterV2": ("conv3d", "NDHWC"),
                 "DepthwiseConv2dNativeBackpropFilter": ("depthwise_conv2d", "NHWC")}


@operator(" ".join(_CONVOLUTIONS))
def _filter_gradient(node, x, sizes, slope):
    name, layout = _CONVOLUTIONS[node.op]
    kind, x, slope, sizes = node.get("data_format", layout), tensor(x), tensor(slope), numbers(sizes)
    require_sizes(sizes, x.ndim, "filter")
    place = -1 if kind.endswith("C") else 1
    if name == "depthwise_conv2d":
        if sizes[2] != x.shape[place]:
            raise invalid_argument("input and filter must have the same in_depth: "
                                   f"{x.shape[place]} vs {sizes[2]}")
    elif name == "conv3d" and sizes[3] != x.shape[place]:
        raise invalid_argument("input and filter_sizes must have the same number of channels. Got "
                               f"{x.shape[place]} for input and {sizes[3]} for filter_sizes")
    kernel = ops.zeros(tuple(sizes), dtype=x.dtype.name)
    with GradientTape() as tape:
        tape.watch(kernel)
        made = getattr(nn, name)(x, kernel, steps(node), pads(node), data_format=kind,
                                 dilations=gaps(node))
    if tuple(made.shape) != tuple(slope.shape):
        raise invalid_argument(f"{node.op}: Size of out_backprop doesn't match computed: actual = "
                               f"{tuple(slope.shape)}, computed = {tuple(made.shape)}")
    return tape.gradient(made, kernel, slope)


@operator("MaxPoolWithArgmax")
def _max_pool_with_places(node, x):
    if pads(node) != "VALID":
        raise UnimplementedError(None, None, f"saved_model: MaxPoolWithArgmax is supported without paddings. Received: "
                                 f"padding={pads(node)!r}")
    x = ops.permute(tensor(x), [0, 3, 1, 2])
    images, channels, height, width = x.shape
    y, places = ops.max_pool2d_with_indices(x, node.get("ksize")[1:3], node.get("strides")[1:3])
    wanted = node.get("include_batch_in_index")
    starts = ops.reshape(ops.arange(0, images if wanted else 1, dtype=int64), [-1, 1, 1, 1])
    places = ops.add(places, ops.mul(starts, height * width))
    places = ops.add(ops.mul(places, channels), ops.reshape(ops.arange(0, channels, dtype=int64), [-1, 1, 1]))
    return ops.permute(y, [0, 2, 3, 1]), ops.cast(ops.permute(places, [0, 2, 3, 1]), node.get("Targmax", int64))


# --- norms

@operator("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def _batch_norm(node, x, scale, offset, mean, variance):
    x, scale, offset, mean, variance = map(tensor, (x, scale, offset, mean, variance))
    kind, small = node.get("data_format"), node.get("epsilon")
    when = ("When is_training=false" if not node.get("is_training") else
            "When exponential_avg_factor != 1" if node.get("exponential_avg_factor") != 1.0 else "")
    require_norm(x, kind, {"scale": scale, "offset": offset}, {"mean": mean, "variance": variance}, when)
    if node.get("is_training"):
        return _train_batch_norm(node, x, scale, offset, mean, variance, kind, small)
    y = _normalize(x, mean, variance, scale, offset, kind, small)
    return y, mean, variance, mean, variance, _reserve()


def _reserve():
    """Return what the third version gives besides: a number that no kernel of a processor reads."""
    return ops.zeros((), dtype=float32)


def _normalize(x, mean, variance, scale, offset, kind, small):
    """Return x in the statistics and on the scale of its channels."""
    factor = ops.mul(ops.rsqrt(ops.add(variance, small)), scale)
    shift = ops.sub(offset, ops.mul(mean, factor))
    if kind.startswith("NC"):
        shape = (1, -1) + (1,) * (x.ndim - 2)
        factor, shift = ops.reshape(factor, shape), ops.reshape(shift, shape)
    wide = x if dtype_of(x) is dtype_of(factor) else ops.cast(x, dtype_of(factor))
    y = ops.add(ops.mul(wide, factor), shift)
    return y if dtype_of(y) is dtype_of(x) else ops.cast(y, dtype_of(x))


def _train_batch_norm(node, x, scale, offset, mean, variance, kind, small):
    axes = [axis for axis in range(x.ndim) if axis != (1 if kind.startswith("NC") else x.ndim - 1)]
    found, count = nn.moments(ops.cast(x, dtype_of(scale)), axes), 1
    for axis in axes:
        count = x.shape[axis] * count
    own_mean, own_variance = found
    y = _normalize(x, own_mean, own_variance, scale, offset, kind, small)
    unbiased = ops.mul(own_variance, count / max(count - 1, 1))
    part = node.get("exponential_avg_factor", 1.0)
    if part != 1.0:
        return (y, mean * (1 - part) + own_mean * part, variance * (1 - part) + unbiased * part, own_mean,
                own_variance, _reserve())
    return y, own_mean, unbiased, own_mean, own_variance, _reserve()


@operator("_FusedConv2D _FusedMatMul")
def _fused(node, *operands):
    raise UnimplementedError(None, None, f"saved_model: {node.op} is what a runtime makes of a graph, not what files "
                             f"have (node '{node.name}' of function '{node.where}')")


def _places(source, target):
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    return convert_to_tensor([source.index(letter) for letter in target], "int64")
