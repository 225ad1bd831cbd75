"""PyTorch's dispatcher in Python: here there is one way to operators, which is always on."""

from dragon.core.scopes import contextmanager


@contextmanager
def enable_python_dispatcher():
    """Do nothing within a `with` block: operators always go the same way."""
    yield


@contextmanager
def no_python_dispatcher():
    """Do nothing within a `with` block: there is no other dispatcher."""
    yield


@contextmanager
def suspend_functionalization():
    """Do nothing within a `with` block: nothing is rewritten without writes here."""
    yield
