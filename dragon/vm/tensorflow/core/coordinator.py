"""`tf.train.Coordinator`: threads that stop together."""
import sys
import threading
import time

from dragon.core.scopes import contextmanager


class Coordinator:
    """Have several threads stop together, and tell what stopped them.

    Parameters
    ----------
    clean_stop_exception_types : Sequence[type], optional
        Errors that mean that there is nothing left to do; by default `tf.errors.OutOfRangeError`.

    """

    def __init__(self, clean_stop_exception_types=None):
        from dragon.vm.shared.errors import OutOfRangeError
        self._clean = (OutOfRangeError,) if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        self._lock, self._stopped, self._error = threading.Lock(), threading.Event(), None
        self._registered, self._joined = [], False

    joined = property(lambda self: self._joined, doc="bool: whether all threads have ended.")

    def register_thread(self, thread):
        """Wait for a thread in `join`."""
        with self._lock:
            self._registered.append(thread)

    def request_stop(self, ex=None):
        """Have the threads stop, because of an error or of `sys.exc_info()` if there is one."""
        with self._lock:
            error = ex[1] if isinstance(ex, tuple) else ex
            if error is not None and self._error is None and not isinstance(error, self._clean):
                self._error = error
            self._stopped.set()

    def clear_stop(self):
        """Go on."""
        with self._lock:
            self._joined, self._error = False, None
            self._stopped.clear()

    def should_stop(self):
        """Return whether the threads are to stop."""
        return self._stopped.is_set()

    def wait_for_stop(self, timeout=None):
        """Wait until the threads are to stop; returns whether they are."""
        return self._stopped.wait(timeout)

    @contextmanager
    def stop_on_exception(self):
        """Have the threads stop when a `with` block raises, which is told by `join`."""
        try:
            yield
        except Exception:
            self.request_stop(sys.exc_info())

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Wait for the threads; raises what stopped them.

        Parameters
        ----------
        threads : Sequence[threading.Thread], optional
            Beside those that are registered.
        stop_grace_period_secs : float, optional, default=120
            How long they have once they are to stop.
        ignore_live_threads : bool, optional, default=False
            Whether threads that go on after that are no error.

        """
        waited = [*self._registered, *(one for one in threads or () if one not in self._registered)]
        while any(one.is_alive() for one in waited) and not self._stopped.wait(0.05):
            pass
        until = time.monotonic() + stop_grace_period_secs
        for one in waited:
            one.join(max(until - time.monotonic(), 0))
        self._joined, self._registered = True, []
        if self._error is not None:
            raise self._error
        left = [one.name for one in waited if one.is_alive()]
        if left and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(left)}")

    def raise_requested_exception(self):
        """Raise what stopped the threads, if it was an error."""
        if self._error is not None:
            raise self._error
