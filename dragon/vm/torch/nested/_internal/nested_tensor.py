"""The class of jagged tensors, and functions that libraries take from here."""
from dragon.vm.guest import lookup
from dragon.vm.torch.core.nested.making import jagged_of, nested_tensor_from_jagged
from dragon.vm.torch.core.nested.padding import from_padded
from dragon.vm.torch.core.nested.parts import new_form

__getattr__, __dir__ = lookup(globals(), {
    "core.nested.rebuilding": "_rebuild_njt", "core.nested.parts": "NestedTensor"})


def jagged_from_list(tensors, offsets, dtype=None, device=None):
    """Return a jagged tensor of a list, and its offsets."""
    made = jagged_of("jagged_from_list", list(tensors), dtype, device)
    if offsets is not None:
        made = nested_view_from_values_offsets(made.values(), offsets, made._ragged_idx)
    return made, made.offsets()


def nested_view_from_values_offsets(values, offsets, ragged_idx=1, min_seqlen=None, max_seqlen=None):
    """Return a jagged tensor of values and offsets."""
    return nested_tensor_from_jagged(values, offsets, None, ragged_idx, min_seqlen, max_seqlen)


def nested_view_from_values_offsets_lengths(values, offsets, lengths, ragged_idx=1, min_seqlen=None, max_seqlen=None):
    """Return a jagged tensor of values, offsets and lengths."""
    return nested_tensor_from_jagged(values, offsets, lengths, ragged_idx, min_seqlen, max_seqlen)


def nested_from_padded(padded, offsets, ragged_idx=1, min_seqlen=None, max_seqlen=None, sum_S=None):
    """Return a jagged tensor of what stands in a padded one at the samples' places."""
    rows = int(offsets[-1]) if sum_S is None else sum_S
    return from_padded(padded, new_form(offsets, None, ragged_idx, min_seqlen, max_seqlen), rows)


def buffer_from_jagged(jagged):
    """Return the values of a jagged tensor, with their history."""
    return jagged.values()
