"""How a module is made ready to be spread: groups, wrapped parts, parameters that are only shapes."""
from dragon.core import accelerator, warnings
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.device import device as Device
from dragon.vm.torch.distributed import collectives
from dragon.vm.torch.distributed.fsdp.api import ShardingStrategy
from dragon.vm.torch.distributed.making import _group, new_subgroups, new_subgroups_by_enumeration, get_world_size

HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)


def find_groups(given, mesh, strategy):
    """Return (the processes that have parts, those that have copies of this one's; None for nobody).

    Parameters
    ----------
    given : Union[ProcessGroup, Tuple[ProcessGroup, ProcessGroup]], optional
        What was given for them.
    mesh : DeviceMesh, optional
        A mesh of one axis, or of copies and parts.
    strategy : ShardingStrategy
        What is spread.

    Returns
    -------
    Tuple[ProcessGroup, Optional[ProcessGroup]]
        The groups.

    """
    if mesh is not None and given is not None:
        raise ValueError("Cannot pass both process_group and device_mesh at the same time. Please just pass only one "
                         "of them.")
    if mesh is not None:
        if strategy in HYBRID:
            if mesh.ndim != 2:
                raise ValueError(f"FullyShardedDataParallel: got a mesh of {mesh.ndim} axes and {strategy}, expected "
                                 "2: copies, and parts")
            return mesh.get_group(1), mesh.get_group(0)
        if mesh.ndim != 1:
            raise ValueError(f"FullyShardedDataParallel: got a mesh of {mesh.ndim} axes and {strategy}, expected 1")
        return mesh.get_group(0), None
    if strategy not in HYBRID:
        return _group(given), None
    if given is None:
        return _halves()
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return tuple(given)
    raise ValueError("Expected process_group to be passed in as either None or Tuple[dist.ProcessGroup, "
                     f"dist.ProcessGroup] but got {type(given)}")


def _halves():
    """Return groups of the processes of one machine, and of those that have the same place in each."""
    mine, groups = new_subgroups()
    size, count = mine.size(), get_world_size()
    across, _ = new_subgroups_by_enumeration([list(range(place, count, size)) for place in range(size)])
    return mine, across


def find_device(module, given):
    """Return the device on which a module computes, to which its parameters and buffers are moved.

    Parameters
    ----------
    module : Module
        The module.
    given : Union[int, str, device], optional
        The device; the first parameter's by default.

    Returns
    -------
    device
        The device.

    """
    first = next((param for param in module.parameters() if not param.is_meta), None)
    if given is None:
        return Device("cpu") if first is None else first.device
    device = as_device(given)
    if device.type != "cpu" and device.index is None:
        device = Device(device.type, accelerator.cuda_index())
    if first is not None and first.device != device:
        if first.device.type != "cpu":
            raise ValueError(f"Inconsistent compute device and `device_id`: FullyShardedDataParallel got device_id="
                             f"{given!r} and parameters on {first.device}, expected one device")
        for param in (*module.parameters(), *module.buffers()):
            if not param.is_meta:
                param.data = param.data.to(device)
    return device


def materialize(modules, ignored, make, device):
    """Give parameters that are only shapes their memory and first values.

    Parameters
    ----------
    modules : Iterable[Module]
        The modules.
    ignored : Set[Parameter]
        Parameters that are left as they are.
    make : Callable[[Module], Any], optional
        What makes a module's own; by default `reset_parameters`.

    """
    for module in modules:
        held = [each for each in (*module._parameters.values(), *module._buffers.values())
                if each is not None and each.is_meta and each not in ignored]
        if not held:
            continue
        if make is not None:
            make(module)
            continue
        module.to_empty(device=device, recurse=False)
        if not hasattr(module, "reset_parameters"):
            raise RuntimeError(f"Unable to call `reset_parameters()` for module on meta device with error: "
                               f"{type(module).__name__} has none. Please ensure that your module of type "
                               f"{type(module)} implements a `reset_parameters()` method.")
        module.reset_parameters()


def share_states(params, buffers, groups):
    """Give all processes the parameters and buffers of the first one."""
    for group in groups:
        if group is not None:
            for tensor in (*params, *buffers):
                collectives.broadcast(tensor.detach(), group=group, group_src=0)


def checked_strategy(strategy, group):
    """Return a strategy, that of no parts for a process that is alone."""
    strategy = ShardingStrategy.FULL_SHARD if strategy is None else strategy
    if group.size() == 1 and strategy not in (ShardingStrategy.NO_SHARD, *HYBRID):
        warnings.warn("FSDP is switching to use `NO_SHARD` instead of " f"{strategy} since the world size is 1.")
        return ShardingStrategy.NO_SHARD
    return strategy
