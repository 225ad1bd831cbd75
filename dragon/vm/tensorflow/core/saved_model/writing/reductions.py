"""Reductions of ONNX as TensorFlow's nodes."""
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.translation import cast, handles

REDUCTIONS = {"ReduceSum": "Sum", "ReduceMean": "Mean", "ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Prod"}


def reduce(b, op, x, axes, keep):
    """Return a reduction along axes."""
    rank = x.rank if keep or x.rank is None else x.rank - len(axes)
    return b.node(op, [x, b.constant(axes, "int32")], x.dtype, rank, T=x.dtype, Tidx=as_dtype("int32"), keep_dims=keep)


def _axes(call):
    axes = call.get("axes") or call.numbers(1)
    if axes is None:
        if call.end(0).rank is None:
            raise call.refusal("of a tensor whose rank is not known is not supported")
        axes = list(range(call.end(0).rank))
    return list(axes)


@handles(*REDUCTIONS)
def _reduce(b, call):
    return reduce(b, REDUCTIONS[call.op], call.end(0), _axes(call), bool(call.get("keepdims", 1)))


@handles("ReduceL2", "ReduceSumSquare")
def _reduce_squares(b, call):
    x = call.end(0)
    found = reduce(b, "Sum", b.binary("Mul", x, x), _axes(call), bool(call.get("keepdims", 1)))
    return b.unary("Sqrt", found) if call.op == "ReduceL2" else found


@handles("ReduceLogSumExp")
def _reduce_log(b, call):
    x, axes, keep = call.end(0), _axes(call), bool(call.get("keepdims", 1))
    most = reduce(b, "Max", x, axes, True)
    found = b.unary("Log", reduce(b, "Sum", b.unary("Exp", b.binary("Sub", x, most)), axes, True))
    found = b.binary("AddV2", found, most)
    return found if keep else b.node("Squeeze", [found], x.dtype, T=x.dtype, squeeze_dims=axes)


@handles("ArgMax", "ArgMin")
def _arg(b, call):
    x, axis = call.end(0), call.get("axis", 0)
    if call.get("select_last_index", 0):
        raise call.refusal("of the last place is not supported")
    found = b.node(call.op, [x, b.constant(axis, "int32")], "int64", None if x.rank is None else x.rank - 1, T=x.dtype,
                   Tidx=as_dtype("int32"), output_type=as_dtype("int64"))
    if not call.get("keepdims", 1):
        return found
    return b.node("ExpandDims", [found, b.constant(axis, "int32")], "int64", x.rank, T=as_dtype("int64"),
                  Tdim=as_dtype("int32"))


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
