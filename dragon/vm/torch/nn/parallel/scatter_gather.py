"""Share nested tensors out over devices, and bring them together."""
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.tensor import Tensor, ops


def is_namedtuple(obj):
    """Return whether an object is a named tuple."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def _rebuild(like, parts):
    """Return a list or tuple of a kind."""
    return type(like)(*parts) if is_namedtuple(like) else type(like)(parts)


def scatter(inputs, target_gpus, dim=0):
    """Return a part of the inputs for each device: tensors are cut along an axis, other things are the same for all."""
    devices = [as_device(device) for device in target_gpus]
    if isinstance(inputs, Tensor):
        return tuple(part.to(device) for part, device in zip(ops.chunk(inputs, len(devices), dim), devices))
    if isinstance(inputs, (list, tuple)) and inputs:
        return [_rebuild(inputs, parts) for parts in zip(*(scatter(item, devices, dim) for item in inputs))]
    if isinstance(inputs, dict) and inputs:
        return [type(inputs)(zip(inputs, parts))
                for parts in zip(*(scatter(item, devices, dim) for item in inputs.values()))]
    return [inputs for _ in devices]


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """Return parts of positional and of keyword arguments, as many of both."""
    parts = scatter(inputs, target_gpus, dim) if inputs else []
    keyword_parts = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(parts), len(keyword_parts), 0 if parts or keyword_parts else 1)
    return (tuple(parts) + ((),) * (count - len(parts)), tuple(keyword_parts) + ({},) * (count - len(keyword_parts)))


def gather(outputs, target_device, dim=0):
    """Return the results of all devices as one, on one device."""
    device = as_device(target_device)
    first = outputs[0]
    if isinstance(first, Tensor):
        parts = [ops.unsqueeze(part, 0) if part.dim() == 0 else part for part in outputs]
        return ops.cat([part.to(device) for part in parts], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(part) != len(first) for part in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([part[key] for part in outputs], device, dim)) for key in first)
    if not isinstance(first, (list, tuple)):
        raise TypeError(f"gather: got {type(first).__name__}, expected tensors, or lists, tuples or dictionaries")
    return _rebuild(first, [gather(parts, device, dim) for parts in zip(*outputs)])
