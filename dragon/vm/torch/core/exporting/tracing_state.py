"""The tracer that records the calls of this thread, if there is one."""
import threading

from dragon.vm.torch.core.exporting.errors import FallBackToEngine

_local = threading.local()


def current_tracer():
    """Return the tracer that records this thread's calls, or None."""
    return getattr(_local, "tracer", None)


def set_tracer(who):
    """Have a tracer record this thread's calls, or none; return the one that did."""
    before, _local.tracer = current_tracer(), who
    return before


def fall_back_to_engine():
    """Have the program traced at the level of the engine's operators: what follows is not made of calls of the API."""
    if current_tracer() is not None:
        raise FallBackToEngine


def follows_sizes():
    """Return whether this thread's program is written down for sizes that vary, at any level."""
    return getattr(_local, "follows", False)


def set_follows_sizes(follows):
    """Say whether this thread's program is written down for sizes that vary; return what was said before."""
    before, _local.follows = follows_sizes(), follows
    return before
