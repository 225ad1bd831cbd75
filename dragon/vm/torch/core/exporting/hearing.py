"""Who listens to the calls of this thread, if anybody does."""
import threading

_local = threading.local()


def listener():
    """Return who listens to this thread's calls, None if nobody does."""
    return getattr(_local, "listener", None)


def set_listener(who):
    """Have somebody listen to this thread's calls, or nobody; return who did."""
    before, _local.listener = listener(), who
    return before
