"""What programs take from the inside of PyTorch's file of groups."""
from dragon.vm.torch.distributed.collectives import object_device
from dragon.vm.torch.distributed.constants import default_pg_nccl_timeout, default_pg_timeout
from dragon.vm.torch.distributed.groups import Backend, _pg_map
from dragon.vm.torch.distributed.making import _check_timeout, _group, _rank_not_in_group
from dragon.vm.torch.distributed.objects import _count, _to_object, _to_tensor


def _get_default_store():
    """Return the store at which all processes met."""
    return _pg_map[_group()][1]


def _get_default_timeout(backend):
    """Return how long groups of a backend wait by default, as datetime.timedelta."""
    return default_pg_nccl_timeout if backend == Backend.NCCL else default_pg_timeout


def _set_pg_timeout(timeout, group=None):
    """Set how long a group's members wait for others, as datetime.timedelta, where nobody says otherwise."""
    if timeout is None:
        raise TypeError("_set_pg_timeout: got None, expected the time to wait, as datetime.timedelta")
    _check_timeout(timeout)
    if group is not None and _rank_not_in_group(group):
        raise ValueError("Invalid process group specified")
    _group(group)._core.set_timeout(timeout.total_seconds())


def _get_process_group_name(pg):
    """Return a group's name."""
    return pg.group_name


def _get_process_group_store(pg):
    """Return the store at which a group's members met."""
    return _pg_map[pg][1]


def _get_group_size(group):
    """Return how many members a group has."""
    return _group(group).size()


def _get_object_coll_device(group=None):
    """Return the kind of device of tensors that stand for objects."""
    return object_device(_group(group)).partition(":")[0]


def _object_to_tensor(obj, device, group):
    """Return an object as bytes, a tensor of uint8, and how many there are as another one."""
    made = _to_tensor(obj, device)
    return made, _count(device, len(made))


def _tensor_to_object(tensor, tensor_size, group):
    """Return the object of so many bytes of a tensor."""
    return _to_object(tensor, int(tensor_size))
