"""Values that come later: `torch.futures`."""
import threading
import types

from dragon.distributed.work import wait_for


class Future:
    """A value, or an error, that somebody sets once.

    Parameters
    ----------
    devices : Sequence, optional
        Accelerators on which the value is made; there are none.

    """

    # Annotations say `Future[int]`.
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, *, devices=None):
        if devices:
            raise ValueError(f"Future: got devices {devices!r}, expected none: there is no accelerator")
        self._event, self._lock = threading.Event(), threading.Lock()
        self._value = self._error = None
        self._callbacks = []

    def done(self):
        """Return whether the value is there."""
        return self._event.is_set()

    def wait(self):
        """Return the value, when it is there; raise if it is an error."""
        wait_for(self._event)
        return self.value()

    def value(self):
        """Return the value, which must be there; raise if it is an error."""
        if not self.done():
            raise RuntimeError("Future: got no value yet, expected one; use wait()")
        if self._error is not None:
            raise self._error
        return self._value

    def _settle(self, value, error):
        with self._lock:
            if self.done():
                raise RuntimeError("Future can only be marked completed once")
            self._value, self._error = value, error
            self._event.set()
        for callback in self._callbacks:
            callback(self)

    def set_result(self, result):
        """Set the value."""
        self._settle(result, None)

    def set_exception(self, result):
        """Set the error that waiting raises."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._settle(None, result)

    def add_done_callback(self, callback):
        """Call a function of this future when it is done; now, if it is."""
        with self._lock:
            if not self.done():
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback):
        """Return a future of what a function returns for this one when it is done."""
        after = Future()

        def go_on(done):
            try:
                after.set_result(callback(done))
            except Exception as error:
                after.set_exception(error)
        self.add_done_callback(go_on)
        return after


def collect_all(futures):
    """Return a future of the list of futures, done when all of them are."""
    together, left = Future(), len(futures)
    lock = threading.Lock()

    def count(_):
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            together.set_result(list(futures))
    if not futures:
        together.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return together


def wait_all(futures):
    """Return the values of futures when all are there."""
    return [future.wait() for future in collect_all(futures).wait()]
