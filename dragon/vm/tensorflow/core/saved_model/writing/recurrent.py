"""Recurrent layers of ONNX as loops of TensorFlow's nodes: what the inputs add to the gates is computed before them."""
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.control import scan
from dragon.vm.tensorflow.core.saved_model.writing.translation import handles


def split(b, x, count, axis):
    """Return parts of equal size."""
    if count == 1:
        return [x]
    first = b.Split(axis, x, num_split=count)
    return [End(f"{first.text[:-1]}{place}", x.dtype, x.rank) for place in range(count)]


def without_first(b, x):
    """Return what has one entry along its first axis, the direction, as that entry."""
    return b.Squeeze(x, rank=None if x.rank is None else x.rank - 1, axis=[0])


def times(b, x, matrix):
    """Return a product with a transposed matrix."""
    return b.MatMul(x, matrix, rank=2, transpose_b=True)


def lstm(b, gates, h, c, weight, bias):
    """Return the state and the memory after a step; ONNX has the gates in the order i o f c."""
    sums = b.binary("AddV2", gates, times(b, h, weight))
    if bias is not None:
        sums = b.binary("AddV2", sums, bias)
    i, o, f, g = split(b, sums, 4, 1)
    i, o, f = (b.unary("Sigmoid", gate) for gate in (i, o, f))
    c = b.binary("AddV2", b.binary("Mul", f, c), b.binary("Mul", i, b.unary("Tanh", g)))
    return [b.binary("Mul", o, b.unary("Tanh", c)), c]


def gru(b, gates, h, weight, bias):
    """Return the state after a step; the gates are z r h, and the one that resets acts behind the product."""
    own = times(b, h, weight)
    if bias is not None:
        own = b.binary("AddV2", own, bias)
    (z, r, n), (own_z, own_r, own_n) = split(b, gates, 3, 1), split(b, own, 3, 1)
    z, r = (b.unary("Sigmoid", b.binary("AddV2", one, other)) for one, other in ((z, own_z), (r, own_r)))
    n = b.unary("Tanh", b.binary("AddV2", n, b.binary("Mul", r, own_n)))
    return [b.binary("AddV2", n, b.binary("Mul", z, b.binary("Sub", h, n)))]


def plain(op):
    """Return the function of a step of a layer without gates."""
    def step(b, gates, h, weight, bias):
        sums = b.binary("AddV2", gates, times(b, h, weight))
        return [b.unary(op, sums if bias is None else b.binary("AddV2", sums, bias))]
    return step


def _step_of(call):
    """Return the function of a step, or refuse what is not known."""
    known = call.end(4) is None and call.get("direction", "forward") in ("forward", "reverse") and not (
        call.get("clip") or call.get("layout", 0) or call.get("input_forget", 0))
    if not known or call.op == "GRU" and not call.get("linear_before_reset", 0):
        raise call.refusal("of several directions or lengths, or with other gates, is not supported")
    if call.op != "RNN":
        return {"LSTM": lstm, "GRU": gru}[call.op]
    name = (call.get("activations") or [b"Tanh"])[0].decode()
    if name not in ("Tanh", "Relu"):
        raise call.refusal(f"with activation {name} is not supported")
    return plain(name)


@handles("LSTM", "GRU", "RNN")
def _recurrent(b, call):
    step, x = _step_of(call), call.end(0)
    weight_x, weight = (without_first(b, call.end(place)) for place in (1, 2))
    bias_x = bias = None
    if call.end(3) is not None:
        bias_x, bias = split(b, without_first(b, call.end(3)), 2, 0)
    turned = b.transpose(weight_x, [1, 0])
    gates = b.BatchMatMulV2(x, turned, rank=3)
    gates = gates if bias_x is None else b.binary("AddV2", gates, bias_x)
    shape = b.shape(x, "int32")
    length, batch = (b.GatherV2(shape, axis, 0, rank=0) for axis in (0, 1))
    states = [_state(b, call, place, batch) for place in ((5, 6) if call.op == "LSTM" else (5,))]
    fixed = [weight] if bias is None else [weight, bias]

    def turn(inner, carried, parts, constants):
        made = step(inner, parts[0], *carried, *constants, *[None] * (2 - len(constants)))
        return [*made, made[0]]
    found = scan(b, length, states, [gates], [x.dtype], fixed, turn, call.get("direction", "forward") == "reverse")
    outputs = [found[-1], *found[:-1]]
    axes = [1, *[0] * len(states)]
    return [b.ExpandDims(end, axis, rank=4 if axis else 3) for end, axis in zip(outputs, axes)]


def _state(b, call, place, batch):
    """Return what a layer begins with: zeros where nothing is given."""
    if call.end(place) is not None:
        return without_first(b, call.end(place))
    dtype, units = call.end(0).dtype, call.get("hidden_size")
    return b.Fill(b.Pack([batch, units], rank=1), b.constant(0, dtype), dtype=dtype, rank=2)
