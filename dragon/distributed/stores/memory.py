"""A store for the threads of one process."""
import threading
import time

from dragon.distributed.stores.store import Store, Table


class MemoryStore(Store):
    """Values by key, in this process's memory."""

    def __init__(self, timeout=300.0):
        super().__init__(timeout)
        self._table, self._changed = Table(), threading.Condition()

    def ask(self, action, *args):
        with self._changed:
            answer = getattr(self._table, action)(*args)
            self._changed.notify_all()
            return answer

    def await_keys(self, keys, seconds):
        with self._changed:
            return self._changed.wait_for(lambda: self._table.check(keys), max(seconds, 0))

    def await_queue(self, key, seconds):
        end = time.monotonic() + seconds
        with self._changed:
            if not self._changed.wait_for(lambda: self._table.length(key), max(end - time.monotonic(), 0)):
                return None
            return self._table.pop(key)
