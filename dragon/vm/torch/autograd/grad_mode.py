"""Context managers, decorators and switches that say whether calls are recorded."""
import threading

from dragon.core import modes
from dragon.vm.torch.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager

_switch = modes.set_recording


class _Local(threading.local):
    """What a thread has of its own, before anything is set: guards of graphs read it at every call."""

    inference = False


_local = _Local()


class _Mode(_DecoratorContextManager):
    """A context manager with a mode, of which the engine may have only one."""

    def __init__(self, mode):
        self.mode = mode

    def _enter_scope(self, exits):
        """Change nothing."""

    def clone(self):
        return self.__class__(self.mode)


class no_grad(_NoParamDecoratorContextManager):
    """Record nothing, within a `with` block or a decorated function.

    Examples
    --------
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False

    """

    def __init__(self):
        self.prev = False

    def _enter_scope(self, exits):
        """Record nothing."""
        self.prev = exits.switch(_switch, False) is not False  # None where nobody has said so: faces decide


class enable_grad(_NoParamDecoratorContextManager):
    """Record, within a `with` block or a decorated function; also inside `no_grad`.

    Parameters
    ----------
    orig_func : Callable, optional
        A function to decorate.

    Examples
    --------
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.no_grad():
    ...     with torch.enable_grad():
    ...         y = x * 2
    >>> y.requires_grad
    True

    """

    def _enter_scope(self, exits):
        """Record."""
        self.prev = exits.switch(_switch, True) is not False


class set_grad_enabled(_Mode):
    """Record or not, from now on; as a `with` block or a decorator, only within.

    Parameters
    ----------
    mode : bool
        Whether to record.

    Examples
    --------
    >>> training = False
    >>> with torch.set_grad_enabled(training):
    ...     print(torch.is_grad_enabled())
    False

    """

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError("set_grad_enabled(): argument 'enabled' (position 1) must be bool, "
                            f"not {type(mode).__name__}")
        self.mode, self._before = mode, _switch(mode)
        self.prev = self._before is not False

    def __call__(self, orig_func):
        _switch(self._before)  # a decorator leaves no mark on the code that merely defines the function
        return super().__call__(orig_func)

    def _enter_scope(self, exits):
        """Record or not; what was before the object was made comes back at the end."""
        exits.callback(_switch, self._before)
        _switch(self.mode)

    def __str__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(_Mode):
    """Record nothing. Tensors made within are ordinary ones: the engine keeps no books that could be left out.

    Parameters
    ----------
    mode : bool, optional, default=True
        Whether to be in inference mode; False records, also inside another inference mode.

    Examples
    --------
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> with torch.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad
    False

    """

    def __new__(cls, mode=True):
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode=True):
        self.mode = mode

    def _enter_scope(self, exits):
        """Record nothing, or do."""
        exits.switch(_switch, not self.mode)
        exits.set(_local, "inference", self.mode)


def is_inference_mode_enabled():
    """Return whether this thread is in inference mode."""
    return _local.inference


class set_multithreading_enabled(_Mode):
    """Let the backward pass use the threads of several devices or not; with one device there is one thread anyway.

    Parameters
    ----------
    mode : bool
        Whether to.

    """


class enforce_grad_layout_policy(_Mode):
    """Let gradients lie in memory otherwise than their parameters, or not; the engine's take what comes in any case.

    Parameters
    ----------
    enable : bool, optional, default=True
        Whether they must lie as their parameters do.

    """

    def __init__(self, enable=True):
        super().__init__(enable)


class _unsafe_preserve_version_counter(_DecoratorContextManager):
    """Writes within the block would not count; the engine always counts them."""

    def __init__(self, tensors):
        raise NotImplementedError("_unsafe_preserve_version_counter: Dragon counts every write to a tensor")


class _force_original_view_tracking(_Mode):
    """Choose between two ways of tracking views, of which the engine has one."""
