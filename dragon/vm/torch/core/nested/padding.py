"""From jagged tensors to padded ones and back: rows are found by index, so that gradients find their way too."""
from dragon.vm.torch.core.nested.parts import (form_of, lengths_of, longest, make, rule, values_of)
from dragon.vm.torch.core.sparse.keys import count_up
from dragon.vm.torch.core.tensor import ops


def owner_of(form, rows):
    """Return which sample each of so many rows of the values belongs to."""
    places = count_up(rows, form.offsets)
    found = ops.sub(ops.searchsorted(form.offsets.to(places.dtype), places, right=True), 1)
    return ops.clamp(found, 0, max(form.offsets.shape[0] - 2, 0))


def padded(values, form, padding, length):
    """Return values as one tensor with the samples along the first axis, each of one length."""
    axis, batch = form.dim - 1, form.offsets.shape[0] - 1
    rows = ops.movedim(values, axis, 0)
    rest, starts = tuple(rows.shape[1:]), form.offsets[:-1]
    within = count_up(length, starts)
    held = ops.lt(ops.unsqueeze(within, 0), ops.unsqueeze(lengths_of(form), 1))
    if rows.shape[0] == 0 or length == 0:
        made = ops.full((batch, length, *rest), padding, dtype=values.dtype, device=values.device)
    else:
        places = ops.clamp(ops.add(ops.unsqueeze(starts, 1), ops.unsqueeze(within, 0)), 0, rows.shape[0] - 1)
        found = ops.reshape(ops.index_select(rows, 0, ops.reshape(places, (-1,))), (batch, length, *rest))
        held = ops.reshape(held, (batch, length) + (1,) * len(rest))
        made = ops.where(held, found, ops.full((), padding, dtype=values.dtype, device=values.device))
    return ops.movedim(made, 1, axis + 1)


def packed(whole, form, rows):
    """Return what stands in a padded tensor at the samples' places, as values of so many rows.

    A tensor of size 1 along the ragged dim gives that to every row.
    """
    axis = form.dim - 1
    moved, owner = ops.movedim(whole, axis + 1, 1), owner_of(form, rows)
    batch, length, *rest = moved.shape
    if length == 1:
        found = ops.index_select(ops.reshape(moved, (batch, *rest)), 0, owner)
    elif batch * length == 0:
        found = ops.zeros((rows, *rest), dtype=whole.dtype, device=whole.device)
    else:
        within = ops.sub(count_up(rows, owner), ops.index_select(form.offsets[:-1], 0, owner))
        flat = ops.reshape(moved, (batch * length, *rest))
        places = ops.add(ops.mul(owner, length), ops.clamp(within, 0, length - 1))
        found = ops.index_select(flat, 0, places)
    return ops.movedim(found, 0, axis)


def from_padded(whole, form, rows):
    """Return a jagged tensor of what stands in a padded one."""
    return make(packed(whole, form, rows), form)


def with_padding(x, padding):
    """Return a jagged tensor as long as its longest sample, where a reduction meets `padding` behind the others."""
    form = form_of(x)
    return padded(values_of(x), form, padding, known_length(x))


def known_length(x):
    """Return the length that samples are padded to: the longest's where that is known, else all that there is."""
    form = form_of(x)
    # PyTorch takes the first size of the values here, which cuts samples off where another dim is ragged.
    return form.extent.get("max_seqlen", values_of(x).shape[form.dim - 1])


@rule("to_padded_tensor", "nested_to_padded_tensor")
def to_padded_tensor(input, padding, output_size=None, out=None):
    """Return one strided tensor of all samples, with a number behind the shorter ones."""
    form = form_of(input)
    if out is not None:
        raise NotImplementedError("to_padded_tensor: got out= for a jagged tensor, expected none")
    if form.lengths is not None:
        raise RuntimeError("to_padded_tensor(): not supported for nested tensors with holes: got lengths beside "
                           "offsets, expected .contiguous() first")
    length = known_length(input) if output_size is None else int(output_size[form.dim])
    return padded(values_of(input), form, padding, length)


def rectangular(x, padding):
    """Return a jagged tensor padded to its longest sample, which is looked for."""
    form = form_of(x)
    return padded(values_of(x), form, padding, longest(form))
