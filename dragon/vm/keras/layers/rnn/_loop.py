"""A recurrent layer as a loop over time: for any cell, and what the fused forms are held against."""

from dragon.core.capture.control import PLAIN
from dragon.core.capture.host_calls import is_writing
from dragon.vm.shared import nest
from dragon.vm.shared.autograph.staging import flow
from dragon.vm.shared.tensors.tensor import ops


def _spread(mask, like):
    """Return a mask of (batch, ...) with as many axes as a tensor."""
    return ops.reshape(mask, tuple(mask.shape) + (1,) * (len(like.shape) - len(mask.shape)))


def _choose(mask, fresh, before):
    """Return states with those of masked rows as they were before."""
    chosen = [ops.where(_spread(mask, new), new, old) for new, old in zip(nest.flatten(fresh), nest.flatten(before))]
    return nest.pack_sequence_as(fresh, chosen)


def run_loop(step, sequences, states, mask=None, go_backwards=False, zero_output_for_mask=False, all_outputs=True):
    """Run a step function over the second axis of the sequences.

    Parameters
    ----------
    step : callable
        Takes the inputs of a step and the states; returns an output and the next states.
    sequences : Tensor
        Of shape `(batch, time, ...)`.
    states : list
        The states at the beginning, nested as the step function has them.
    mask : Optional[Tensor], optional
        Of shape `(batch, time)`: where it is False, states stay and the output is the one before.
    go_backwards : bool, optional
        Begin at the end.
    zero_output_for_mask : bool, optional
        Masked outputs are zeros in place of the ones before.
    all_outputs : bool, optional
        Whether the outputs of all steps are wanted.

    Returns
    -------
    tuple
        The last output, all outputs in the order of the steps, and the last states.

    """
    if is_writing():
        made = _as_loop(step, sequences, states, mask, go_backwards, zero_output_for_mask)
        if made is not PLAIN:
            output, outputs, states = made
            return output, outputs if all_outputs else ops.unsqueeze(output, 1), states
    steps = list(ops.unbind(sequences, 1))
    masks = [None] * len(steps) if mask is None else list(ops.unbind(mask, 1))
    if go_backwards:
        steps.reverse()
        masks.reverse()
    outputs, output = [], None
    for x, seen in zip(steps, masks):
        fresh, new_states = step(x, states)
        if seen is not None:
            before = ops.zeros_like(fresh) if output is None or zero_output_for_mask else output
            fresh = ops.where(_spread(seen, fresh), fresh, before)
            new_states = _choose(seen, new_states, states)
        output, states = fresh, new_states
        outputs.append(output)
    return output, ops.stack(outputs, 1) if all_outputs else ops.unsqueeze(output, 1), states


def _as_loop(step, sequences, states, mask, go_backwards, zero_output_for_mask):
    """Return what `run_loop` does, of any number of steps as a file holds them; PLAIN where they are no loop."""
    along = [ops.transpose(x, 0, 1) for x in ([sequences] if mask is None else [sequences, mask])]
    along = [ops.flip(x, [0]) for x in along] if go_backwards else along
    first = ops.zeros_like(step(along[0][0], states)[0])

    def turn(carried, places):
        output, *before = carried
        before = nest.pack_sequence_as(states, before)
        fresh, after = step(places[0], before)
        if mask is not None:
            fresh = ops.where(_spread(places[1], fresh), fresh, first if zero_output_for_mask else output)
            after = _choose(places[1], after, before)
        return [fresh, *nest.flatten(after)], [fresh]
    made = flow.scan(turn, [first, *nest.flatten(states)], along, along[0].shape[0], who="a recurrent layer")
    if made is PLAIN:
        return PLAIN
    (output, *after), (outputs,) = made
    return output, ops.transpose(outputs, 0, 1), nest.pack_sequence_as(states, after)
