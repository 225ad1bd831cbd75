"""Modules with parameters on a mesh within `DistributedDataParallel`, which sees this process's parts of them."""
from dragon.vm.torch.distributed.tensor._api import DTensor
from dragon.vm.torch.nn.parameter import Parameter


def _shown(module, specs):
    """Have a module see its parameters on the mesh; return what it saw before of those that it did not see so."""
    found = {}
    for name, spec in specs.items():
        param = module._parameters.get(name)
        if param is not None and not isinstance(param, DTensor):
            found[name] = param
            module._parameters[name] = DTensor.from_local(param, spec.mesh, spec.placements, shape=spec.shape,
                                                          stride=spec.stride)
    return found


class _View:
    """The parameters of a module as it sees them, within its forward passes.

    Parameters
    ----------
    owners : List[Tuple[Module, Dict[str, DTensorSpec]]]
        The modules that have such parameters, and how these lie.

    """

    def __init__(self, owners):
        self._owners, self._open = owners, []

    def enter(self, *_):
        """Begin a forward pass."""
        self._open.append([(module, _shown(module, specs)) for module, specs in self._owners])

    def leave(self, *_):
        """End a forward pass: modules see again what they saw before."""
        for module, found in self._open.pop() if self._open else ():
            module._parameters.update(found)

    def watch(self, module):
        """Do so whenever a module is called."""
        module.register_forward_pre_hook(self.enter)
        module.register_forward_hook(self.leave, always_call=True)


def _pre_dp_module_transform(module):
    """Have a module list this process's parts of its parameters on a mesh, and compute with these as they were.

    Parameters
    ----------
    module : Module
        The module; `DistributedDataParallel` averages gradients of parts over another axis of the mesh.

    """
    parts, owners = {}, []
    for each in module.modules():
        specs = {name: param._spec for name, param in each._parameters.items() if isinstance(param, DTensor)}
        for name in specs:
            param = each._parameters[name]
            if id(param) not in parts:
                parts[id(param)] = param, Parameter(param._local_tensor.detach(), param.requires_grad)
            each._parameters[name] = parts[id(param)][1]
        if specs:
            owners.append((each, specs))
    if not owners:
        return
    _View(owners).watch(module)
    for owner in owners:
        if owner[0] is not module:
            _View([owner]).watch(owner[0])  # what is computed again in a backward pass calls it alone
