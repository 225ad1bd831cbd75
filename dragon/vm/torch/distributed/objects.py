"""Objects of Python from process to process, pickled."""
import pickle

from dragon import _C
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed import collectives, messages
from dragon.vm.torch.distributed.collectives import _member, _root, object_device
from dragon.vm.torch.distributed.making import get_global_rank


def _to_tensor(value, device):
    """Return an object as a tensor of bytes."""
    import numpy
    return _C.from_buffer(numpy.frombuffer(pickle.dumps(value), numpy.uint8).copy(), Tensor).to(device)


def _to_object(tensor, size):
    return pickle.loads(tensor[:size].cpu().numpy().tobytes())


def _count(device, *numbers):
    return _C.tensor(list(numbers), "int64", device, Tensor)


def _bytes(size, device):
    return ops.empty((size,), dtype=OBJECTS["uint8"], device=device)


def _padded(tensor, size):
    made = _bytes(size, tensor.device)
    made[:len(tensor)] = tensor
    return made


def _sizes(tensor, group):
    """Return how many bytes each rank has."""
    return ops.all_gather(_count(tensor.device, len(tensor)), group._core.number).tolist()


def _require_list(who, name, objects, count):
    """Raise for what is no list of a length."""
    if not isinstance(objects, list) or len(objects) != count:
        got = f"a list of {len(objects)}" if isinstance(objects, list) else type(objects).__name__
        raise ValueError(f"{who}: got {got} as {name}, expected a list of {count}, one for each process")


def all_gather_object(object_list, obj, group=None):
    """Fill a list with the objects of all processes."""
    if (group := _member(group, "all_gather_object")) is None:
        return
    _require_list("all_gather_object", "object_list", object_list, group.size())
    mine = _to_tensor(obj, object_device(group))
    sizes = _sizes(mine, group)
    parts = [_bytes(max(sizes), mine.device) for _ in sizes]
    collectives.all_gather(parts, _padded(mine, max(sizes)), group)
    for rank, (part, size) in enumerate(zip(parts, sizes)):
        object_list[rank] = _to_object(part, size)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """Fill a list of one process with the objects of all."""
    if (group := _member(group, "gather_object")) is None:
        return
    root = _root(group, dst, group_dst, "dst")
    is_root = group.rank() == root
    if is_root and object_gather_list is None:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    if not is_root and object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must NOT be specified on non-destination ranks.")
    if is_root:
        _require_list("gather_object", "object_gather_list", object_gather_list, group.size())
    mine = _to_tensor(obj, object_device(group))
    sizes = _sizes(mine, group)
    parts = [_bytes(max(sizes), mine.device) for _ in sizes] if is_root else None
    collectives.gather(_padded(mine, max(sizes)), parts, group=group, group_dst=root)
    for rank, (part, size) in enumerate(zip(parts or (), sizes)):
        object_gather_list[rank] = _to_object(part, size)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Give all processes the objects of one."""
    if (group := _member(group, "broadcast_object_list")) is None:
        return
    root = _root(group, src, group_src, "src")
    is_root = group.rank() == root
    device = object_device(group) if device is None else device
    made = [_to_tensor(value, device) for value in object_list] if is_root else []
    sizes = _count(device, *map(len, made)) if is_root else _count(device, *[0] * len(object_list))
    collectives.broadcast(sizes, group=group, group_src=root)
    sizes = sizes.tolist()
    held = ops.cat(made, 0) if is_root and made else _bytes(sum(sizes), device)
    collectives.broadcast(held, group=group, group_src=root)
    if is_root:
        return
    at = 0
    for place, size in enumerate(sizes):
        object_list[place] = _to_object(held[at:], size)
        at += size


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None,
                        group_src=None):
    """Give each process one object of a list."""
    if (group := _member(group, "scatter_object_list")) is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root = _root(group, src, group_src, "src")
    is_root = group.rank() == root
    if is_root:
        _require_list("scatter_object_list", "scatter_object_input_list", scatter_object_input_list, group.size())
    device = object_device(group)
    made = [_to_tensor(value, device) for value in scatter_object_input_list] if is_root else []
    most = _count(device, max(map(len, made)) if is_root else 0)
    collectives.broadcast(most, group=group, group_src=root)
    most = most.item()
    mine, size = _bytes(most, device), _count(device, 0)
    collectives.scatter(mine, [_padded(each, most) for each in made] if is_root else None, group=group, group_src=root)
    lengths = [_count(device, len(each)) for each in made] if is_root else None
    collectives.scatter(size, lengths, group=group, group_src=root)
    scatter_object_output_list[0] = _to_object(mine, size.item())


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False):
    """Send objects to a process."""
    if (group := _member(group, "send_object_list")) is None:
        return
    device = object_device(group) if device is None else device
    made = [_to_tensor(value, device) for value in object_list]
    target = {"group_dst": group_dst} if dst is None else {"dst": dst}
    messages.send(_count(device, *map(len, made)), group=group, **target)
    messages.send(ops.cat(made, 0), group=group, **target)


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False):
    """Receive objects of a process; return whose they were."""
    if (group := _member(group, "recv_object_list")) is None:
        return -1
    device = object_device(group) if device is None else device
    sizes = _count(device, *[0] * len(object_list))
    source = {"group_src": group_src} if group_src is not None else {"src": src} if src is not None else {}
    work = messages.irecv(sizes, group=group, **source)
    work.wait()
    peer = work._message.rank
    sizes = sizes.tolist()
    held = _bytes(sum(sizes), device)
    messages.recv(held, group=group, group_src=peer)
    at = 0
    for place, size in enumerate(sizes):
        object_list[place] = _to_object(held[at:], size)
        at += size
    return get_global_rank(group, peer)
