"""Rows of recurrent networks."""
from harness import Given, Row, Sample, Wrong

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
SIZE, UNITS, PROJECTED = 3, 4, 2
LOOSE = {"float32": (3e-5, 3e-5, "sums of products through several steps"),
         "float16": (1e-2, 1e-2, "computed in float32, PyTorch rounds each step")}


def parameters(mode, layers=1, directions=1, biases=True, projected=False):
    """Return the shapes of a network's parameters in PyTorch's order."""
    outputs, rows, shapes = PROJECTED if projected else UNITS, GATES[mode] * UNITS, []
    for layer in range(layers):
        for _ in range(directions):
            shapes += [(rows, SIZE if layer == 0 else outputs * directions), (rows, outputs)]
            shapes += [(rows,), (rows,)] if biases else []
            shapes += [(outputs, UNITS)] if projected else []
    return shapes


def states(mode, batch, layers=1, directions=1, projected=False):
    """Return the shape of the first state, or for an LSTM the shapes of both."""
    h = (layers * directions, batch, PROJECTED if projected else UNITS)
    return [h, (layers * directions, batch, UNITS)] if mode == "lstm" else h


def sample(mode, x, layers=1, directions=1, biases=True, projected=False, batch_first=False, packed=None):
    """Return a call of a network in evaluation mode."""
    batch = packed[0] if packed else x[0 if batch_first else 1]
    given = parameters(mode, layers, directions, biases, projected)
    settings = [biases, layers, 0.0, False, directions == 2]
    if packed:
        sizes = Given((len(packed),), dtype="int64", values=packed, grad=False)
        return Sample(x, sizes, states(mode, batch, layers, directions, projected), given, *settings)
    return Sample(x, states(mode, batch, layers, directions, projected), given, *settings, batch_first)


def network(mode):
    """Return an oracle that calls PyTorch's network over padded sequences."""
    return lambda torch, *args: getattr(torch, mode)(*args)


def padded_samples(mode):
    """Return calls over sequences of one length."""
    more = [sample(mode, (5, 2, SIZE), projected=True), sample(mode, (3, 2, SIZE), 2, 2, projected=True)]
    return [sample(mode, (5, 2, SIZE)), sample(mode, (3, 2, SIZE), 2, 2), sample(mode, (2, 4, SIZE), batch_first=True),
            sample(mode, (4, 1, SIZE), biases=False)] + (more if mode == "lstm" else [])


def packed_samples(mode):
    """Return calls over packed sequences."""
    return [sample(mode, (7, SIZE), packed=[3, 3, 1]), sample(mode, (7, SIZE), 2, 2, packed=[3, 2, 1, 1])]


ROWS = [row for mode in GATES for row in (
    Row(mode, padded_samples(mode), torch=network(mode), dtypes=("float64", "float32"), tolerance=LOOSE,
        errors=[
            Wrong((5, SIZE), states(mode, 2), parameters(mode), True, 1, 0.0, False, False, False, says="axes"),
            Wrong((5, 2, SIZE), states(mode, 2), parameters(mode), True, 2, 0.0, False, False, False,
                  says="parameters"),
            Wrong((5, 2, SIZE + 1), states(mode, 2), parameters(mode), True, 1, 0.0, False, False, False,
                  says="weight"),
            Wrong((5, 2, SIZE), states(mode, 3), parameters(mode), True, 1, 0.0, False, False, False, says="states")]),
    Row(f"{mode}_packed", packed_samples(mode), torch=network(mode), dtypes=("float64", "float32"), tolerance=LOOSE,
        meta="the batch sizes are numbers", strided="other strides make other batch sizes", errors=[
            Wrong((7, SIZE), Given((3,), dtype="int64", values=[1, 3, 3]), states(mode, 1), parameters(mode), True, 1,
                  0.0, False, False, says="batch sizes")]),
    Row(f"{mode}_cell", [
        Sample((2, SIZE), [(2, UNITS)] * 2 if mode == "lstm" else (2, UNITS), (GATES[mode] * UNITS, SIZE),
               (GATES[mode] * UNITS, UNITS), (GATES[mode] * UNITS,), (GATES[mode] * UNITS,)),
        Sample((2, SIZE), [(2, UNITS)] * 2 if mode == "lstm" else (2, UNITS), (GATES[mode] * UNITS, SIZE),
               (GATES[mode] * UNITS, UNITS))],
        torch=network(f"{mode}_cell"), dtypes=("float64", "float32"), tolerance=LOOSE),
)]
