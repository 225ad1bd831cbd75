"""The module that PyTorch keeps `Tensor` in, for those who import it from there, and for files that name it."""
from dragon.vm.torch._utils import _as_class
from dragon.vm.torch.core.state import _set_obj_state
from dragon.vm.torch.core.tensor import Tensor


def _rebuild_from_type(func, type, args, dict):
    """Return a tensor of a subclass, with attributes; files of 2021 name this."""
    return _rebuild_from_type_v2(func, type, args, dict)


def _rebuild_from_type_v2(func, new_type, args, state):
    """Return a tensor of a subclass, with attributes, from what makes the plain one."""
    made = func(*args)
    if type(made) is not new_type:
        made = _as_class(made, new_type)
    if getattr(made.__class__, "__setstate__", Tensor.__setstate__) is not Tensor.__setstate__:
        made.__setstate__(state)
        return made
    return _set_obj_state(made, state)
