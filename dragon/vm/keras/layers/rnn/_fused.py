"""A recurrent layer as one operator of the engine: any mask, either direction, standard activations.

Masked steps neither change the state nor count, so a sequence with its masked steps moved to the end gives the same
states, in order, without asking the mask anything on the way: the order is a tensor, and the whole stays capturable.
"""

from dragon.vm.keras.core.dtypes import result_type
from dragon.vm.keras.core.promotion import dtype_of
from dragon.vm.keras.layers.rnn._settings import cast
from dragon.vm.shared.tensors.tensor import ops

# A gate's sum that saturates a sigmoid to zero or one, whatever the state adds to it.
SHUT, OPEN = -1e4, 1e4


class Order:
    """Where a mask sends the steps of each row: seen ones first, in their order."""

    def __init__(self, mask, go_backwards):
        mask = ops.flip(mask, 1) if go_backwards else mask
        batch, steps = mask.shape
        self.mask, self.shape = mask, (batch, steps)
        # Sizes stand in shapes only, not in sums: so one captured graph serves batches of all sizes.
        places = ops.reshape(ops.arange(batch * steps, device=mask.device), (batch, steps))
        order = ops.argsort(ops.cast(mask, "int32"), 1, True, True)
        order = ops.sub(steps - 1, order) if go_backwards else order
        # Time goes first in the engine; both gathers change that on the way.
        self.into = ops.reshape(ops.transpose(ops.gather(places, 1, order), 0, 1), (-1,))
        self.count = ops.cumsum(ops.cast(mask, "int64"), 1)
        self.begun = self.count > 0
        places = ops.transpose(ops.reshape(ops.ravel(places), (steps, batch)), 0, 1)
        self.back = ops.gather(places, 1, ops.clamp(self.count - 1, 0))
        self.total = ops.slice(self.count, 1, steps - 1, steps)

    def steps_seen(self):
        """Return for each row of the sorted sequences whether its step counts, as a column."""
        batch, steps = self.shape
        seen = ops.unsqueeze(ops.arange(steps, device=self.mask.device), 1) < ops.transpose(self.total, 0, 1)
        return ops.reshape(seen, (steps * batch, 1))


def _time_major(x):
    return ops.reshape(ops.transpose(x, 0, 1), (x.shape[0] * x.shape[1], x.shape[2]))


def _pick(rows, index):
    """Return rows by an index of any shape."""
    found = ops.index_select(rows, 0, ops.reshape(index, (-1,)))
    return ops.reshape(found, tuple(index.shape) + (rows.shape[1],))


def run_fused(mode, sequences, states, weights, mask=None, go_backwards=False, zero_output_for_mask=False,
              all_outputs=True, cells_wanted=True):
    """Run a whole layer; the arguments and results are those of `run_loop`.

    Parameters
    ----------
    mode : {"tanh", "relu", "lstm", "gru"}
        The engine's name of the cell.
    weights : tuple
        Kernel `(features, gates * units)`, recurrent kernel with its transposed shape, bias of the inputs and bias of
        the state (each may be None), gates in the engine's order.
    cells_wanted : bool, optional
        Whether the last cells of a masked LSTM matter to the caller.

    """
    dtype = result_type(dtype_of(sequences), dtype_of(weights[0]))
    wide = "float64" if dtype == "float64" else "float32"
    sequences, states = cast(sequences, wide), [cast(state, wide) for state in states]
    kernel, recurrent, bias, recurrent_bias = (w if w is None else cast(w, wide) for w in weights)
    batch, steps, _ = sequences.shape
    order = None if mask is None else Order(mask, go_backwards)
    if order is None:
        rows = _time_major(sequences)
    else:
        rows = ops.index_select(ops.reshape(sequences, (batch * steps, sequences.shape[2])), 0, order.into)
    gates = ops.linear(rows, ops.transpose(kernel, 0, 1), bias)
    if order is not None and mode == "lstm" and cells_wanted:
        gates = ops.where(order.steps_seen(), gates, _keeping_cells(gates))
    cells = states[1] if mode == "lstm" else None
    out, last, last_cells, *_ = ops.recurrent_layer(
        gates, states[0], cells, recurrent, recurrent_bias, None, mode, go_backwards and order is None, [batch] * steps)
    if order is not None:
        output, outputs, last = _unsorted(order, out, states[0], zero_output_for_mask, all_outputs)
    else:
        output = last
        outputs = ops.transpose(ops.reshape(out, (steps, batch, out.shape[1])), 0, 1) if all_outputs else None
        outputs = ops.flip(outputs, 1) if all_outputs and go_backwards else outputs
    found = [last, last_cells] if mode == "lstm" else [last]
    back = [x if x is None else cast(x, dtype) for x in (output, outputs, *found)]
    return back[0], ops.unsqueeze(back[0], 1) if outputs is None else back[1], back[2:]


def _keeping_cells(gates):
    """Return the sums of gates with which an LSTM leaves its cells alone."""
    units = gates.shape[1] // 4
    parts = [ops.full((1, units), value, dtype=gates.dtype, device=gates.device) for value in (SHUT, OPEN, 0.0, 0.0)]
    return ops.cat(parts, 1)


def _unsorted(order, out, first, zero_output_for_mask, all_outputs):
    """Return the last output, all outputs where the mask has them, and the last state."""
    batch, steps = order.shape
    found = _pick(out, order.back) if all_outputs else _pick(out, ops.slice(order.back, 1, steps - 1, steps))
    last = ops.select(found, 1, found.shape[1] - 1)
    state = ops.where(order.total > 0, last, first)
    shown = order.mask if zero_output_for_mask else order.begun
    shown = shown if all_outputs else ops.slice(shown, 1, steps - 1, steps)
    outputs = ops.where(ops.unsqueeze(shown, 2), found, ops.zeros_like(found))
    return ops.select(outputs, 1, outputs.shape[1] - 1), outputs if all_outputs else None, state


def swap_gates(x, axis):
    """Return a GRU's weight with its first two gates in the other order: Keras begins with update, others with reset.

    The rest of the axis follows them.
    """
    if x is None:
        return None
    units = x.shape[axis] // 3
    first, second, third = ops.split(x, units, axis)
    return ops.cat([second, first, third], axis)
