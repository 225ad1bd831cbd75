"""States that one process has and all get, or that all have and one keeps."""
from collections.abc import Mapping
from dataclasses import dataclass

from dragon.vm import torch
from dragon.vm.torch import distributed as dist


@dataclass
class _Place:
    """Where a tensor belongs in a state that is on its way."""

    shape: tuple
    dtype: torch.dtype


def _without_tensors(value, found):
    """Return a state with places instead of tensors, which are put into a list."""
    if isinstance(value, torch.Tensor):
        found.append(value.detach().cpu().contiguous())
        return _Place(tuple(value.shape), value.dtype)
    if isinstance(value, Mapping):
        return {key: _without_tensors(inner, found) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_without_tensors(inner, found) for inner in value)
    return value


def _with_tensors(value, receive):
    """Return a state with tensors at their places, in the order in which they were found."""
    if isinstance(value, _Place):
        return receive(value)
    if isinstance(value, dict):
        return {key: _with_tensors(inner, receive) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_with_tensors(inner, receive) for inner in value)
    return value


def of_first(state):
    """Return the state that the first process has: all call this."""
    if not dist.is_initialized() or dist.get_world_size() == 1:
        return state
    tensors = []
    made = [_without_tensors(state, tensors) if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(made, 0)
    if dist.get_rank() == 0:
        for tensor in tensors:
            dist.broadcast(tensor, 0)
        return state

    def receive(place):
        tensor = torch.empty(place.shape, dtype=place.dtype)
        dist.broadcast(tensor, 0)
        return tensor
    return _with_tensors(made[0], receive)


def is_left_out(options):
    """Return whether this process gets no state: whole states that go to the CPU go to that of the first one."""
    return options.full_state_dict and options.cpu_offload and dist.is_initialized() and dist.get_rank() != 0
