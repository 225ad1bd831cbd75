"""`torch.nn.Module`: what every layer and model is."""
from collections import OrderedDict
from typing import Any, Dict, TypeVar

from dragon.core.capture.regions import PLAIN_RUNS, find_region
from dragon.core.module import Module as AnyModule
from dragon.core.modes import no_grad
from dragon.vm.guest import lookup
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.functions.conversion import parse_to, wants_queueing
from dragon.vm.torch.utils.hooks import RemovableHandle  # noqa: F401: PyTorch's module has it too
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.nn.modules import _hooks
from dragon.vm.torch.nn.modules._hooks import (  # noqa: F401: PyTorch has them here
    HooksOfModule, _global_backward_hooks, _global_backward_pre_hooks, _global_buffer_registration_hooks,
    _global_forward_hooks, _global_forward_hooks_always_called, _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks, _global_module_registration_hooks, _global_parameter_registration_hooks, _WrappedHook,
    call_with_hooks, register_module_backward_hook, register_module_buffer_registration_hook,
    register_module_forward_hook, register_module_forward_pre_hook, register_module_full_backward_hook,
    register_module_full_backward_pre_hook, register_module_module_registration_hook,
    register_module_parameter_registration_hook)
from dragon.vm.torch.nn.modules._members import MembersOfModule, _asked, typename
from dragon.vm.torch.nn.modules._state import EXTRA_STATE, StateOfModule, _IncompatibleKeys  # noqa: F401
from dragon.vm.torch.nn.parameter import Buffer, Parameter

COMPILER = []  # how to get `torch.compile`, which is made of modules itself: `torch` says so
_EXTRA_STATE_KEY_SUFFIX = EXTRA_STATE
_HOOK_TABLES = ("_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
                "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
                "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
                "_load_state_dict_post_hooks")


def _forward_unimplemented(self, *input):
    """Return what the module makes of its inputs; subclasses say how, and this raises.

    Parameters
    ----------
    *input : Any
        What the module is called with.

    Returns
    -------
    Any
        What the call gives.

    Examples
    --------
    >>> nn.Flatten().forward(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 12])

    """
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(HooksOfModule, MembersOfModule, StateOfModule):
    """The base of all layers and models: holds parameters, buffers and submodules, and is called like a function.

    Parameters
    ----------
    *args, **kwargs
        Nothing; subclasses say what they take.

    Examples
    --------
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.linear = nn.Linear(4, 2)
    ...     def forward(self, x):
    ...         return self.linear(x).relu()
    >>> net = Net()
    >>> net(torch.zeros(8, 4)).shape
    torch.Size([8, 2])
    >>> net
    Net(
      (linear): Linear(in_features=4, out_features=2, bias=True)
    )

    """

    dump_patches = False
    _version = 1
    training: bool
    call_super_init = False
    T_destination = TypeVar("T_destination", bound=Dict[str, Any])
    _compiled_call_impl = None

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                            f"'{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were "
                            "given")
        state = self.__dict__
        state["training"] = True
        state["_parameters"] = {}
        state["_buffers"] = {}
        state["_non_persistent_buffers_set"] = set()
        for name in _HOOK_TABLES:
            state[name] = OrderedDict()
        state["_is_full_backward_hook"] = None
        state["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward = _forward_unimplemented

    def _call_impl(self, *args, **kwargs):
        if (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
                or _global_forward_hooks or _global_forward_pre_hooks or _global_backward_hooks
                or _global_backward_pre_hooks):
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def _wrapped_call_impl(self, *args, **kwargs):
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        if PLAIN_RUNS and (function := find_region(self)) is not None:
            return function(*args, **kwargs)
        # `_call_impl` again, a call less: this line runs at every use of every layer.
        if (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
                or _global_forward_hooks or _global_forward_pre_hooks or _global_backward_hooks
                or _global_backward_pre_hooks):
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    __call__ = _wrapped_call_impl

    def __getattr__(self, name):
        # Spelled out: this runs at every use of a parameter, buffer or submodule.
        members = self.__dict__
        if "_modules" in members:
            found = members["_parameters"]
            if name in found:
                return found[name]
            found = members["_modules"]
            if name in found:
                return found[name]
            found = members["_buffers"]
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name, value):
        members = self.__dict__
        params, modules, buffers = members.get("_parameters"), members.get("_modules"), members.get("_buffers")
        if isinstance(value, Tensor):
            if isinstance(value, Parameter):
                _require_init(params, "parameters")
                self._forget(name, params)
                self.register_parameter(name, value)
                return
            if params is not None and name in params:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None "
                                "expected)")
            if modules is not None and name in modules:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None "
                                "expected)")
            if isinstance(value, Buffer) or (buffers is not None and name in buffers):
                self._set_buffer(name, value, buffers)
                return
        elif isinstance(value, AnyModule):
            _require_init(modules, "module")
            self._forget(name, modules)
            modules[name] = _asked(_global_module_registration_hooks, self, name, value)
            self._welcome(value)
            return
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None "
                                "expected)")
            self.register_parameter(name, value)
            return
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None "
                                "expected)")
            modules[name] = _asked(_global_module_registration_hooks, self, name, value)
            return
        elif buffers is not None and name in buffers:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor "
                                "or None expected)")
            self._set_buffer(name, value, buffers)
            return
        object.__setattr__(self, name, value)

    def _set_buffer(self, name, value, buffers):
        _require_init(buffers, "buffers")
        if name not in buffers:
            self._forget(name, buffers)
            self.register_buffer(name, value, getattr(value, "persistent", True))
            return
        for hook in _global_buffer_registration_hooks.values():
            value = value if (answer := hook(self, name, value)) is None else answer
        buffers[name] = value

    def _forget(self, name, kept):
        """Take a name out of all tables but one."""
        for table in (self.__dict__, self._parameters, self._buffers, self._modules):
            if table is not kept:
                table.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name):
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        # What older files lack.
        for name in _HOOK_TABLES:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """Return the options as text, which `repr` shows between the brackets; subclasses do so, this shows nothing."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if not children and len(lines) < 2:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"

    def _apply(self, fn, recurse=True):
        """Put what a function returns in the place of every parameter, gradient and buffer."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with no_grad():
                made, grad = fn(param), None if param.grad is None else fn(param.grad)
            # A parameter moves as it is: others may share it, and optimizers hold it. What has no numbers is another.
            if (made.device.type == "meta") == (param.device.type == "meta"):
                if made is not param:
                    param.data = made
                    if grad is not None:
                        param.grad = grad
                continue
            moved = self._parameters[name] = Parameter(made, param.requires_grad)
            if grad is not None:
                moved.grad = grad.requires_grad_(param.grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Move parameters and buffers to a device, floating ones to a dtype; returns the module.

        Parameters
        ----------
        device : Union[device, str, int], optional
            Where to.
        dtype : dtype, optional
            A floating or complex dtype.
        tensor : Tensor, optional
            One whose device and dtype are meant, in place of both.
        non_blocking : bool, optional, default=False
            Whether copies from pinned memory may go on when the call returns.
        memory_format : memory_format, optional
            For parameters and buffers of 4 or 5 axes.

        Returns
        -------
        Module
            This module.

        """
        where, dtype, _, memory_format = parse_to(args, dict(kwargs))
        queues = wants_queueing(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                            f"dtype={dtype}")

        def convert(tensor):
            wanted = dtype if tensor.dtype.is_floating_point or tensor.dtype.is_complex else None
            if memory_format is not None and tensor.ndim in (4, 5):
                return tensor.to(where, wanted, queues, memory_format=memory_format)
            if where is not None and tensor.device.type == "meta" and where.type != "meta":
                raise NotImplementedError("Module.to: got a tensor on the meta device, which has no data to copy, "
                                          "expected to_empty() for leaving that device")
            return tensor.to(where, wanted, queues)
        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Move parameters and buffers to a device without their values."""
        device = as_device(device)
        return self._apply(lambda tensor: ops.empty_like(tensor, device=device), recurse=recurse)

    def cuda(self, device=None):
        """Move parameters and buffers to a CUDA device."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def cpu(self):
        """Move parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def _to_foreign(self, name, device):
        return self.to(name if device is None else f"{name}:{device}" if isinstance(device, int) else device)

    def xpu(self, device=None):
        """Move parameters and buffers to an XPU, which Dragon does not know."""
        return self._to_foreign("xpu", device)

    def ipu(self, device=None):
        """Move parameters and buffers to an IPU, which Dragon does not know."""
        return self._to_foreign("ipu", device)

    def mtia(self, device=None):
        """Move parameters and buffers to an MTIA device, which Dragon does not know."""
        return self._to_foreign("mtia", device)

    def type(self, dst_type):
        """Cast all parameters and buffers."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self):
        """Cast floating parameters and buffers to `float32`."""
        return self._apply(lambda tensor: tensor.float() if tensor.dtype.is_floating_point else tensor)

    def double(self):
        """Cast floating parameters and buffers to `float64`."""
        return self._apply(lambda tensor: tensor.double() if tensor.dtype.is_floating_point else tensor)

    def half(self):
        """Cast floating parameters and buffers to `float16`."""
        return self._apply(lambda tensor: tensor.half() if tensor.dtype.is_floating_point else tensor)

    def bfloat16(self):
        """Cast floating parameters and buffers to `bfloat16`."""
        return self._apply(lambda tensor: tensor.bfloat16() if tensor.dtype.is_floating_point else tensor)

    def requires_grad_(self, requires_grad=True):
        """Say for all parameters whether gradients are wanted.

        Parameters
        ----------
        requires_grad : bool, optional, default=True
            Whether gradients are wanted.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> frozen = nn.Linear(2, 1).requires_grad_(False)
        >>> frozen.weight.requires_grad
        False

        """
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Take away all parameters' gradients, or fill them with zeros.

        Parameters
        ----------
        set_to_none : bool, optional, default=True
            Whether they are taken away, or filled with zeros.

        Examples
        --------
        >>> layer = nn.Linear(2, 1)
        >>> layer(torch.ones(1, 2)).sum().backward()
        >>> layer.zero_grad()
        >>> layer.weight.grad is None
        True

        """
        for param in self.parameters():
            if param.grad is not None:
                if set_to_none:
                    param.grad = None
                else:
                    with no_grad():
                        param.grad = param.grad.detach().zero_()

    def share_memory(self):
        """Move parameters and buffers into memory that processes share."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def _replicate_for_data_parallel(self):
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = replica._buffers.copy()
        replica._modules = replica._modules.copy()
        replica._is_replica = True
        return replica

    def compile(self, *args, **kwargs):
        """Have calls of this module go through `torch.compile`."""
        object.__setattr__(self, "_compiled_call_impl", COMPILER[0]()(self._call_impl, *args, **kwargs))


def _require_init(table, what):
    """Raise unless the module's tables are there."""
    if table is None:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")


def _addindent(s_, numSpaces):
    """Return a text with all lines but the first indented."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def _has_any_global_hook():
    """Return whether hooks of all modules are registered."""
    return any((_global_backward_pre_hooks, _global_backward_hooks, _global_forward_pre_hooks, _global_forward_hooks))


_find, __dir__ = lookup(globals())


def __getattr__(name):
    """Answer for the one variable that changes."""
    return _hooks._backward_kind[0] if name == "_global_is_full_backward_hook" else _find(name)
