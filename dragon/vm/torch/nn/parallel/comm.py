"""Tensors from one CUDA device of this process to others, and together again."""
from dragon.core import warnings
from dragon.vm.torch.core.device import as_device, device_count
from dragon.vm.torch.core.tensor import ops


def _require_cuda(who, tensors):
    for tensor in tensors:
        if not tensor.is_cuda:
            raise RuntimeError(f"{who}: expects all inputs to be CUDA tensors: got one on {tensor.device}")


def _only_one(who, devices, out):
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but {who} got devices={devices} and "
                           f"out={out}")


def broadcast(tensor, devices=None, *, out=None):
    """Return copies of a tensor on devices, or write them into tensors; one that is there already is itself."""
    _only_one("broadcast", devices, out)
    if out is not None:
        for each in out:
            each.copy_(tensor)
        return tuple(out)
    return tuple(tensor.to(as_device(device)) for device in devices)


def broadcast_coalesced(tensors, devices, buffer_size=10485760):
    """Return copies of tensors on devices: for each device those of all tensors.

    Parameters
    ----------
    tensors : Sequence[Tensor]
        The tensors, on the first of the devices.
    devices : Iterable[Union[int, device]]
        The devices.
    buffer_size : int, optional
        How many bytes travel at once: those of one dtype are put together up to so many.

    Returns
    -------
    List[Tuple[Tensor, ...]]
        The copies by devices.

    """
    devices = [as_device(device) for device in devices]
    if tensors and any(tensor.device != devices[0] for tensor in tensors):
        raise RuntimeError("all tensors must be on devices[0]: broadcast_coalesced got others, expected them on "
                           f"{devices[0]}")
    made = {device: [None] * len(tensors) for device in devices}
    for places in _bundles(tensors, buffer_size):
        rows = ops.cat([tensors[place].reshape(-1) for place in places], 0)
        for device in devices[1:]:
            parts = ops.split_with_sizes(rows.to(device), [tensors[place].numel() for place in places], 0)
            for place, part in zip(places, parts):
                made[device][place] = part.view(tensors[place].shape)
    return [tuple(tensors) if device == devices[0] else tuple(made[device]) for device in devices]


def _bundles(tensors, limit):
    """Return places of tensors that travel together: those of one dtype, up to so many bytes."""
    bundles, open_ones = [], {}
    for place, tensor in enumerate(tensors):
        held, size = open_ones.get(tensor.dtype, ([], 0))
        if held and size + tensor.numel() * tensor.element_size() > limit:
            bundles.append(held)
            held, size = [], 0
        open_ones[tensor.dtype] = [*held, place], size + tensor.numel() * tensor.element_size()
    return [*bundles, *(held for held, _ in open_ones.values())]


def reduce_add(inputs, destination=None):
    """Return the sum of tensors of several devices, on one of them."""
    _require_cuda("reduce_add", inputs)
    target = inputs[0].device if destination is None else as_device(destination)
    shape = inputs[0].shape
    for place, tensor in enumerate(inputs):
        if tensor.shape != shape:
            raise ValueError(f"input {place} has invalid size: got {'x'.join(map(str, tensor.shape))}, but expected "
                             f"{'x'.join(map(str, shape))}")
    if all(tensor.device != target for tensor in inputs):
        raise RuntimeError("reduce_add expects destination to be on the same GPU with one of the tensors: got "
                           f"{target}, expected one of {[str(tensor.device) for tensor in inputs]}")
    total = None
    for tensor in inputs:
        moved = tensor.to(target)
        total = moved if total is None else total + moved
    return total.clone() if len(inputs) == 1 else total


def reduce_add_coalesced(inputs, destination=None, buffer_size=10485760):
    """Return the sums of tensors of several devices: `inputs` has a list for each device, all of the same shapes."""
    target = inputs[0][0].device if destination is None else as_device(destination)
    made = [None] * len(inputs[0])
    for places in _bundles(inputs[0], buffer_size):
        total = reduce_add([ops.cat([held[place].reshape(-1) for place in places], 0) for held in inputs], target)
        parts = ops.split_with_sizes(total, [inputs[0][place].numel() for place in places], 0)
        for place, part in zip(places, parts):
            made[place] = part.view(inputs[0][place].shape)
    return tuple(made)


def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
    """Return parts of a tensor along an axis on devices, or write them into tensors.

    Parameters
    ----------
    tensor : Tensor
        The tensor, on the host or on a device.
    devices : Iterable[Union[int, device]], optional
        The devices; either they or `out`.
    chunk_sizes : Iterable[int], optional
        How long parts are; as even as can be by default.
    dim : int, optional, default=0
        The axis.
    streams : Iterable[Stream], optional
        On which each part is copied; those that come later wait for them.
    out : Sequence[Tensor], optional
        The places of the parts.

    Returns
    -------
    Tuple[Tensor, ...]
        The parts.

    """
    if out is not None:
        if devices is not None or chunk_sizes is not None:
            raise RuntimeError(f"'devices' and 'chunk_sizes' must not be specified when 'out' is specified, but got "
                               f"devices={devices} and chunk_sizes={chunk_sizes}")
        parts = ops.split_with_sizes(tensor, [each.shape[dim] for each in out], dim)
        for part, each in zip(parts, out):
            each.copy_(part)
        return tuple(out)
    devices = [as_device(device) for device in (range(device_count("cuda")) if devices is None else devices)]
    if not devices:
        raise RuntimeError("Expected at least one device to scatter to")
    if chunk_sizes is None:
        parts = ops.chunk(tensor, len(devices), dim)
    else:
        parts = ops.split_with_sizes(tensor, [int(size) for size in chunk_sizes], dim)
        if len(parts) != len(devices):
            raise RuntimeError(f"Expected devices and chunk_sizes to be of same length, but got {len(devices)} and "
                               f"{len(parts)}")
    streams = [None] * len(devices) if streams is None else list(streams)
    return tuple(_on_stream(part, device, stream) for part, device, stream in zip(parts, devices, streams))


def _on_stream(part, device, stream):
    if stream is None or device.type != "cuda":
        return part.contiguous().to(device)
    from dragon.vm.torch import cuda
    current = cuda.current_stream(device)
    stream.wait_stream(current)
    with cuda.stream(stream):
        moved = part.contiguous().to(device)
    current.wait_stream(stream)
    moved.record_stream(current)
    return moved


def gather(tensors, dim=0, destination=None, *, out=None):
    """Return tensors of several devices one after the other along an axis, on one device.

    Parameters
    ----------
    tensors : Sequence[Tensor]
        The tensors.
    dim : int, optional, default=0
        The axis.
    destination : Union[int, str, device], optional
        The device; the current one of CUDA by default, and the host for -1.
    out : Tensor, optional
        The place of the result.

    Returns
    -------
    Tensor
        The result.

    """
    _require_cuda("gather", tensors)
    if out is not None:
        if destination is not None:
            raise RuntimeError(f"'destination' must not be specified when 'out' is specified, but got "
                               f"destination={destination}")
        return out.copy_(ops.cat([tensor.to(out.device) for tensor in tensors], dim))
    if destination == -1:
        warnings.warn("Using -1 to represent CPU tensor is deprecated. Please use a device object or string instead, "
                      'e.g., "cpu".', FutureWarning)
        destination = "cpu"
    target = as_device("cuda" if destination is None else destination)
    return ops.cat([tensor.to(target) for tensor in tensors], dim)
