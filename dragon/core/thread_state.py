"""State that each thread has for itself: flags and stacks of `with` blocks that are open."""
import contextlib
import threading


class ThreadFlag(threading.local):
    """A flag that is off in every thread until that thread sets it."""

    on = False

    @contextlib.contextmanager
    def set(self):
        """Have the flag on within a `with` block, for this thread."""
        before, self.on = self.on, True
        try:
            yield
        finally:
            self.on = before


class ThreadStack(threading.local):
    """A stack that is empty in every thread until that thread pushes something."""

    def __init__(self):
        self.items = []

    def __bool__(self):
        return bool(self.items)

    top = property(lambda self: self.items[-1] if self.items else None, doc="Any: what was pushed last, or None.")

    def push(self, item):
        """Put something on top."""
        self.items.append(item)

    def pop(self):
        """Take what is on top, and return it."""
        return self.items.pop()
