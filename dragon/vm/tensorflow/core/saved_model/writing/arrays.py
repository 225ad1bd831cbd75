"""Operators of ONNX that move, choose and cast elements as TensorFlow's nodes."""
import numpy as np

from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.translation import DTYPES, Free, cast, handles

MOST_AXES = 5  # of tensors that TensorFlow broadcasts in whatever way
FAR = 1 << 60  # an end of a slice that means the last element


@handles("Shape")
def _shape(b, call):
    x, begin, end = call.end(0), call.get("start", 0), call.get("end")
    if isinstance(x, Free):
        x, begin = b.free[x.which]
        end = begin + 1
    found = b.shape(x)
    if not begin and end is None:
        return found
    return b.StridedSlice(found, [begin], [0 if end is None else end], [1], end_mask=int(end is None))


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
    return b.Fill(call.end(0), filled, dtype=filled.dtype, rank=None)


@handles("Expand")
def _expand(b, call):
    x, shape = call.ends
    own = b.shape(x, shape.dtype)
    both = b.BroadcastArgs(own, shape, rank=1)
    length = (call.shapes[1] or [0])[0]
    if x.rank is not None and x.rank > MOST_AXES and 0 < length <= x.rank:
        counts = b.binary("FloorDiv", both, b.binary("Maximum", own, b.constant(1, shape.dtype)))
        return b.Tile(x, counts)
    return b.BroadcastTo(x, both, rank=None)


@handles("Unsqueeze")
def _unsqueeze(b, call):
    x = call.end(0)
    axes, rank = call.numbers(1), x.rank
    if rank is None:
        raise call.refusal("of a tensor whose rank is not known is not supported")
    for axis in sorted(axis % (rank + len(axes)) for axis in axes):
        x = b.ExpandDims(x, axis, rank=(x.rank or 0) + 1)
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
    found = b.GatherV2(b.transpose(x, axes), b.transpose(places, axes), rank - 1, rank=rank, batch_dims=rank - 1)
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
    return b.StridedSlice(x, *parts, end_mask=open_ends)


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
    return b.StridedSlice(x, *bounds, strides, end_mask=sum(1 << axis for axis in range(x.rank) if axis not in axes))


def _spread(b, bounds, axes, rank):
    """Return the bounds of some axes as those of all; others begin at 0."""
    def part(place):
        return b.StridedSlice(bounds, [place], [place + 1], [1])
    parts = [cast(b, part(axes.index(axis)), "int64") if axis in axes else b.constant([0], "int64")
             for axis in range(rank)]
    if rank == 1:
        return parts[0]
    return b.ConcatV2(parts, 0)


@handles("Split")
def _split(b, call):
    x = call.end(0)
    sizes = call.numbers(1)
    if sizes is None:
        raise call.refusal("into equal parts is not supported")
    first = b.SplitV(x, b.constant(sizes, "int64"), call.get("axis", 0), num_split=len(sizes))
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
    widths = [[max(width, 0) for width in pair] for pair in pairs]
    if mode == "reflect":
        return b.MirrorPad(x, widths, mode="REFLECT")
    return b.PadV2(x, widths, call.end(2) or 0)


def _cut(b, x, widths):
    """Return a tensor without so many places at the ends of its axes."""
    if not any(map(any, widths)):
        return x
    parts = [b.constant(one, "int64") for one in ([before for before, _ in widths], [-after for _, after in widths],
                                                  [1] * x.rank)]
    open_ends = sum(1 << axis for axis, (_, after) in enumerate(widths) if not after)
    return b.StridedSlice(x, *parts, end_mask=open_ends)


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
    return b.call(op, x, places, updates, rank=x.rank)


@handles("ScatterElements")
def _scatter_elements(b, call):
    x, places, updates = call.ends
    op, rank = SCATTERS.get(call.get("reduction", "none")), x.rank
    if op is None or rank is None or call.get("axis", 0) % rank != rank - 1:
        raise call.refusal("along another axis than the last, or with a reduction that is no sum, is not supported")
    shapes = [b.shape(one) for one in (x, places)]
    width, count = (b.GatherV2(shape, [rank - 1], 0, rank=1) for shape in shapes)
    rows = b.reshape(places, b.ConcatV2([[-1], count], 0))
    starts = b.Range(0, b.GatherV2(b.shape(rows), 0, 0, rank=0), 1, rank=1)
    starts = b.reshape(b.binary("Mul", starts, width), [-1, 1])
    flat = b.reshape(b.binary("AddV2", rows, starts), [-1, 1])
    found = b.call(op, b.reshape(x, [-1]), flat, b.reshape(updates, [-1]))
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
    values = b.TopKV2(largest, k, sorted=True)
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
