"""Recurrent layers on the device: more units than a warp has lanes, sequences that end, both directions."""
import numpy
import pytest

import dragon
from harness.devices import agree

GATES = {"tanh": 1, "relu": 1, "gru": 3, "lstm": 4}
SIZES = [5, 3, 3, 1]


def noise(*shape):
    """Return the same noise in every run."""
    return 0.5 * numpy.random.default_rng(sum(shape)).standard_normal(shape)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode, outputs", [(mode, 37) for mode in GATES] + [("lstm", 11)])
def test_layer(mode, outputs, reverse):
    """Results and gradients, projected where there are fewer outputs than units."""
    units, rows, batch, gates = 37, sum(SIZES), SIZES[0], GATES[mode]
    lstm = mode == "lstm"
    c0 = noise(batch, units) if lstm else None
    projection = noise(outputs, units) if outputs != units else None
    weights = [noise(batch, outputs), c0, noise(gates * units, outputs), noise(gates * units), projection]
    agree(lambda *x: dragon.ops.recurrent_layer(*x, mode, reverse, SIZES), [noise(rows, gates * units), *weights],
          tolerance=1e-12)
    saved = [noise(rows, (4 if gates > 1 else 0) * units), noise(rows, units) if lstm else noise(0)]
    states = [noise(batch, outputs), noise(batch, units) if lstm else noise(0)]
    agree(lambda *x: dragon.ops.recurrent_layer_backward(*x, mode, reverse, SIZES),
          [noise(rows, outputs), *states, noise(rows, outputs), *saved, *weights], tolerance=1e-12)
