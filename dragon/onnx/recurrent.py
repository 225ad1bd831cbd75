"""Recurrent layers, by ONNX's own operators, which take the inputs themselves rather than their part of the gates."""
import numpy

from dragon.onnx.reduction import scan
from dragon.onnx.size import Repeated, Size
from dragon.onnx.source import Value
from dragon.onnx.table import maps

# Where ONNX's gates stand among the engine's: LSTM i o f c among i f g o, GRU z r h among r z n.
GATES = {"lstm": ("LSTM", [0, 3, 1, 2]), "gru": ("GRU", [1, 0, 2]), "tanh": ("RNN", [0]), "relu": ("RNN", [0])}


class Steps:
    """The order in which rows of packed sequences stand for (steps, sequences)."""

    def __init__(self, w, batch_sizes):
        if isinstance(batch_sizes, Repeated):
            self.steps, self.batch = batch_sizes.count, batch_sizes.item
            self.lengths = None
            return
        self.steps, self.batch = len(batch_sizes), batch_sizes[0] if batch_sizes else 0
        self.lengths = None
        if any(size != self.batch for size in batch_sizes):
            if any(isinstance(size, Size) for size in batch_sizes):
                w.refuse("packed sequences in a dynamic batch")
            self.lengths = [sum(size > number for size in batch_sizes) for number in range(self.batch)]
            starts = numpy.cumsum([0, *batch_sizes])
            self.rows = numpy.zeros((self.steps, self.batch), "int64")
            self.flat = []
            for step, size in enumerate(batch_sizes):
                self.rows[step, :size] = starts[step] + numpy.arange(size)
                self.flat += [step * self.batch + number for number in range(size)]

    def unpack(self, w, rows, width):
        """Return (steps, sequences, width) of packed rows."""
        if self.lengths is not None:
            return w.Gather(rows, self.rows, axis=0)
        if isinstance(self.batch, Size) and isinstance(self.steps, Size):
            return w.Reshape(rows, w.sizes([self.steps, self.batch, width]))
        return w.reshape(rows, [self.steps, self.batch, width])

    def pack(self, w, y, width):
        """Return the packed rows of (steps, sequences, width)."""
        rows = w.Reshape(y, [-1, width])
        return rows if self.lengths is None else w.Gather(rows, numpy.array(self.flat, "int64"), axis=0)

    def sequence_lengths(self, w):
        """Return the sequences' lengths, or None if they are all the same."""
        return None if self.lengths is None else w.constant(self.lengths, "int32")


def reordered(w, x, units, order):
    """Return a tensor's gates in ONNX's order."""
    if order == [0]:
        return x
    places = numpy.concatenate([numpy.arange(units) + gate * units for gate in order])
    return w.Gather(x, places.astype("int64"), axis=0)


def inputs_of(w, gates_x):
    """Return (inputs, weight, bias) whose product the gates' part is; a unit matrix if it was made otherwise."""
    producer = w.producers.get(id(gates_x))
    if producer is not None and producer.op == "linear" and producer.arguments["weight"].ndim == 2:
        found = producer.arguments
        return found["x"], found["weight"], found["bias"]
    width = gates_x.shape[1]
    return gates_x, Value(w.constant(numpy.eye(width), gates_x.dtype).name, gates_x.dtype, (width, width)), None


def projected_layer(w, steps, gates_x, h0, c0, weight, bias, projection, reverse):
    """Return the results of an LSTM whose outputs are projected, which ONNX has not: a loop over the steps."""
    if steps.lengths is not None:
        w.refuse("packed sequences of an LSTM with a projection")
    units = gates_x.shape[1] // 4
    matrix, down = (w.Transpose(value, perm=[1, 0]) for value in (weight, projection))

    def step(body, states, places):
        h, c = states
        sums = body.Add(places[0], body.MatMul(h, matrix))
        sums = sums if bias is None else body.Add(sums, w.resolve(bias))
        i, f, g, o = (body.Slice(sums, [gate * units], [(gate + 1) * units], [1]) for gate in range(4))
        c = body.Add(body.Mul(body.Sigmoid(f), c), body.Mul(body.Sigmoid(i), body.Tanh(g)))
        h = body.MatMul(body.Mul(body.Sigmoid(o), body.Tanh(c)), down)
        return [h, c], [h]

    (h, c), (y,) = scan(w, [steps.unpack(w, gates_x, gates_x.shape[1])], 0, [h0, c0], step, reverse)
    return steps.pack(w, y, projection.shape[0]), h, c


@maps("recurrent_layer")
def recurrent_layer(w, gates_x, h0, c0, weight, bias, projection, mode, reverse, batch_sizes):
    op, order = GATES[mode]
    units = weight.shape[1]
    steps = Steps(w, batch_sizes)
    if projection is not None:
        return projected_layer(w, steps, gates_x, h0, c0, weight, bias, projection, reverse)
    inputs, weight_x, bias_x = inputs_of(w, gates_x)
    x = steps.unpack(w, inputs, inputs.shape[1])
    matrices = [w.Unsqueeze(reordered(w, matrix, units, order), [0]) for matrix in (weight_x, weight)]
    shifts = None
    if bias is not None or bias_x is not None:
        zeros = w.constant(numpy.zeros(units * len(order)), weight.dtype)
        shifts = [reordered(w, shift if shift is not None else zeros, units, order) for shift in (bias_x, bias)]
        shifts = w.Unsqueeze(w.Concat(*shifts, axis=0), [0])
    states = [w.Unsqueeze(state, [0]) for state in (h0, c0) if state is not None]
    options = {"GRU": {"linear_before_reset": 1},
               "RNN": {"activations": [mode.capitalize()]}}.get(op, {})
    made = w.add(op, x, *matrices, shifts, steps.sequence_lengths(w), *states, outputs=3 if mode == "lstm" else 2,
                 hidden_size=units, direction="reverse" if reverse else "forward", **options)
    y = steps.pack(w, made[0], units)
    last = [w.Squeeze(state, [0]) for state in made[1:]]
    return y, *last, *([] if mode == "lstm" else [w.constant(numpy.zeros(0), weight.dtype)])
