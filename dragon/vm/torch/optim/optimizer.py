"""The base of all optimizers: groups of parameters, states, hooks, checkpoints."""
import functools
import sys
from collections import OrderedDict, defaultdict
from copy import deepcopy
from itertools import chain

from dragon.core import warnings
from dragon import _C
from dragon.core import config, modes
from dragon.core.scopes import ExitStack
from dragon.distributed.group import default_group
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.core.hooks import RemovableHandle
from dragon.vm.torch.nn.parameter import Parameter, adopt
from dragon.vm.torch.optim import _averaging


class _RequiredParameter:
    """Stands for an option that every group must name."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()
_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """Call `hook(optimizer, args, kwargs)` before every step of every optimizer; returns a removable handle."""
    return _add_hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Call `hook(optimizer, args, kwargs)` after every step of every optimizer; returns a removable handle."""
    return _add_hook(_global_optimizer_post_hooks, hook)


def _add_hook(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
         "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
         "_optimizer_load_state_dict_post_hooks")


class Optimizer:
    """Hold groups of parameters with their options, and what is remembered of each parameter.

    Subclasses define `step`.

    Parameters
    ----------
    params : Iterable[Union[Tensor, Tuple[str, Tensor], dict]]
        Parameters, parameters with names, or groups: dictionaries with "params" and options of their own.
    defaults : dict
        Options of groups that have none of their own.

    Examples
    --------
    >>> weight = nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.SGD([weight], lr=0.1)
    >>> isinstance(optimizer, torch.optim.Optimizer), optimizer.param_groups[0]["lr"]
    (True, 0.1)

    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()
        if isinstance(params, _C.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            f"{params.type()}")
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        groups = []
        for index, group in enumerate(self.param_groups):
            options = "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            groups.append(f"\nParameter Group {index}\n{options}")
        return f"{type(self).__name__} ({''.join(groups)})"

    @staticmethod
    def profile_hook_step(func):
        """Return a step that runs the hooks before and after it."""
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self = args[0]
            if self._optimizer_step_pre_hooks or _global_optimizer_pre_hooks:
                args, kwargs = self._before_step(func, args, kwargs)
            if (group := default_group()) is not None:
                args, kwargs = _averaging.arguments(self, group, args, kwargs)
            watching = sys.modules.get("dragon.vm.torch.autograd.profiler")
            if watching is not None and watching._marks() is not None:
                with watching.record_function(f"Optimizer.step#{type(self).__name__}.step"):
                    result = func(*args, **kwargs)
            else:
                result = func(*args, **kwargs)
            if self._optimizer_step_post_hooks or _global_optimizer_post_hooks:
                for hook in chain(self._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()):
                    hook(self, args, kwargs)
            return result
        return wrapper

    def _before_step(self, func, args, kwargs):
        """Return the arguments of a step after the hooks have seen them."""
        for hook in chain(_global_optimizer_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
            result = hook(self, args, kwargs)
            if result is None:
                continue
            if not isinstance(result, tuple) or len(result) != 2:
                raise RuntimeError(f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
            args, kwargs = result
        return args, kwargs

    def _patch_step_function(self):
        """Have the class's step run hooks; done once per class."""
        step = type(self).step
        if not getattr(step, "hooked", None):
            hooked = self.profile_hook_step(step)
            hooked.hooked = True
            type(self).step = hooked

    def _accelerator_graph_capture_health_check(self):
        """Do nothing: steps are never captured in a graph of a device."""

    _cuda_graph_capture_health_check = _accelerator_graph_capture_health_check

    def _optimizer_step_code(self):
        """Do nothing; profilers look for the name."""

    def register_step_pre_hook(self, hook):
        """Call `hook(optimizer, args, kwargs)` before every step; it may return new arguments."""
        return _add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Call `hook(optimizer, args, kwargs)` after every step."""
        return _add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call `hook(optimizer)` before `state_dict`."""
        return _add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call `hook(optimizer, state_dict)` after `state_dict`; it may return another."""
        return _add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call `hook(optimizer, state_dict)` before `load_state_dict`; it may return another."""
        return _add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call `hook(optimizer)` after `load_state_dict`."""
        return _add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self):
        """Return the states, by the numbers of the parameters, and the groups; the memory is shared.

        Returns
        -------
        dict
            "state": a dictionary per parameter; "param_groups": options, and the numbers of the parameters.

        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers, groups = {}, []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        found = {"state": {numbers[id(key)] if isinstance(key, _C.Tensor) else key: value
                           for key, value in self.state.items()}, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replaced = hook(self, found)
            found = found if replaced is None else replaced
        return found

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        """Return a loaded state on its parameter's device, in its dtype; counts of steps keep theirs."""
        group = next((group for group in param_groups or () if param_id in group["params"]), {})
        if key == "step":
            if group.get("capturable") or group.get("fused"):
                return value.to(dtype=_dtype("float32"), device=param.device)
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)

    def load_state_dict(self, state_dict):
        """Go on from what `state_dict` returned.

        Parameters
        ----------
        state_dict : dict
            Of an optimizer with as many groups of as many parameters.

        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = hook(self, state_dict)
            state_dict = state_dict if replaced is None else replaced
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups: "
                             f"got {len(saved)}, expected {len(self.param_groups)}")
        if any(len(one["params"]) != len(other["params"]) for one, other in zip(saved, self.param_groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                             "optimizer's group")
        params = dict(zip(chain.from_iterable(group["params"] for group in saved),
                          chain.from_iterable(group["params"] for group in self.param_groups)))
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = self._cast(params[key], value, key, state_dict["param_groups"])
            else:
                state[key] = value
        for group, loaded in zip(self.param_groups, saved):
            loaded["params"] = group["params"]
            if "param_names" in group and "param_names" not in loaded:
                loaded["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _cast(self, param, value, number, groups, key=None):
        """Return a loaded state, its tensors cast, its containers copied."""
        if isinstance(value, _C.Tensor):
            return self._process_value_according_to_param_policy(param, value, number, groups, key)
        if isinstance(value, dict):
            return {name: self._cast(param, item, number, groups, name) for name, item in value.items()}
        if isinstance(value, (list, tuple, set)):
            return type(value)(self._cast(param, item, number, groups) for item in value)
        return value

    def zero_grad(self, set_to_none=True):
        """Forget the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    if param.grad.grad_fn is not None or param.grad.requires_grad:
                        param.grad = param.grad.detach()
                    ops.fill_(param.grad, 0)

    def step(self, closure=None):
        """Update the parameters; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__}: got no step, expected one")

    def add_param_group(self, param_group):
        """Add parameters with options of their own.

        Parameters
        ----------
        param_group : dict
            "params" and options; those that are missing get their defaults.

        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of "
                            "tensors in sets will change between runs. Please use a list instead.")
        params = [params] if isinstance(params, _C.Tensor) else list(params)
        names = [item[0] for item in params if isinstance(item, tuple)]
        if names and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        param_group["params"] = params = [item[1] if isinstance(item, tuple) else item for item in params]
        if names:
            param_group["param_names"] = names
        self._check_params(params)
        # Another face's variables are kept as the parameters of this one that stand for them.
        param_group["params"] = params = [adopt(param, Parameter) for param in params]
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        known = {id(param) for group in self.param_groups for param in group["params"]}
        if any(("param_names" in group) != bool(names) for group in self.param_groups):
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{'with' if names else 'without'} names to the optimizer")
        if any(id(param) in known for param in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _check_params(self, params):
        """Raise unless these are distinct tensors that gather gradients."""
        for param in params:
            if not isinstance(param, _C.Tensor):
                kind = type(param)
                name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {name}")
            if not (self.defaults.get("differentiable") or param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if len({id(param) for param in params}) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; it will be an error")


def _dtype(name):
    from dragon.vm.torch.core.dtypes import OBJECTS
    return OBJECTS[name]


def _get_value(x):
    """Return a number, given as one or as a tensor of one element."""
    return x.item() if isinstance(x, Tensor) else x


_to_scalar = _get_value


def _get_scalar_dtype(is_fused=None):
    """Return the dtype in which steps are counted."""
    return _dtype(config.default_dtype() if is_fused is None and config.default_dtype() == "float64" else "float32")


def _use_grad_for_differentiable(func):
    """Return a step that records nothing, or is recorded where the optimizer is made with `differentiable=True`."""
    @functools.wraps(func)
    def step(self, *args, **kwargs):
        with ExitStack() as exits:
            exits.switch(modes.set_recording, bool(self.defaults.get("differentiable")))
            return func(self, *args, **kwargs)
    return step


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """Return which implementation PyTorch would take: (fused, foreach). Here there is one, and it is fused."""
    return False, False


def _get_capturable_supported_devices(supports_xla=True):
    """Return the types of device whose steps may be captured in a graph."""
    return ["cuda", "xpu", "hpu", "privateuseone", "xla"] if supports_xla else ["cuda", "xpu", "hpu", "privateuseone"]


def _view_as_real(params, *state_and_grads):
    """Have lists hold complex tensors as pairs of real numbers, in place."""
    for index, param in enumerate(params):
        if param.dtype.is_complex:
            for items in (params, *state_and_grads):
                items[index] = ops.view_as_real(items[index])


def _stack_if_compiling(x):
    """Return the numbers themselves: nothing is being compiled."""
    return x


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """Return a decorator that leaves functions as they are."""
    return lambda function: function


DeviceDict = DeviceDtypeDict = dict
params_t = ParamsT = "Iterable[Union[Tensor, Tuple[str, Tensor], dict]]"
