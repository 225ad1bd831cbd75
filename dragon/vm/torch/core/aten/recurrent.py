"""Packed sequences as scripts have them."""
from dragon.vm.torch.core.api import api


def pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length):
    """Return (padded sequences, lengths)."""
    rnn = api().nn.utils.rnn
    return rnn.pad_packed_sequence(rnn.PackedSequence(data, batch_sizes), batch_first, padding_value,
                                   total_length if total_length > 0 else None)
