"""Who listens to the calls of this thread, if anybody does."""
import threading

from dragon.vm.torch.core.exporting.errors import Below

_local = threading.local()


def listener():
    """Return who listens to this thread's calls, None if nobody does."""
    return getattr(_local, "listener", None)


def set_listener(who):
    """Have somebody listen to this thread's calls, or nobody; return who did."""
    before, _local.listener = listener(), who
    return before


def leave_to_engine():
    """Have the program that is heard run again unheard: what follows is not made of calls that can be heard."""
    if listener() is not None:
        raise Below


def follows_sizes():
    """Return whether this thread's program is written down for sizes that vary, heard or unheard."""
    return getattr(_local, "follows", False)


def set_follows_sizes(follows):
    """Say whether this thread's program is written down for sizes that vary; return what was said before."""
    before, _local.follows = follows_sizes(), follows
    return before
