"""Whether calls are recorded, and what recording watches out for."""
import contextlib

from dragon import _C


class _Switch(contextlib.ContextDecorator):
    """Switch recording within a `with` block or a decorated function; may be entered again while entered."""

    def __init__(self, enabled):
        self.enabled = enabled
        self.previous = []

    def _recreate_cm(self):
        return _Switch(self.enabled)  # threads that share a decorated function must not share a stack

    def __enter__(self):
        self.previous.append(_C.set_grad_enabled(self.enabled))

    def __exit__(self, *_):
        _C.set_grad_enabled(self.previous.pop())


class set_grad_enabled(_Switch):
    """Record calls for gradients or not, from now on; as a `with` block or a decorator, only within.

    Parameters
    ----------
    enabled : bool
        Whether to record.

    """

    def __init__(self, enabled):
        super().__init__(bool(enabled))
        self.before = _C.set_grad_enabled(self.enabled)

    def __call__(self, function):
        # A decorator leaves no mark on the code that merely defines the function.
        _C.set_grad_enabled(self.before)
        return super().__call__(function)

    def __enter__(self):
        self.previous.append(self.before)
        self.before = _C.set_grad_enabled(self.enabled)


_asked = [False]  # whether users of a guest in this process expect recording where nobody asks for it


def record_unasked():
    """Record from now on where nobody asks for it, as users of PyTorch expect."""
    _asked[0] = True
    _C.set_grad_enabled(True)


def record_when_asked():
    """Record from now on only where it is asked for, unless users of another guest expect more."""
    if not _asked[0]:
        _C.set_grad_enabled(False)


def is_recorded_unasked():
    """Return whether calls are recorded where nobody asks for it."""
    return _asked[0]


def no_grad():
    """Record nothing within a `with` block or a decorated function."""
    return _Switch(False)


def enable_grad():
    """Record within a `with` block or a decorated function, also inside `no_grad`."""
    return _Switch(True)


def is_grad_enabled():
    """Return whether this thread records calls."""
    return _C.is_grad_enabled()


class detect_anomaly:
    """Name the forward line behind a failing or NaN gradient, within a `with` block. Slow: for looking for faults.

    Parameters
    ----------
    check_nan : bool, optional, default=True
        Whether a NaN in a gradient is an error.

    """

    def __init__(self, check_nan=True):
        self.check_nan = check_nan
        self.previous = []

    def __enter__(self):
        self.previous.append(_C.anomaly_mode())
        _C.set_anomaly_mode(True, self.check_nan)

    def __exit__(self, *_):
        _C.set_anomaly_mode(self.previous.pop())


def as_list(value):
    """Return one tensor or a sequence of them as a list; None as None."""
    if value is None or isinstance(value, (list, tuple)):
        return value if value is None else list(value)
    return [value]
