"""Sequences of different lengths, packed and padded, in the words of scripts."""
from typing import Optional, Tuple

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.nn.utils.rnn import PackedSequence


def invert_permutation(permutation: Optional[Tensor]) -> Optional[Tensor]:
    """Return the permutation that undoes one."""
    return None if permutation is None else torch.argsort(permutation)


def permuted(state: Tensor, order: Optional[Tensor]) -> Tensor:
    """Return a state with the batch in another order."""
    return state if order is None else state.index_select(1, order)


def pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """Return padded sequences step by step."""
    order: Optional[Tensor] = None
    if not enforce_sorted:
        lengths, found = torch.sort(lengths, -1, True)
        order = found.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = torch.ops.aten._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order, invert_permutation(order))


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    """Return (padded sequences, lengths)."""
    steps = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < steps:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but "
                             "got total_length=" + str(total_length))
        steps = total_length
    padded, lengths = torch.ops.aten._pad_packed_sequence(sequence.data, sequence.batch_sizes, batch_first,
                                                          padding_value, steps)
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths.index_select(0, order.cpu())
    return padded, lengths
