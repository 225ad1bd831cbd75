"""A port, and a thread for each connection to it that answers questions."""
import contextlib
import pickle
import socket
import threading
import traceback

from dragon.distributed.errors import DistributedError
from dragon.distributed.serving.connection import accept, end, split_address


class Service:
    """Answer what others ask.

    Parameters
    ----------
    address : str
        Where: a host and a port. One that is this machine's own name for itself is not seen by others.
    begin : Callable[[], object]
        Called for each connection: returns the object whose methods are asked for, by names that do not begin with "_",
        and whose `_close` is called at the end.

    """

    def __init__(self, address, begin):
        host, port = split_address(address, "cluster")
        self.address, self._begin, self._open, self._lock = address, begin, set(), threading.Lock()
        is_local = host in ("localhost", "127.0.0.1", "::1")
        try:
            self._socket = socket.create_server(("127.0.0.1" if is_local else "", port), backlog=64)
        except OSError as error:
            raise DistributedError(f"cluster: got the address {address!r}, which cannot be listened to "
                                   f"({error.strerror or error}), expected a free port") from None
        self.ended = threading.Event()
        threading.Thread(target=self._accept, name="dragon service", daemon=True).start()

    def _accept(self):
        while not self.ended.is_set():
            try:
                found, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(found,), name="dragon service", daemon=True).start()

    def _serve(self, found):
        try:
            connection = accept(found)
        except (DistributedError, OSError):  # who knows no key is told nothing
            return
        with self._lock:
            self._open.add(connection)
        served = self._begin()
        try:
            while True:
                name, args = pickle.loads(connection.recv_bytes())
                connection.send_bytes(answer(served, name, args))
        except (OSError, EOFError):
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            served._close()
            connection.close()

    def close(self):
        """Answer nobody any more."""
        self.ended.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # which wakes who waits for the next one
        self._socket.close()
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            end(connection)


def answer(served, name, args):
    """Return, as bytes, what a method of an object returns, or what it raised."""
    try:
        if name.startswith("_"):
            raise AttributeError(f"cluster: got a question for {name!r}, expected a public name")
        return pickle.dumps((True, getattr(served, name)(*args)), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # it belongs to who asked
        return pickle.dumps((False, carried(error)), pickle.HIGHEST_PROTOCOL)


def carried(error):
    """Return an error as it can be sent, with where it happened in a note."""
    text = "".join(traceback.format_exception(error))
    try:
        again = pickle.loads(pickle.dumps(error))
        if type(again) is not type(error) or str(again) != str(error):
            raise ValueError
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.__traceback__ = error.__context__ = error.__cause__ = None
    error.add_note(f"At the other end:\n{text}")
    return error
