"""The state that a module saves and loads: `state_dict` and `load_state_dict`."""
from collections import OrderedDict, namedtuple

from dragon.core import warnings
from dragon.core.interrupts import is_interrupt
from dragon.core.module import Module as AnyModule
from dragon.core.module import copy_into, save_foreign
from dragon.core.modes import no_grad
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.nn.parameter import Parameter, is_lazy

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The keys that a `state_dict` lacked or had too many."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateOfModule(AnyModule):
    """The part of Module that saves and loads."""

    def get_extra_state(self):
        """Return what else belongs into the `state_dict`; for subclasses to define."""
        raise RuntimeError("Module.get_extra_state: got a call, expected a class that defines it")

    def set_extra_state(self, state):
        """Take what `get_extra_state` returned; for subclasses to define."""
        raise RuntimeError("Module.set_extra_state: got a call, expected a class that defines it")

    def _has_extra(self, name):
        return getattr(type(self), name) is not getattr(StateOfModule, name)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Enter this module's own parameters and buffers."""
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buffer if keep_vars else buffer.detach()
        if self._has_extra("get_extra_state"):
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Return the parameters and persistent buffers by their names.

        Parameters
        ----------
        *args : Any
            Of old: the next three by place.
        destination : dict, optional
            Where to put them; a new OrderedDict by default.
        prefix : str, optional, default=""
            What stands before each name.
        keep_vars : bool, optional, default=False
            Return the parameters themselves, not detached.

        Returns
        -------
        OrderedDict
            Names and tensors; its `_metadata` holds the versions of the modules.

        Examples
        --------
        >>> list(nn.BatchNorm1d(2).state_dict())
        ['weight', 'bias', 'running_mean', 'running_var', 'num_batches_tracked']

        """
        if args:
            warnings.warn("state_dict: got positional arguments, expected keyword arguments", FutureWarning)
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None and not isinstance(module, StateOfModule):
                save_foreign(self, module, destination, f"{prefix}{name}.", keep_vars)
            elif module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            answer = hook(self, destination, prefix, metadata)
            if not getattr(hook, "_from_public_api", False):
                destination = destination if answer is None else answer
            elif answer is not None:
                raise RuntimeError("state_dict: a post-hook returned a value, expected None")
        return destination

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        """Load this module's own parameters and buffers; report into the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        buffers = {name: value for name, value in self._buffers.items() if name not in self._non_persistent_buffers_set}
        mine = {name: value for name, value in {**self._parameters, **buffers}.items() if value is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, param in mine.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, param, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA_STATE
        if self._has_extra("set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, *rest = key[len(prefix):].split(".", 1)
                    if first not in (self._modules if rest else mine):
                        unexpected_keys.append(key)

    def _load_one(self, name, param, key, value, assign, error_msgs):
        """Copy or assign one tensor."""
        if not isinstance(value, Tensor):
            error_msgs.append(f'While copying the parameter named "{key}": got {type(value)}, expected a torch.Tensor')
            return
        if not is_lazy(param):
            # Old files hold scalars as tensors of one element.
            if param.ndim == 0 and value.ndim == 1:
                value = value[0]
            if tuple(value.shape) != tuple(param.shape):
                error_msgs.append(f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                                  f"the shape in current model is {param.shape}.")
                return
            if param.device.type == "meta" and value.device.type != "meta" and not assign:
                warnings.warn(f"for {key}: copying from a non-meta parameter to a meta parameter does nothing; pass "
                              "assign=True to put the tensor in its place")
        try:
            with no_grad():
                if assign:
                    if isinstance(param, Parameter):
                        if isinstance(value, Parameter):
                            value.requires_grad_(param.requires_grad)
                        else:
                            value = Parameter(value, requires_grad=param.requires_grad)
                    setattr(self, name, value)
                else:
                    param.copy_(value)
        except Exception as error:
            if is_interrupt(error):
                raise
            error_msgs.append(f'While copying the parameter named "{key}", whose dimensions in the model are '
                              f"{param.size()} and in the checkpoint {value.size()}: {error}.")

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Load parameters and buffers by their names.

        Parameters
        ----------
        state_dict : dict
            Names and tensors, as `state_dict` returns them.
        strict : bool, optional, default=True
            Whether missing and unexpected names are errors.
        assign : bool, optional, default=False
            Put the given tensors in the place of the module's instead of copying their values.

        Returns
        -------
        NamedTuple
            The lists `missing_keys` and `unexpected_keys`.

        Examples
        --------
        >>> one, other = nn.Linear(3, 2), nn.Linear(3, 2)
        >>> one.load_state_dict(other.state_dict())
        <All keys matched successfully>

        """
        if not hasattr(state_dict, "keys") or not hasattr(state_dict, "__getitem__"):
            raise TypeError(f"load_state_dict: Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        report = _IncompatibleKeys(missing, unexpected)
        _load(self, state_dict, "", metadata or {}, assign, report, errors)
        if strict:
            for word, keys in (("Unexpected", unexpected), ("Missing", missing)):
                if keys:
                    listed = ", ".join(f'"{key}"' for key in keys)
                    errors.insert(0, f"{word} key(s) in state_dict: {listed}. ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return report


def _load_foreign(module, state_dict, prefix, report, errors):
    """Copy into another face's module's own tensors; report as its PyTorch neighbours do."""
    own = {}
    module._save_to_state_dict(own, prefix, True)
    for name, tensor in own.items():
        if name not in state_dict:
            report.missing_keys.append(name)
        elif tuple(state_dict[name].shape) != tuple(tensor.shape):
            errors.append(f"size mismatch for {name}: copying a param with shape {tuple(state_dict[name].shape)} from "
                          f"checkpoint, the shape in current model is {tuple(tensor.shape)}.")
        else:
            copy_into(tensor, state_dict[name])
    for name in state_dict:
        if name.startswith(prefix) and name not in own and name[len(prefix):].split(".")[0] not in module._modules:
            report.unexpected_keys.append(name)


def _load(module, state_dict, prefix, metadata, assign, report, errors):
    """Load a module and those below it."""
    local = metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = True
    foreign = not isinstance(module, StateOfModule)
    if foreign:
        _load_foreign(module, state_dict, prefix, report, errors)
    else:
        module._load_from_state_dict(state_dict, prefix, local, True, *report, errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {key: value for key, value in state_dict.items() if key.startswith(below)}
            _load(child, part, below, metadata, assign, report, errors)
    for hook in () if foreign else module._load_state_dict_post_hooks.values():
        if hook(module, report) is not None:
            raise AssertionError("load_state_dict: a post-hook returned a value, expected keys changed in place")
