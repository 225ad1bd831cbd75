"""The compiled functions of layers that libraries take from PyTorch."""
from dragon.vm.torch._api import functions_at
from dragon.vm.torch.core.functions.conversion import parse_to
from dragon.vm.torch.core.tensor import ops

globals().update((*functions_at("_nn", ops), *functions_at("_nn_", ops)))


def flatten_dense_tensors(tensors):
    """Return all elements of tensors, one after the other."""
    return ops.cat([ops.reshape(x, (-1,)) for x in tensors])


def unflatten_dense_tensors(flat, tensors):
    """Return the pieces of a flat tensor in the shapes of others."""
    parts = ops.split_with_sizes(flat, [x.numel() for x in tensors])
    return tuple(ops.view(part, x.shape) for part, x in zip(parts, tensors))


def _parse_to(*args, **kwargs):
    """Return (device, dtype, non_blocking, memory_format) from the arguments of `Module.to`."""
    kwargs = dict(kwargs)
    where, dtype, _, memory_format = parse_to(args, kwargs)
    return where, dtype, bool(kwargs.get("non_blocking", False)), memory_format


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Return sequences as one tensor, padded to the longest; as `torch.nn.utils.rnn.pad_sequence`."""
    from dragon.vm.torch.nn.utils.rnn import pad_sequence as pad
    return pad(sequences, batch_first, padding_value, padding_side)
