"""Batches in page-locked memory, for devices that copy from it; without a device nothing calls this."""
from collections.abc import Mapping, Sequence

from dragon.vm.torch.utils.data._utils.structure import is_namedtuple, map_mapping, rebuild_sequence


def pin_memory(data, device=None):
    """Return data with every part that has a method `pin_memory` pinned."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return map_mapping(lambda part: pin_memory(part, device), data)
    if isinstance(data, tuple):
        parts = [pin_memory(part, device) for part in data]
        return type(data)(*parts) if is_namedtuple(data) else type(data)(parts)
    if isinstance(data, Sequence):
        return rebuild_sequence(data, [pin_memory(part, device) for part in data])
    return data
