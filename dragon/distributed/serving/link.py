"""A way to ask a process that serves."""
import pickle
import threading
import time

from dragon.distributed.errors import DistributedError
from dragon.distributed.serving.connection import connect, end

PAUSE_SECONDS = 0.05


class LinkError(DistributedError):
    """The other process has gone, or does not answer."""

    def __init__(self, name, reason):
        super().__init__(f"cluster: got no answer of {name} ({reason}), expected its process to be there")
        self.name, self.reason = name, reason

    def __reduce__(self):
        return LinkError, (self.name, self.reason)


class Link:
    """One connection; one question at a time.

    Parameters
    ----------
    address : str
        Where the other process is.
    name : str
        How errors call it.
    seconds : float, optional, default=30
        How long to try to connect.

    """

    def __init__(self, address, name, seconds=30.0):
        self.address, self.name, self._lock, self._connection = address, name, threading.Lock(), None
        end = time.monotonic() + seconds
        while self._connection is None:
            try:
                self._connection = connect(address, max(end - time.monotonic(), 0.1), name)
            except OSError as error:
                if time.monotonic() > end:
                    raise LinkError(f"{name} at {address}", f"{error} for {seconds:g} seconds") from None
                time.sleep(PAUSE_SECONDS)

    def ask(self, action, *args):
        """Return what a method of the other process returns; raise what it raises."""
        with self._lock:
            if self._connection is None:
                raise LinkError(f"{self.name} at {self.address}", "the connection was closed")
            try:
                self._connection.send_bytes(pickle.dumps((action, args), pickle.HIGHEST_PROTOCOL))
                good, value = pickle.loads(self._connection.recv_bytes())
            except (OSError, EOFError) as error:
                self._close()
                reason = str(error) or "the connection has ended"
                raise LinkError(f"{self.name} at {self.address}", reason) from None
        if not good:
            raise value
        return value

    def _close(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def close(self):
        """Ask nothing any more; what is being asked gets an error."""
        connection = self._connection
        if connection is not None:
            end(connection)
