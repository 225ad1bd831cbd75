"""Hooks of modules: registering them, and calling a module that has some."""
import weakref
from collections import OrderedDict

from dragon.core import warnings
from dragon.core.custom_function import Function
from dragon.core.interrupts import is_interrupt
from dragon.vm.torch.utils.hooks import RemovableHandle
from dragon.vm.torch.core.tensor import Tensor

# Hooks of all modules. The kind of the backward hooks: None while there were none, True for full ones.
_global_buffer_registration_hooks = OrderedDict()
_global_module_registration_hooks = OrderedDict()
_global_parameter_registration_hooks = OrderedDict()
_global_backward_pre_hooks = OrderedDict()
_global_backward_hooks = OrderedDict()
_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_global_forward_hooks_always_called = OrderedDict()
_global_forward_hooks_with_kwargs = OrderedDict()
_backward_kind = [None]


def _add(table, hook, *flags, prepend=False):
    """Enter a hook into a table and its number into the tables of its flags; return the handle."""
    handle = RemovableHandle(table, extra_dict=[flag for flag, _ in flags])
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    for flag, wanted in flags:
        if wanted:
            flag[handle.id] = True
    return handle


def register_module_buffer_registration_hook(hook):
    """Call `hook(module, name, buffer)` whenever a buffer is registered."""
    return _add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Call `hook(module, name, submodule)` whenever a submodule is registered."""
    return _add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Call `hook(module, name, param)` whenever a parameter is registered."""
    return _add(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook):
    """Call `hook(module, args)` before every module's forward."""
    return _add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call `hook(module, args, output)` after every module's forward."""
    return _add(_global_forward_hooks, hook, (_global_forward_hooks_with_kwargs, with_kwargs),
                (_global_forward_hooks_always_called, always_call))


def register_module_full_backward_pre_hook(hook):
    """Call `hook(module, grad_output)` before every module's backward."""
    return _add(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Call `hook(module, grad_input, grad_output)` after every module's backward."""
    _settle_kind(_backward_kind[0], True, "all modules")
    _backward_kind[0] = True
    return _add(_global_backward_hooks, hook)


def register_module_backward_hook(hook):
    """Call `hook(module, grad_input, grad_output)` with the gradients of a module's last operator: the old form."""
    _settle_kind(_backward_kind[0], False, "all modules")
    _backward_kind[0] = False
    return _add(_global_backward_hooks, hook)


def _settle_kind(kind, full, whose):
    """Raise if full backward hooks would meet those of the old kind."""
    if kind is not None and kind is not full:
        raise RuntimeError(f"register_backward_hook: got both regular backward hooks and full backward hooks for "
                           f"{whose}, expected only one kind of them")


class _WrappedHook:
    """A hook that gets the module first, which it holds weakly: a copied module's hook must speak of the copy."""

    __module__ = __name__.replace("._hooks", ".module")  # where PyTorch has it

    def __init__(self, hook, module=None):
        self.hook = hook
        self.with_module = module is not None
        if self.with_module:
            self.module = weakref.ref(module)

    def __call__(self, *args, **kwargs):
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("hook: got a module that is gone, expected a living one")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self):
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state):
        self.__init__(state["hook"], state.get("module"))
        self.with_module = state["with_module"]


class HooksOfModule:
    """The part of Module that registers hooks and calls them."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call `hook(module, args)` before forward; what it returns replaces the arguments.

        The handle that is returned takes it out again.

        Parameters
        ----------
        hook : Callable
            The hook; with keyword arguments it is `hook(module, args, kwargs)` and returns both.
        prepend : bool, optional, default=False
            Call it before those that there are.
        with_kwargs : bool, optional, default=False
            Give it the keyword arguments.

        """
        return _add(self._forward_pre_hooks, hook, (self._forward_pre_hooks_with_kwargs, with_kwargs), prepend=prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call `hook(module, args, output)` after forward; what it returns replaces the output.

        Parameters
        ----------
        hook : Callable
            The hook; with keyword arguments it is `hook(module, args, kwargs, output)`.
        prepend, with_kwargs
            See register_forward_pre_hook.
        always_call : bool, optional, default=False
            Call it, with None for what is not there, if forward has failed too.

        Returns
        -------
        RemovableHandle
            Whose `remove()` takes the hook out.

        Examples
        --------
        >>> layer = nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, args, output: output + 10)
        >>> layer(torch.tensor([-1.0, 2.0]))
        tensor([10., 12.])
        >>> handle.remove()

        """
        return _add(self._forward_hooks, hook, (self._forward_hooks_with_kwargs, with_kwargs),
                    (self._forward_hooks_always_called, always_call), prepend=prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call `hook(module, grad_output)` before backward; what it returns replaces the gradients."""
        return _add(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call `hook(module, grad_input, grad_output)` after backward; what it returns replaces `grad_input`."""
        _settle_kind(self._is_full_backward_hook, True, "one module")
        self._is_full_backward_hook = True
        return _add(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook):
        """Call `hook(module, grad_input, grad_output)` with the gradients of the last operator: the old form."""
        _settle_kind(self._is_full_backward_hook, False, "one module")
        self._is_full_backward_hook = False
        return _add(self._backward_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("_register_state_dict_hook: got a hook of register_state_dict_post_hook, expected "
                               "another one")
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict` is filled."""
        try:
            hook._from_public_api = True
        except AttributeError:
            raise TypeError(f"register_state_dict_post_hook: got {type(hook).__name__}, expected a function") from None
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Call `hook(module, prefix, keep_vars)` before `state_dict` is filled."""
        return _add(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return _add(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook):
        """Call `hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Call `hook(module, incompatible_keys)` after loading; it may change the lists of keys in place."""
        return _add(self._load_state_dict_post_hooks, hook)

    def _get_backward_hooks(self):
        """Return (full hooks, hooks of the old kind)."""
        full, old = [], []
        for kind, table in ((_backward_kind[0], _global_backward_hooks),
                            (self._is_full_backward_hook, self._backward_hooks)):
            (full if kind is True else old).extend(table.values())
        return full, old

    def _get_backward_pre_hooks(self):
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]


def call_with_hooks(module, args, kwargs):
    """Call a module that has hooks, or that all modules' hooks look at.

    Parameters
    ----------
    module : Module
        The module.
    args : tuple
        Positional arguments of its forward.
    kwargs : dict
        Keyword arguments of its forward.

    Returns
    -------
    Any
        What forward returned, or a hook in its place.

    """
    called = set()
    try:
        return _with_hooks(module, args, kwargs, called)
    except Exception:
        _call_faithful(module, args, kwargs, called)
        raise


def _with_hooks(module, args, kwargs, called):
    args, kwargs = _before(module, args, kwargs)
    full, old = module._get_backward_hooks() if module._backward_hooks or _global_backward_hooks else ((), ())
    ahead = module._get_backward_pre_hooks()
    watch = _BackwardWatch(module, full, ahead) if full or ahead else None
    if watch:
        args = watch.inputs(args)
    result = module.forward(*args, **kwargs)
    for number, hook, with_kwargs in _forward_hooks(module):
        called.add(number)
        answer = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if answer is not None:
            result = answer
    if watch:
        result = watch.outputs(result)
    if old:
        _hook_last_operator(module, result, old)
    return result


def _forward_hooks(module, only=None):
    """Yield (number, hook, whether it takes keyword arguments), those of all modules first."""
    for table, flags in ((_global_forward_hooks, _global_forward_hooks_with_kwargs),
                         (module._forward_hooks, module._forward_hooks_with_kwargs)):
        for number, hook in list(table.items()):
            yield number, hook, number in flags


def _before(module, args, kwargs):
    """Return the arguments as the hooks before forward leave them."""
    for hook in list(_global_forward_pre_hooks.values()):
        answer = hook(module, args)
        if answer is not None:
            args = answer if isinstance(answer, tuple) else (answer,)
    for number, hook in list(module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            answer = hook(module, args, kwargs)
            if answer is None:
                continue
            if not (isinstance(answer, tuple) and len(answer) == 2):
                raise RuntimeError(f"{type(module).__name__}: forward pre-hook returned {answer!r}, expected None or a "
                                   "tuple of (new_args, new_kwargs)")
            args, kwargs = answer
            continue
        answer = hook(module, args)
        if answer is not None:
            args = answer if isinstance(answer, tuple) else (answer,)
    return args, kwargs


def _call_faithful(module, args, kwargs, called):
    """Call the hooks that want to be called even if forward failed, unless they have been."""
    always = {**_global_forward_hooks_always_called, **module._forward_hooks_always_called}
    for number, hook, with_kwargs in _forward_hooks(module):
        if number not in always or number in called:
            continue
        try:
            hook(module, args, kwargs, None) if with_kwargs else hook(module, args, None)
        except Exception as error:
            if is_interrupt(error):
                raise
            warnings.warn(f"{type(module).__name__}: a forward hook with always_call=True raised an exception, "
                          f"silenced because forward had raised another: {error}")


class _Through(Function):
    """Tensors as they are; on the way back the gradients pass a Python function."""

    @staticmethod
    def forward(ctx, visit, *tensors):
        ctx.visit = visit
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[tensor for tensor in tensors if not tensor.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.visit(grads))


class _BackwardWatch:
    """Calls a module's backward hooks when gradients pass its outputs and its inputs.

    The gradients of the outputs wait here for those of the inputs. If no input has a gradient, the hooks are called as
    soon as the outputs' are known.
    """

    def __init__(self, module, hooks, ahead):
        self.module, self.hooks, self.ahead = module, hooks, ahead
        self.input_count, self.input_places = -1, None
        self.grad_outputs = None

    def inputs(self, args):
        """Return the arguments, with the inner side of the watch behind those that are tensors."""
        if not self.hooks:
            return args
        self.input_count = len(args)
        passed, self.input_places = _pass(args, self._leave)
        return passed

    def outputs(self, result):
        """Return the result, with the outer side of the watch behind its tensors."""
        alone = not isinstance(result, (tuple, list))
        values = (result,) if alone else tuple(result)
        self.output_count = len(values)
        self.output_places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
        passed, places = _pass(values, self._enter)
        if places is None:
            return result
        return passed[0] if alone else type(result)(passed) if type(result) in (tuple, list) else type(result)(*passed)

    def _enter(self, grads):
        grad_outputs = _spread(grads, self.output_places, self.output_count)
        for hook in self.ahead:
            answer = hook(self.module, grad_outputs)
            if answer is not None:
                grad_outputs = _answered(answer, grad_outputs, "backward pre hook")
        self.grad_outputs = grad_outputs
        if self.hooks and self.input_places is None:
            for hook in self.hooks:
                if hook(self.module, (None,) * self.input_count, grad_outputs) is not None:
                    raise RuntimeError(f"{type(self.module).__name__}: a backward hook returned gradients, expected "
                                       "None: none of the module's inputs requires grad")
        return [grad_outputs[place] for place in self.output_places]

    def _leave(self, grads):
        if self.grad_outputs is None:
            raise RuntimeError(f"{type(self.module).__name__}: got gradients of the inputs before those of the "
                               "outputs, expected the outputs to be the module's")
        grad_inputs = _spread(grads, self.input_places, self.input_count)
        for hook in self.hooks:
            answer = hook(self.module, grad_inputs, self.grad_outputs)
            if answer is not None:
                grad_inputs = _answered(answer, grad_inputs, "backward hook")
        self.grad_outputs = None
        return [grad_inputs[place] for place in self.input_places]


def _pass(values, visit):
    """Return values with `visit` behind the tensors among them, and their places; None if nothing is recorded."""
    from dragon.core import modes
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
    tensors = [values[place] for place in places]
    if not (modes.is_recording() and any(tensor.requires_grad for tensor in tensors)):
        return values, None
    passed = list(values)
    for place, tensor in zip(places, _Through.apply(visit, *tensors)):
        passed[place] = tensor
    return tuple(passed), places


def _spread(grads, places, count):
    """Return gradients at their places among `count` values, None elsewhere."""
    found = [None] * count
    for place, grad in zip(places, grads):
        found[place] = grad
    return tuple(found)


def _answered(answer, grads, who):
    """Return the gradients that a hook gave in place of others."""
    answer = answer if isinstance(answer, tuple) else (answer,)
    if len(answer) != len(grads):
        raise RuntimeError(f"{who}: got {len(answer)} gradients, expected {len(grads)}")
    for given, came in zip(answer, grads):
        kinds = [None if grad is None else (grad.dtype, tuple(grad.shape)) for grad in (given, came)]
        if given is not None and kinds[0] != kinds[1]:
            raise RuntimeError(f"{who}: got a gradient of {kinds[0]}, expected {kinds[1]}")
    return answer


def _hook_last_operator(module, result, hooks):
    """Hang hooks of the old kind behind the operator that made the result."""
    while not isinstance(result, Tensor):
        if not isinstance(result, (dict, list, tuple)) or not result:
            return
        result = next(iter(result.values())) if isinstance(result, dict) else result[0]
    node = result.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(lambda grad_inputs, grad_outputs, hook=hook: hook(module, grad_inputs, grad_outputs))
