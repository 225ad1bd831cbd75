"""The fast path of attention modules."""

_enabled = True


def get_fastpath_enabled():
    """Return whether the fast path was allowed; Dragon has one path, which is it."""
    return _enabled


def set_fastpath_enabled(value):
    """Allow the fast path or forbid it; Dragon has one path, which is it."""
    global _enabled
    _enabled = value
