"""Nodes of ONNX as TensorFlow's: the export to ONNX knows what the engine's operators are, dynamic sizes included."""
import numpy as np

from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import Builder, End

DTYPES = {1: "float32", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
          11: "float64", 16: "bfloat16"}
UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Relu Selu Sigmoid Sign
    Sin Sinh Softplus Softsign Sqrt Tan Tanh""".split()
BINARY = {"Add": "AddV2", "Sub": "Sub", "Mul": "Mul", "Pow": "Pow"}
CLAIMS = {"Equal": "Equal", "Less": "Less", "LessOrEqual": "LessEqual", "Greater": "Greater",
          "GreaterOrEqual": "GreaterEqual", "And": "LogicalAnd", "Or": "LogicalOr"}
HANDLERS = {}
FAR = 1 << 60  # an end of a slice that means the last element


def handles(*names):
    """Return a decorator for functions that write nodes of these kinds."""
    def decorate(function):
        HANDLERS.update(dict.fromkeys(names, function))
        return function
    return decorate


class Call:
    """A node of ONNX: operands as values, attributes as Python's.

    Parameters
    ----------
    node : onnx.NodeProto
        The node.
    ends : Sequence[Optional[End]]
        Its operands.
    shapes : Sequence[Optional[List[int]]]
        Their sizes, as far as they are known.

    """

    def __init__(self, node, ends, shapes):
        from onnx import helper
        self.op, self.ends, self.shapes, self.count = node.op_type, ends, shapes, len(node.output)
        self.attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}

    def get(self, name, default=None):
        """Return an attribute."""
        found = self.attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def end(self, place):
        """Return an operand, or None."""
        return self.ends[place] if place < len(self.ends) else None

    def numbers(self, place, default=None):
        """Return an operand that must be known."""
        found = self.end(place)
        if found is None:
            return default
        if found.number is None:
            raise self.refusal("with numbers that are known at run time only")
        return found.number.tolist()

    def refusal(self, what="is not supported"):
        """Return the error for a node that cannot be written."""
        return UnimplementedError(None, None, f"saved_model.save: operator {self.op} {what}; export to ONNX instead")


def translate(model, name, variables):
    """Return a function of TensorFlow's nodes.

    Parameters
    ----------
    model : onnx.ModelProto
        The function as ONNX's nodes.
    name : str
        The function's name.
    variables : dict
        {name of an initializer: variable}

    Returns
    -------
    Tuple[FunctionDef, List[str], List[DType]]
        The function, the names of the variables that it takes after its arguments, the dtypes of its results.

    """
    from onnx import numpy_helper, shape_inference
    model = shape_inference.infer_shapes(model)
    b, graph = Builder(name), model.graph
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in [*graph.value_info, *graph.output]
             if info.type.tensor_type.HasField("shape")}
    kinds = {info.name: info.type.tensor_type.elem_type for info in [*graph.value_info, *graph.output]}
    shapes = {info.name: [dim.dim_value for dim in info.type.tensor_type.shape.dim] for info in graph.value_info}
    shapes.update((one.name, list(one.dims)) for one in graph.initializer)
    known = {one.name for one in graph.initializer}
    values, taken = {"": None}, []
    for place, info in enumerate(one for one in graph.input if one.name not in known):
        kind = info.type.tensor_type
        values[info.name] = b.argument(f"input_{place}", DTYPES[kind.elem_type], len(kind.shape.dim))
    for one in graph.initializer:
        array = numpy_helper.to_array(one)
        if one.name in variables:
            taken.append(one.name)
            handle = b.argument(f"variable_{len(taken)}", "resource")
            dtype = as_dtype(DTYPES[one.data_type])
            values[one.name] = b.node("ReadVariableOp", [handle], dtype, array.ndim, dtype=dtype)
        else:
            values[one.name] = b.constant(array, DTYPES[one.data_type])
    for node in graph.node:
        call = Call(node, [values[source] for source in node.input], [shapes.get(source) for source in node.input])
        if node.domain or node.op_type not in HANDLERS:
            raise call.refusal()
        made = HANDLERS[node.op_type](b, call)
        for label, end in zip(node.output, made if isinstance(made, (list, tuple)) else [made]):
            end.rank = ranks.get(label, end.rank)
            if label in kinds and as_dtype(DTYPES.get(kinds[label], "float32")) is not end.dtype:
                end = cast(b, end, DTYPES[kinds[label]])
            values[label] = end
    results = [values[info.name] for info in graph.output]
    for place, end in enumerate(results):
        b.result(f"output_{place}", b.unary("Identity", end))
    return b.definition, taken, [end.dtype for end in results]


def cast(b, x, dtype):
    """Return a value in another dtype."""
    dtype = as_dtype(dtype)
    return x if x.dtype is dtype else b.node("Cast", [x], dtype, x.rank, SrcT=x.dtype, DstT=dtype)


@handles(*UNARY)
def _unary(b, call):
    return b.unary(call.op, call.end(0))


@handles("Identity", "Dropout")
def _identity(b, call):
    return call.end(0)


@handles("Round")
def _round(b, call):
    return b.unary("Round", call.end(0))


@handles("Not")
def _not(b, call):
    return b.node("LogicalNot", [call.end(0)], "bool", call.end(0).rank)


@handles("IsNaN", "IsInf")
def _is(b, call):
    return b.node("IsNan" if call.op == "IsNaN" else "IsInf", [call.end(0)], "bool", call.end(0).rank,
                  T=call.end(0).dtype)


@handles(*BINARY)
def _binary(b, call):
    return b.binary(BINARY[call.op], call.end(0), call.end(1))


@handles("Div")
def _div(b, call):
    x, y = call.ends
    return b.binary("TruncateDiv" if x.dtype.is_integer else "RealDiv", x, y)


@handles("Mod")
def _mod(b, call):
    return b.binary("TruncateMod" if call.get("fmod", 0) else "FloorMod", *call.ends)


@handles(*CLAIMS)
def _claim(b, call):
    x, y = call.ends
    rank = None if x.rank is None or y.rank is None else max(x.rank, y.rank)
    if call.op in ("And", "Or"):
        return b.node(CLAIMS[call.op], [x, y], "bool", rank)
    return b.binary(CLAIMS[call.op], x, y, "bool")


@handles("Max", "Min")
def _extreme(b, call):
    found = call.end(0)
    for other in call.ends[1:]:
        found = b.binary("Maximum" if call.op == "Max" else "Minimum", found, other)
    return found


@handles("Sum")
def _sum(b, call):
    found = call.end(0)
    for other in call.ends[1:]:
        found = b.binary("AddV2", found, other)
    return found


@handles("Clip")
def _clip(b, call):
    found = call.end(0)
    for place, op in ((1, "Maximum"), (2, "Minimum")):
        if call.end(place) is not None:
            found = b.binary(op, found, call.end(place))
    return found


@handles("Elu", "LeakyRelu")
def _leaky(b, call):
    if call.op == "Elu":
        if call.get("alpha", 1.0) != 1.0:
            raise call.refusal("with another alpha than 1 is not supported")
        return b.unary("Elu", call.end(0))
    return b.unary("LeakyRelu", call.end(0), alpha=call.get("alpha", 0.01))


@handles("PRelu")
def _prelu(b, call):
    x, slope = call.ends
    zero = b.constant(0, x.dtype)
    return b.binary("AddV2", b.binary("Maximum", x, zero), b.binary("Mul", slope, b.binary("Minimum", x, zero)))


@handles("HardSigmoid", "HardSwish")
def _hard(b, call):
    x = call.end(0)
    alpha, beta = (1 / 6, 0.5) if call.op == "HardSwish" else (call.get("alpha", 0.2), call.get("beta", 0.5))
    line = b.binary("AddV2", b.binary("Mul", x, b.constant(alpha, x.dtype)), b.constant(beta, x.dtype))
    line = b.binary("Minimum", b.binary("Maximum", line, b.constant(0, x.dtype)), b.constant(1, x.dtype))
    return b.binary("Mul", x, line) if call.op == "HardSwish" else line


@handles("Softmax", "LogSoftmax")
def _softmax(b, call):
    x, axis = call.end(0), call.get("axis", -1)
    if x.rank is None:
        raise call.refusal("of a tensor whose rank is not known is not supported")
    axes = list(range(x.rank))
    axes[axis % x.rank], axes[-1] = axes[-1], axes[axis % x.rank]
    return b.transpose(b.unary(call.op, b.transpose(x, axes)), axes)


@handles("Where")
def _where(b, call):
    condition, x, y = call.ends
    return b.node("SelectV2", [condition, x, y], x.dtype, T=x.dtype)


@handles("Cast")
def _cast(b, call):
    dtype = DTYPES.get(call.get("to"))
    if dtype is None:
        raise call.refusal("to this dtype is not supported")
    return cast(b, call.end(0), dtype)


# --- arrays

@handles("Transpose")
def _transpose(b, call):
    x = call.end(0)
    return b.transpose(x, call.get("perm") or list(reversed(range(x.rank))))


@handles("Reshape")
def _reshape(b, call):
    x, shape = call.ends
    if shape.number is not None and (shape.number == 0).any() and not call.get("allowzero", 0):
        raise call.refusal("with sizes that stay as they are is not supported")
    return b.reshape(x, shape)


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


@handles("Concat")
def _concat(b, call):
    first = call.end(0)
    return b.node("ConcatV2", [*call.ends, b.constant(call.get("axis"), "int32")], first.dtype, first.rank,
                  N=len(call.ends), T=first.dtype, Tidx=as_dtype("int32"))


@handles("Shape")
def _shape(b, call):
    x = call.end(0)
    found = b.node("Shape", [x], "int64", 1, T=x.dtype, out_type=as_dtype("int64"))
    begin, end = call.get("start", 0), call.get("end")
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
    return b.node("BroadcastTo", [x, both], x.dtype, T=x.dtype, Tidx=shape.dtype)


@handles("Tile")
def _tile(b, call):
    x, counts = call.ends
    return b.node("Tile", [x, counts], x.dtype, x.rank, T=x.dtype, Tmultiples=counts.dtype)


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


@handles("Squeeze")
def _squeeze(b, call):
    x = call.end(0)
    return b.node("Squeeze", [x], x.dtype, T=x.dtype, squeeze_dims=call.numbers(1, []))


@handles("Gather")
def _gather(b, call):
    x, places = call.ends
    axis = call.get("axis", 0)
    if places.number is not None and (places.number < 0).any():
        raise call.refusal("with places from the end is not supported")
    return b.node("GatherV2", [x, places, b.constant(axis, "int32")], x.dtype, Tparams=x.dtype,
                  Tindices=places.dtype, Taxis=as_dtype("int32"))


@handles("GatherND")
def _gather_nd(b, call):
    x, places = call.ends
    if call.get("batch_dims", 0):
        raise call.refusal("by batches is not supported")
    return b.node("GatherNd", [x, places], x.dtype, Tparams=x.dtype, Tindices=places.dtype)


@handles("Slice")
def _slice(b, call):
    x = call.end(0)
    begins, ends = call.numbers(1), call.numbers(2)
    axes, steps = call.numbers(3, list(range(len(begins)))), call.numbers(4, [1] * len(begins))
    if x.rank is None or any(step < 1 for step in steps):
        raise call.refusal("backwards, or of a tensor whose rank is not known, is not supported")
    full = {"begin": [0] * x.rank, "end": [0] * x.rank, "step": [1] * x.rank}
    open_ends = (1 << x.rank) - 1
    for axis, begin, end, step in zip((axis % x.rank for axis in axes), begins, ends, steps):
        full["begin"][axis], full["step"][axis] = begin, step
        if end < FAR:
            full["end"][axis], open_ends = end, open_ends & ~(1 << axis)
    parts = [b.constant(full[name], "int64") for name in ("begin", "end", "step")]
    return b.node("StridedSlice", [x, *parts], x.dtype, x.rank, T=x.dtype, Index=as_dtype("int64"), end_mask=open_ends)


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
    if x.rank is None or mode not in ("constant", "reflect") or min(flat) < 0:
        raise call.refusal(f"of mode {mode}, cutting, or of a tensor whose rank is not known, is not supported")
    pairs = [[0, 0] for _ in range(x.rank)]
    for place, axis in enumerate(axes):
        pairs[axis % x.rank] = [flat[place], flat[place + len(axes)]]
    widths = b.constant(pairs, "int32")
    if mode == "reflect":
        return b.node("MirrorPad", [x, widths], x.dtype, x.rank, T=x.dtype, Tpaddings=as_dtype("int32"), mode="REFLECT")
    value = call.end(2) or b.constant(0, x.dtype)
    return b.node("PadV2", [x, widths, value], x.dtype, x.rank, T=x.dtype, Tpaddings=as_dtype("int32"))


@handles("Range")
def _range(b, call):
    return b.node("Range", call.ends, call.end(0).dtype, 1, Tidx=call.end(0).dtype)


@handles("OneHot")
def _one_hot(b, call):
    places, depth, values = call.ends
    off, on = (b.constant(values.number[place], values.dtype) for place in (0, 1))
    depth = b.constant(int(np.asarray(depth.number).reshape(())), "int32")
    return b.node("OneHot", [places, depth, on, off], values.dtype, T=values.dtype, TI=places.dtype,
                  axis=call.get("axis", -1))


@handles("Trilu")
def _trilu(b, call):
    x, k = call.end(0), call.numbers(1, 0)
    k = k[0] if isinstance(k, list) else k
    if k:
        raise call.refusal("beside the diagonal is not supported")
    low, high = (0, -1) if call.get("upper", 1) else (-1, 0)
    return b.node("MatrixBandPart", [x, b.constant(low, "int64"), b.constant(high, "int64")], x.dtype, x.rank,
                  T=x.dtype, Tindex=as_dtype("int64"))


@handles("CumSum")
def _cumsum(b, call):
    x, axis = call.ends
    return b.node("Cumsum", [x, b.reshape(axis, [])], x.dtype, x.rank, T=x.dtype, Tidx=axis.dtype,
                  exclusive=bool(call.get("exclusive", 0)), reverse=bool(call.get("reverse", 0)))
