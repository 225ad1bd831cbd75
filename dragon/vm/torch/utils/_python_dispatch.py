"""Python under the operators: modes that hear every operator, and tensors that wrap others."""
from dragon import _C
from dragon.core.capture.regions import step_apart
from dragon.core.scopes import scope
from dragon.vm.torch.core.dispatching import mode_stack
from dragon.vm.torch.core.overrides import count_modes
from dragon.vm.torch.core.tensor import Tensor


class TorchDispatchMode(_C.Scope):
    """Hear every operator within a `with` block, in a method `__torch_dispatch__(func, types, args, kwargs)`.

    `func` is an operator's overload, such as `torch.ops.aten.add.Tensor`; while the mode is asked, it hears nothing.

    Parameters
    ----------
    _dispatch_key : Any, optional
        Where modes of PyTorch's own are kept: none here.

    Examples
    --------
    >>> from torch.utils._python_dispatch import TorchDispatchMode
    >>> class Show(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> x = torch.tensor([1.0, 2.0])
    >>> with Show():
    ...     y = x * 2
    aten.mul.Tensor

    """

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            raise NotImplementedError(f"TorchDispatchMode: got _dispatch_key={_dispatch_key!r}, expected none")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError(f"{type(self).__name__}: got no __torch_dispatch__, expected one")

    def _enter_scope(self, exits):
        """Hear operators from now on."""
        from dragon.vm.torch.core.dispatching.dispatcher import begin
        begin()
        exits.callback(count_modes)
        exits.push(mode_stack.dispatch_modes(), self)
        count_modes()
        step_apart(exits)  # graphs ask nobody
        return self

    @classmethod
    def push(cls, *args, **kwargs):
        """Return an instance; `with` enters it."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls):
        """Return whether the mode is one of PyTorch's own: False."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Return whether a mode hears this thread's operators."""
    return bool(mode_stack.dispatch_modes())


def is_in_any_mode_without_ignore_compile_internals():
    """Return whether a mode hears this thread's operators."""
    return bool(mode_stack.dispatch_modes())


def _get_current_dispatch_mode():
    """Return the innermost mode, or None."""
    return mode_stack.dispatch_modes()[-1] if mode_stack.dispatch_modes() else None


def _get_current_dispatch_mode_stack():
    """Return the modes, the innermost last."""
    return list(mode_stack.dispatch_modes())


@scope
def _disable_current_modes(changes):
    """Have no mode hear operators within a `with` block, which gets the modes that were there."""
    return list(changes.enter(mode_stack.without_modes()))


@scope
def _pop_mode_temporarily(changes, k=None):
    """Have the innermost mode hear nothing within a `with` block, which gets the mode."""
    if k is not None:
        raise NotImplementedError(f"_pop_mode_temporarily: got k={k!r}, expected none: all modes are on one stack")
    changes.callback(count_modes)
    mode = changes.take(mode_stack.dispatch_modes())
    count_modes()
    return mode


# --- tensors that wrap others

def is_traceable_wrapper_subclass(t):
    """Return whether an object is a tensor that wraps others and can be taken apart.

    Parameters
    ----------
    t : Any
        The object.

    Returns
    -------
    bool
        Whether its class has `__tensor_flatten__` and `__tensor_unflatten__`.

    """
    return isinstance(t, Tensor) and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t):
    """Return whether tensors of a class wrap others and can be taken apart."""
    return issubclass(t, Tensor) and t is not Tensor and hasattr(t, "__tensor_flatten__") and hasattr(
        t, "__tensor_unflatten__")


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """Return a wrapper made anew of what a function gives for each of the tensors that it wraps.

    Parameters
    ----------
    t : Tensor
        The wrapper.
    callback : Callable
        It is called with the name of an attribute, and the tensor there.
    outer_size : Sequence[int], optional
        The shape of the new wrapper; the old one's without it.
    outer_stride : Sequence[int], optional
        The strides of the new wrapper; the old one's without it.

    Returns
    -------
    Tensor
        Of the same class.

    """
    outer_size = outer_size if outer_size is not None else t.size()
    outer_stride = outer_stride if outer_stride is not None else t.stride()
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(inner, context, outer_size, outer_stride)
    if made.shape != outer_size or made.stride() != outer_stride:
        raise AssertionError(f"transform_subclass: got shape {tuple(made.shape)} and strides {made.stride()} from "
                             f"{type(t).__name__}.__tensor_unflatten__, expected {tuple(outer_size)} and "
                             f"{tuple(outer_stride)}")
    return made


def get_alias_info(func):
    """Return, of an operator, which of its arguments and results share memory: lists of sets of names."""
    schema = func._schema
    return ([_names(argument) for argument in schema.arguments], [_names(argument) for argument in schema.returns])


def _names(argument):
    return set(argument.alias.rstrip("!").split(" ")[0].split("|")) - {""}


def return_and_correct_aliasing(func, args, kwargs, out):
    """Return what a class's `__torch_dispatch__` has made: of an operator that writes, what it has written to.

    Parameters
    ----------
    func : OpOverload
        The operator.
    args : tuple
        Its positional arguments.
    kwargs : Dict[str, Any]
        Its arguments by name.
    out : Any
        The results.

    Returns
    -------
    Any
        The same results; those that the operator hands through are the arguments themselves.

    """
    schema = func._schema
    if schema is None or not getattr(schema, "is_mutable", False):
        return out
    values = dict(zip((argument.name for argument in schema.arguments), args))
    values.update(kwargs or {})
    written = {name: values[argument.name] for argument in schema.arguments if argument.is_write
               and argument.name in values for name in _names(argument)}
    handed = [next((written[name] for name in _names(result) if result.alias.endswith("!") and name in written), None)
              for result in schema.returns]
    if not any(item is not None for item in handed):
        return out
    if len(schema.returns) == 1:
        return handed[0]
    return type(out)([made if given is None else given for made, given in zip(out, handed)])
