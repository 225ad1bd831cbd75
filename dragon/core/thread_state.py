"""State that each thread has for itself: flags, stacks of `with` blocks that are open; and what one has at a time."""
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
        self._holder = {}

    def take(self, stack, wait=True):
        """Take the lock until a stack of exits ends; return whether this thread has it.

        Parameters
        ----------
        stack : ExitStack
            What gives it back.
        wait : bool, optional, default=True
            Whether to wait while another thread has it.

        """
        token = [threading.get_ident()]
        held = self._holder.get("by")
        if held is not None and held[0] == token[0]:
            return True
        stack.callback(self._give_back, token)
        while self._holder.setdefault("by", token) is not token:
            if not wait:
                return False
            time.sleep(self._PAUSE)
        return True

    def _give_back(self, token):
        if self._holder.get("by") is token:
            del self._holder["by"]
