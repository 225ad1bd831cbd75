"""The modes of a thread: how its calls are made until somebody says otherwise."""
from dragon import _C
from dragon.core.scopes import ExitStack, Scope, scope

# The engine's own switches, as they are: each returns what was, so that whoever changes a mode can put it back.
set_recording, is_recording = _C.set_grad_enabled, _C.is_grad_enabled
set_phantom, is_phantom = _C.set_phantom, _C.is_phantom
records = _C.records
exchange_history_floor, next_sequence = _C.exchange_history_floor, _C.next_sequence
anomaly_mode, set_anomaly_mode = _C.anomaly_mode, _C.set_anomaly_mode
switch_saved_tensor_hooks = _C.switch_saved_tensor_hooks
autocast_dtype, set_autocast = _C.autocast_dtype, _C.set_autocast
set_autocast_cache, clear_autocast_cache = _C.set_autocast_cache, _C.clear_autocast_cache
set_override_disabled, set_override_modes = _C.set_override_disabled, _C.set_override_modes
is_tracing = _C.is_tracing
second_gradients_wanted, set_second_gradients_wanted = _C.second_gradients_wanted, _C.set_second_gradients_wanted


class _Switch(Scope):
    """Switch recording within a `with` block or a decorated function; may be entered again while entered."""

    def __init__(self, enabled):
        self.enabled = enabled

    def _recreate_cm(self):
        return _Switch(self.enabled)  # threads that share a decorated function must not share a stack

    def _enter_scope(self, exits):
        """Switch."""
        exits.switch(set_recording, self.enabled)


class set_grad_enabled(_Switch):
    """Record calls for gradients or not, from now on; as a `with` block or a decorator, only within.

    Parameters
    ----------
    enabled : bool
        Whether to record.

    """

    def __init__(self, enabled):
        super().__init__(bool(enabled))
        self.before = set_recording(self.enabled)

    def __call__(self, function):
        # A decorator leaves no mark on the code that merely defines the function.
        set_recording(self.before)
        return super().__call__(function)

    def _enter_scope(self, exits):
        """Switch; what was before the object was made comes back at the end."""
        exits.callback(set_recording, self.before)
        self.before = set_recording(self.enabled)


def no_grad():
    """Record nothing within a `with` block or a decorated function.

    Returns
    -------
    ContextManager
        Also a decorator.

    Examples
    --------
    >>> x = dragon.tensor([1.0], requires_grad=True)
    >>> with dragon.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False

    """
    return _Switch(False)


def enable_grad():
    """Record within a `with` block or a decorated function, also inside `no_grad`."""
    return _Switch(True)


def is_grad_enabled():
    """Return whether this thread records calls."""
    return is_recording()


@scope
def shapes_only(stack):
    """Have calls make shapes only within a `with` block: nothing is computed, written or recorded."""
    stack.switch(set_recording, False)
    stack.switch(set_phantom, True)


def is_written_down():
    """Return whether calls are written down, or make shapes only: then no call's shape may depend on numbers."""
    return is_tracing() or is_phantom()


def is_absent(error):
    """Return whether an error says that a tensor has no numbers, since it was made while only shapes were worked out.

    Parameters
    ----------
    error : RuntimeError
        Of a look at them.

    Returns
    -------
    bool
        Then there is nothing to show but its form.

    """
    return "made while only shapes were worked out" in str(error)


def with_numbers(make):
    """Return what a function makes, with numbers even where this thread makes shapes only."""
    with ExitStack() as stack:
        stack.switch(set_phantom, False)
        return make()


class detect_anomaly(Scope):
    """Name the forward line behind a failing or NaN gradient, within a `with` block. Slow: for looking for faults.

    Parameters
    ----------
    check_nan : bool, optional, default=True
        Whether a NaN in a gradient is an error.

    """

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def _enter_scope(self, exits):
        """Look for faults from now on."""
        exits.callback(set_anomaly_mode, anomaly_mode())
        set_anomaly_mode(True, self.check_nan)
