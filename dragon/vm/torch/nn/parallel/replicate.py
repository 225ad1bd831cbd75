"""Copies of a module on several devices, whose gradients come back to the module."""
from dragon.vm.torch.core.device import as_device


def replicate(network, devices, detach=False):
    """Return a copy of a module for each device; its tensors are the module's, moved.

    Parameters
    ----------
    network : Module
        The module.
    devices : Sequence[Union[int, device]]
        The devices.
    detach : bool, optional, default=False
        Let no gradients come back.

    Returns
    -------
    List[Module]
        The copies.

    """
    return [_copy(network, as_device(device), detach, {}, {}) for device in devices]


def _copy(module, device, detach, modules, tensors):
    """Return a copy of a module, each module and tensor copied once."""
    if module in modules:
        return modules[module]
    replica = modules[module] = module._replicate_for_data_parallel()

    def moved(tensor):
        if tensor is not None and id(tensor) not in tensors:
            tensors[id(tensor)] = (tensor.detach() if detach else tensor).to(device)
        return None if tensor is None else tensors[id(tensor)]
    for name, param in module._parameters.items():
        # Copies are no parameters: they have a history.
        if param is None:
            replica._parameters[name] = None
        else:
            object.__setattr__(replica, name, moved(param))
    replica._buffers = {name: moved(buffer) for name, buffer in module._buffers.items()}
    replica._modules = {name: None if child is None else _copy(child, device, detach, modules, tensors)
                        for name, child in module._modules.items()}
    return replica
