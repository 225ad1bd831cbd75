"""Operators of ONNX that move, choose and cast elements as TensorFlow's nodes."""
import numpy as np

from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.translation import DTYPES, Free, cast, handles

MOST_AXES = 5  # of tensors that TensorFlow broadcasts in whatever way
FAR = 1 << 60  # an end of a slice that means the last element


@handles("Flatten")
def _flatten(b, call):
    if call.get("axis", 1) != 1:
        raise call.refusal("at another axis than 1 is not supported")
    x = call.end(0)
    first = b.node("StridedSlice", [b.node("Shape", [x], "int32", 1, T=x.dtype, out_type=as_dtype("int32")),
                                    *(b.constant([one], "int32") for one in (0, 1, 1))], "int32", 1,
                   T=as_dtype("int32"), Index=as_dtype("int32"))
    shape = b.node("ConcatV2", [first, b.constant([-1], "int32"), b.constant(0, "int32")], "int32", 1, N=2,
                   T=as_dtype("int32"), Tidx=as_dtype("int32"))
    return b.reshape(x, shape)


@handles("Shape")
def _shape(b, call):
    x, begin, end = call.end(0), call.get("start", 0), call.get("end")
    if isinstance(x, Free):
        x, begin = b.free[x.which]
        end = begin + 1
    found = b.node("Shape", [x], "int64", 1, T=x.dtype, out_type=as_dtype("int64"))
    if not begin and end is None:
        return found
    parts = [b.constant([one], "int64") for one in (begin, 0 if end is None else end, 1)]
    return b.node("StridedSlice", [found, *parts], "int64", 1, T=as_dtype("int64"), Index=as_dtype("int64"),
                  end_mask=int(end is None))


@handles("Constant")
def _constant(b, call):
    from onnx import numpy_helper
    array = numpy_helper.to_array(call.attributes["value"])
    return b.constant(array, array.dtype.name)


@handles("ConstantOfShape")
def _constant_of_shape(b, call):
    from onnx import numpy_helper
    value = call.attributes.get("value")
    array = np.zeros(1, "float32") if value is None else numpy_helper.to_array(value)
    filled = b.constant(array.reshape(()), array.dtype.name)
    return b.node("Fill", [call.end(0), filled], filled.dtype, T=filled.dtype, index_type=call.end(0).dtype)


@handles("Expand")
def _expand(b, call):
    x, shape = call.ends
    own = b.node("Shape", [x], shape.dtype, 1, T=x.dtype, out_type=shape.dtype)
    both = b.node("BroadcastArgs", [own, shape], shape.dtype, 1, T=shape.dtype)
    length = (call.shapes[1] or [0])[0]
    if x.rank is not None and x.rank > MOST_AXES and 0 < length <= x.rank:
        counts = b.binary("FloorDiv", both, b.binary("Maximum", own, b.constant(1, shape.dtype)))
        return b.node("Tile", [x, counts], x.dtype, x.rank, T=x.dtype, Tmultiples=shape.dtype)
    return b.node("BroadcastTo", [x, both], x.dtype, T=x.dtype, Tidx=shape.dtype)


@handles("Unsqueeze")
def _unsqueeze(b, call):
    x = call.end(0)
    axes, rank = call.numbers(1), x.rank
    if rank is None:
        raise call.refusal("of a tensor whose rank is not known is not supported")
    for axis in sorted(axis % (rank + len(axes)) for axis in axes):
        x = b.node("ExpandDims", [x, b.constant(axis, "int32")], x.dtype, (x.rank or 0) + 1, T=x.dtype,
                   Tdim=as_dtype("int32"))
    return x


@handles("GatherElements")
def _gather_elements(b, call):
    x, places = call.ends
    if places.rank is None or call.ends[1].number is not None and (places.number < 0).any():
        raise call.refusal("with places from the end, or of a rank that is not known, is not supported")
    axis, rank = call.get("axis", 0) % places.rank, places.rank
    if any(one and other and one != other for number, (one, other) in enumerate(zip(*(
            shape or [0] * rank for shape in call.shapes))) if number != axis):
        raise call.refusal("of fewer rows than there are is not supported")
    axes = list(range(rank))
    axes[axis], axes[-1] = axes[-1], axes[axis]
    found = b.node("GatherV2", [b.transpose(x, axes), b.transpose(places, axes), b.constant(rank - 1, "int32")],
                   x.dtype, rank, Tparams=x.dtype, Tindices=places.dtype, Taxis=as_dtype("int32"), batch_dims=rank - 1)
    return b.transpose(found, axes)


@handles("Slice")
def _slice(b, call):
    x = call.end(0)
    if x.rank is None:
        raise call.refusal("of a tensor whose rank is not known is not supported")
    if any(end.number is None for end in call.ends[1:3]):
        return _slice_by_tensors(b, call)
    begins, ends = call.numbers(1), call.numbers(2)
    axes, steps = call.numbers(3, list(range(len(begins)))), call.numbers(4, [1] * len(begins))
    full = {"begin": [0] * x.rank, "end": [0] * x.rank, "step": [1] * x.rank}
    open_ends = (1 << x.rank) - 1
    for axis, begin, end, step in zip((axis % x.rank for axis in axes), begins, ends, steps):
        full["begin"][axis], full["step"][axis] = min(begin, FAR), step
        if step > 0 and end < FAR or step < 0 and end > -FAR:
            full["end"][axis], open_ends = end, open_ends & ~(1 << axis)
    parts = [b.constant(full[name], "int64") for name in ("begin", "end", "step")]
    return b.node("StridedSlice", [x, *parts], x.dtype, x.rank, T=x.dtype, Index=as_dtype("int64"), end_mask=open_ends)


def _slice_by_tensors(b, call):
    """Return a slice whose bounds come when the function runs."""
    x, begins, ends = call.ends[:3]
    count = (call.shapes[1] or [begins.number.size if begins.number is not None else 0])[0] or x.rank
    axes = [axis % x.rank for axis in call.numbers(3, list(range(count)))]
    steps = dict(zip(axes, call.numbers(4, [1] * len(axes))))
    if any(step < 0 for step in steps.values()):
        raise call.refusal("backwards with bounds that are known at run time only is not supported")
    bounds = [_spread(b, end, axes, x.rank) for end in (begins, ends)]
    strides = b.constant([steps.get(axis, 1) for axis in range(x.rank)], "int64")
    return b.node("StridedSlice", [x, *bounds, strides], x.dtype, x.rank, T=x.dtype, Index=as_dtype("int64"),
                  end_mask=sum(1 << axis for axis in range(x.rank) if axis not in axes))


def _spread(b, bounds, axes, rank):
    """Return the bounds of some axes as those of all; others begin at 0."""
    def part(place):
        one = b.constant([place + 1], "int64")
        return b.node("StridedSlice", [bounds, b.constant([place], "int64"), one, b.constant([1], "int64")],
                      bounds.dtype, 1, T=bounds.dtype, Index=as_dtype("int64"))
    parts = [cast(b, part(axes.index(axis)), "int64") if axis in axes else b.constant([0], "int64")
             for axis in range(rank)]
    if rank == 1:
        return parts[0]
    return b.node("ConcatV2", [*parts, b.constant(0, "int32")], "int64", 1, N=rank, T=as_dtype("int64"),
                  Tidx=as_dtype("int32"))


@handles("Split")
def _split(b, call):
    x = call.end(0)
    sizes = call.numbers(1)
    if sizes is None:
        raise call.refusal("into equal parts is not supported")
    first = b.node("SplitV", [x, b.constant(sizes, "int64"), b.constant(call.get("axis", 0), "int32")], x.dtype, x.rank,
                   num_split=len(sizes), T=x.dtype, Tlen=as_dtype("int64"))
    return [End(f"{first.text[:-1]}{place}", x.dtype, x.rank) for place in range(len(sizes))]


@handles("Pad")
def _pad(b, call):
    x, mode = call.end(0), call.get("mode", "constant")
    flat = call.numbers(1)
    axes = call.numbers(3, list(range(len(flat) // 2)))
    if x.rank is None or mode not in ("constant", "reflect"):
        raise call.refusal(f"of mode {mode}, or of a tensor whose rank is not known, is not supported")
    pairs = [[0, 0] for _ in range(x.rank)]
    for place, axis in enumerate(axes):
        pairs[axis % x.rank] = [flat[place], flat[place + len(axes)]]
    x = _cut(b, x, [[max(-width, 0) for width in pair] for pair in pairs])
    widths = b.constant([[max(width, 0) for width in pair] for pair in pairs], "int32")
    if mode == "reflect":
        return b.node("MirrorPad", [x, widths], x.dtype, x.rank, T=x.dtype, Tpaddings=as_dtype("int32"), mode="REFLECT")
    value = call.end(2) or b.constant(0, x.dtype)
    return b.node("PadV2", [x, widths, value], x.dtype, x.rank, T=x.dtype, Tpaddings=as_dtype("int32"))


def _cut(b, x, widths):
    """Return a tensor without so many places at the ends of its axes."""
    if not any(map(any, widths)):
        return x
    parts = [b.constant(one, "int64") for one in ([before for before, _ in widths], [-after for _, after in widths],
                                                  [1] * x.rank)]
    open_ends = sum(1 << axis for axis, (_, after) in enumerate(widths) if not after)
    return b.node("StridedSlice", [x, *parts], x.dtype, x.rank, T=x.dtype, Index=as_dtype("int64"), end_mask=open_ends)


@handles("OneHot")
def _one_hot(b, call):
    places, depth, values = call.ends
    off, on = (b.constant(values.number[place], values.dtype) for place in (0, 1))
    depth = b.constant(int(np.asarray(depth.number).reshape(())), "int32")
    return b.node("OneHot", [places, depth, on, off], values.dtype, T=values.dtype, TI=places.dtype,
                  axis=call.get("axis", -1))


SCATTERS = {"none": "TensorScatterUpdate", "add": "TensorScatterAdd", "max": "TensorScatterMax",
            "min": "TensorScatterMin"}


@handles("ScatterND")
def _scatter_nd(b, call):
    x, places, updates = call.ends
    op = SCATTERS.get(call.get("reduction", "none"))
    if op is None:
        raise call.refusal(f"with reduction {call.get('reduction')} is not supported")
    if places.number is not None and (places.number < 0).any():
        raise call.refusal("at places from the end is not supported")
    return b.node(op, [x, places, updates], x.dtype, x.rank, T=x.dtype, Tindices=places.dtype)


@handles("ScatterElements")
def _scatter_elements(b, call):
    x, places, updates = call.ends
    op, rank = SCATTERS.get(call.get("reduction", "none")), x.rank
    if op is None or rank is None or call.get("axis", 0) % rank != rank - 1:
        raise call.refusal("along another axis than the last, or with a reduction that is no sum, is not supported")
    kind = as_dtype("int64")
    shapes = [b.node("Shape", [one], kind, 1, T=one.dtype, out_type=kind) for one in (x, places)]
    width, count = (b.node("GatherV2", [shape, b.constant([rank - 1], "int64"), b.constant(0, "int32")], kind, 1,
                           Tparams=kind, Tindices=kind, Taxis=as_dtype("int32")) for shape in shapes)
    rows = b.reshape(places, b.node("ConcatV2", [b.constant([-1], "int64"), count, b.constant(0, "int32")], kind, 1,
                                    N=2, T=kind, Tidx=as_dtype("int32")))
    many = b.node("Shape", [rows], kind, 1, T=places.dtype, out_type=kind)
    many = b.node("GatherV2", [many, b.constant(0, "int64"), b.constant(0, "int32")], kind, 0, Tparams=kind,
                  Tindices=kind, Taxis=as_dtype("int32"))
    starts = b.node("Range", [b.constant(0, "int64"), many, b.constant(1, "int64")], kind, 1, Tidx=kind)
    starts = b.reshape(b.binary("Mul", starts, width), [-1, 1])
    flat = b.reshape(b.binary("AddV2", rows, starts), [-1, 1])
    found = b.node(op, [b.reshape(x, [-1]), flat, b.reshape(updates, [-1])], x.dtype, 1, T=x.dtype, Tindices=kind)
    return b.reshape(found, shapes[0])


@handles("TopK")
def _top_k(b, call):
    x, count = call.end(0), call.end(1)
    if x.rank is None:
        raise call.refusal("of a tensor whose rank is not known is not supported")
    axis, last = call.get("axis", -1) % x.rank, x.rank - 1
    order = list(range(x.rank))
    order[axis], order[last] = last, axis
    known = count.number is not None
    k = b.constant(count.number.reshape(()), "int32") if known else cast(b, b.reshape(count, []), "int32")
    moved = b.transpose(x, order)
    largest = moved if call.get("largest", 1) else _turned(b, moved)
    values = b.node("TopKV2", [largest, k], x.dtype, x.rank, result="values", T=x.dtype, sorted=True)
    places = End(values.text.replace(":values:", ":indices:"), as_dtype("int32"), x.rank)
    values = values if call.get("largest", 1) else _turned(b, values)
    return b.transpose(values, order), b.transpose(cast(b, places, "int64"), order)


def _turned(b, x):
    """Return numbers whose largest are the smallest of others; integers have none too many, as negation would."""
    return b.unary("Neg", x) if x.dtype.is_floating else b.unary("Invert", x)


@handles("Cast")
def _cast(b, call):
    dtype = DTYPES.get(call.get("to"))
    if dtype is None:
        raise call.refusal("to this dtype is not supported")
    return cast(b, call.end(0), dtype)
