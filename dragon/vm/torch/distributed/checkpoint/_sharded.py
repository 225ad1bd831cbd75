"""Tensors over a mesh in checkpoints: which part of the whole a process has, and wholes of parts."""
from collections.abc import Mapping

from dragon.vm import torch
from dragon.vm.torch.distributed.checkpoint.metadata import ChunkStorageMetadata


def is_sharded(value):
    """Return whether a value is a tensor over a mesh."""
    return isinstance(value, torch.Tensor) and hasattr(value, "device_mesh") and hasattr(value, "placements")


def chunk_of(tensor):
    """Return the part of the whole that this process has."""
    from dragon.vm.torch.distributed.tensor._utils import compute_local_shape_and_global_offset
    if any(placement.is_partial() for placement in tensor.placements):
        raise ValueError(f"got a tensor with the placements {tensor.placements}, expected shards and copies: parts "
                         "that are still to be summed are no tensor yet; redistribute it")
    sizes, offsets = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
    return ChunkStorageMetadata(torch.Size(offsets), torch.Size(sizes))


def local_of(tensor):
    """Return this process's part, in the tensor's own memory."""
    with torch.no_grad():
        return tensor.to_local().detach()


def whole(state):
    """Return a state with whole tensors in place of those over a mesh, whose processes all call this."""
    if is_sharded(state):
        return state.detach().full_tensor()
    if isinstance(state, Mapping):
        return {key: whole(value) for key, value in state.items()}
    return type(state)(map(whole, state)) if type(state) in (list, tuple) else state


def shared_out(value, like):
    """Return a whole tensor over the mesh of another, if that has one and the same shape."""
    if not is_sharded(like) or is_sharded(value) or not isinstance(value, torch.Tensor) or value.shape != like.shape:
        return value
    from dragon.vm.torch.distributed.tensor import distribute_tensor
    return distribute_tensor(value.detach(), like.device_mesh, like.placements)
