"""Parts of modules by dotted names."""
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parameter import Parameter


def _owner(module, path, make=False):
    """Return (module that has the last word of a dotted name, that word), None where there is none."""
    *words, last = path.split(".")
    for word in words:
        found = getattr(module, word, None)
        if found is None and make:
            found = Module()
            setattr(module, word, found)
        if found is None:
            return None, last
        module = found
    return module, last


def _copy_attr(from_module, to_module, target):
    """Give one module what another has under a dotted name."""
    source = _get_attr_via_attr_list(from_module, target.split(".")[:-1])
    holder, name = _owner(to_module, target, make=True)
    value = getattr(source, name)
    if holder is not source or not hasattr(holder, name):
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            holder.register_buffer(name, value, persistent=name not in getattr(
                source, "_non_persistent_buffers_set", ()))
        else:
            setattr(holder, name, value)


def _assign_attr(from_obj, to_module, target):
    """Give a module a thing under a dotted name."""
    holder, name = _owner(to_module, target, make=True)
    if isinstance(from_obj, Tensor) and not isinstance(from_obj, Parameter):
        holder.register_buffer(name, from_obj)
    else:
        setattr(holder, name, from_obj)


def _get_attr(model, attr_name):
    return _get_attr_via_attr_list(model, attr_name.split("."))


def _get_attr_via_attr_list(model, attr_list):
    for word in attr_list:
        model = getattr(model, word)
    return model


def _has_attr(model, attr_name):
    holder, name = _owner(model, attr_name)
    return holder is not None and hasattr(holder, name)


def _del_attr(model, attr_name):
    holder, name = _owner(model, attr_name)
    return holder is not None and delattr(holder, name) is None
