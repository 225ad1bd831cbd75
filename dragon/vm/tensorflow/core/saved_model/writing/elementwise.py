"""Operators of ONNX that treat each element by itself as TensorFlow's nodes."""
from dragon.vm.tensorflow.core.saved_model.writing.translation import DTYPES, cast, handles

UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Relu Selu Sigmoid Sign
    Sin Sinh Softplus Softsign Sqrt Tan Tanh""".split()
BINARY = {"Add": "AddV2", "Sub": "Sub", "Mul": "Mul", "Pow": "Pow", "BitwiseAnd": "BitwiseAnd",
          "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor"}
CLAIMS = {"Equal": "Equal", "Less": "Less", "LessOrEqual": "LessEqual", "Greater": "Greater",
          "GreaterOrEqual": "GreaterEqual", "And": "LogicalAnd", "Or": "LogicalOr"}


@handles(*UNARY)
def _unary(b, call):
    return b.unary(call.op, call.end(0))


@handles("Identity", "Dropout")
def _identity(b, call):
    return call.end(0)


@handles("Round")
def _round(b, call):
    return b.unary("Round", call.end(0))


@handles("BitwiseNot")
def _invert(b, call):
    return b.unary("Invert", call.end(0))


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
