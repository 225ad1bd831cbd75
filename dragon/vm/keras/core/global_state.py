"""What Keras remembers per thread: names in use, scopes, policies."""
import gc
import threading

_state = threading.local()


def set_global_attribute(name, value):
    """Remember a value for this thread."""
    setattr(_state, name, value)


def set_within(stack, name, value):
    """Remember a value for this thread until an ExitStack ends; return what was."""
    return stack.set(_state, name, value)


def get_global_attribute(name, default=None, set_to_default=False):
    """Return what this thread remembers under a name, or a default."""
    value = getattr(_state, name, None)
    if value is None and default is not None:
        value = default
        if set_to_default:
            setattr(_state, name, value)
    return value


def clear_session(free_memory=True):
    """Forget names, scopes and policies, so that new layers are numbered from the start.

    Parameters
    ----------
    free_memory : bool, optional, default=True
        Whether to collect garbage at once.

    """
    _state.__dict__.clear()
    if free_memory:
        gc.collect()
