"""State that each thread has for itself: flags, stacks of `with` blocks that are open; and what one has at a time."""
import os
import threading
import time

from dragon.core.scopes import scope


class ThreadFlag(threading.local):
    """A flag that is off in every thread until that thread sets it."""

    on = False

    def set(self):
        """Have the flag on within a `with` block, for this thread."""
        return _on(self)


@scope
def _on(stack, flag):
    stack.set(flag, "on", True)


class ThreadStack(threading.local):
    """A stack that is empty in every thread until that thread pushes something."""

    def __init__(self):
        self.items = []

    def __bool__(self):
        return bool(self.items)

    top = property(lambda self: self.items[-1] if self.items else None, doc="Any: what was pushed last, or None.")


class Turn:
    """A lock that one thread has at a time, as often as it likes; an interrupt leaves it neither taken nor lost."""

    _PAUSE = 0.001  # seconds between two looks of a thread that waits

    def __init__(self):
        self._holders = {}  # by process: a fork takes none of the other threads along

    def take(self, stack, wait=True):
        """Take the lock until a stack of exits ends; return whether this thread has it.

        Parameters
        ----------
        stack : ExitStack
            What gives it back.
        wait : bool, optional, default=True
            Whether to wait while another thread has it.

        """
        process, token = os.getpid(), [threading.get_ident()]
        if self._holders.get(process) == token:
            return True
        stack.callback(self._give_back, process, token)
        while self._holders.setdefault(process, token) is not token:
            if not wait:
                return False
            time.sleep(self._PAUSE)
        return True

    def _give_back(self, process, token):
        if self._holders.get(process) is token:
            del self._holders[process]
