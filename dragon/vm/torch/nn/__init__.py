"""`torch.nn`: layers, what they compute, and what goes with them."""
from dragon.vm.torch.nn import functional
from dragon.vm.torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from dragon.vm.torch.nn import init, modules, parameter
from dragon.vm.torch.nn.modules import Module
from dragon.vm.torch.nn.parallel import DataParallel

# Every layer that the families' face shows.
globals().update((_name, _layer) for _name, _layer in vars(modules).items() if isinstance(_layer, type))


def factory_kwargs(kwargs):
    """Return the keyword arguments with which a layer makes its tensors, from those that it was given itself."""
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    if not kwargs.keys() <= simple | {"factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - simple - {'factory_kwargs'}}")
    made = dict(kwargs.get("factory_kwargs", {}))
    for name in simple & kwargs.keys():
        if name in made:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        made[name] = kwargs[name]
    return made
