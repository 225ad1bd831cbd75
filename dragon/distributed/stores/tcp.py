"""A store that one process keeps and all reach through a port."""
import os
import socket
import threading
import time

from dragon.distributed.errors import StoreError, StoreTimeout
from dragon.distributed.stores.server import Server
from dragon.distributed.stores.store import Store
from dragon.distributed.stores.wire import GREETING, LENGTH, frame, unpack

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.005, 0.5
GRACE_SECONDS = 10.0  # for an answer to come beyond the time that was asked for


class TCPStore(Store):
    """Values by key, kept by one process.

    Parameters
    ----------
    host : str
        The machine of the process that keeps them.
    port : int
        Its port; 0 there for any that is free.
    keeps : bool, optional, default=False
        Whether this process is the one that keeps them.
    timeout : float, optional, default=300
        Seconds to wait for the keeper, and for values.
    listener : socket.socket, optional
        A socket that listens already, in place of the port.

    """

    def __init__(self, host, port, keeps=False, timeout=300.0, listener=None):
        super().__init__(timeout)
        self.host, self.port, self._server, self._connection = host, int(port), None, None
        self._lock = threading.Lock()
        if not 0 <= self.port < 1 << 16 or (self.port == 0 and not keeps):
            raise ValueError(f"TCPStore: got port {port}, expected 1 to 65535" + (", or 0 for any" if keeps else ""))
        if keeps:
            listener = self._listen() if listener is None else listener
            self.port = listener.getsockname()[1]
            self._server = Server(listener)
        self._connection, self._process = self._connect(), os.getpid()

    def _listen(self):
        dual = socket.has_dualstack_ipv6()  # both kinds of addresses, where the machine has both
        try:
            return socket.create_server(("", self.port), family=socket.AF_INET6 if dual else socket.AF_INET,
                                        backlog=1024, dualstack_ipv6=dual, reuse_port=False)
        except OSError as error:
            raise StoreError(f"TCPStore: got port {self.port}, which cannot be listened to "
                             f"({error.strerror or error}), expected a free one; another program may have it, or one "
                             "of an earlier run") from None

    def _connect(self):
        end, pause, problem = time.monotonic() + self.timeout, FIRST_PAUSE_SECONDS, None
        host = "localhost" if self._server is not None else self.host
        while True:
            left = end - time.monotonic()
            try:
                connection = socket.create_connection((host, self.port), timeout=max(left, 0.01))
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.sendall(GREETING)
                return connection
            except OSError as error:
                problem = error
            if time.monotonic() + pause > end:
                raise StoreTimeout(f"TCPStore: got no answer of {self.host}:{self.port} within {self.timeout:g} "
                                   f"seconds ({problem}), expected the process that keeps the store, of rank 0")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def ask(self, action, *args):
        return self._ask([action, *args], self.timeout)

    def await_keys(self, keys, seconds):
        return self._ask(["await_keys", list(keys), float(seconds)], seconds)

    def await_queue(self, key, seconds):
        return self._ask(["await_queue", key, float(seconds)], seconds)

    def _leave_to_parent(self):
        """Have a connection of its own in a process that was forked: in the other one words of both would mix."""
        self._lock, self._server, self._process = threading.Lock(), None, os.getpid()  # another thread may have held it
        if self._connection is not None:
            self._connection.close()
            self._connection = self._connect()

    def _ask(self, question, seconds):
        if self._process != os.getpid():
            self._leave_to_parent()
        with self._lock:
            connection = self._connection
            if connection is None:
                raise StoreError("TCPStore: got a question after the store was closed, or its keeper had gone, "
                                 "expected none")
            try:
                connection.settimeout(seconds + GRACE_SECONDS)
                connection.sendall(frame(question))
                (length,) = LENGTH.unpack(self._read(connection, LENGTH.size))
                answer = unpack(self._read(connection, length))
            except BaseException as error:
                # Half an answer may be on its way: nothing can be asked through this connection any more.
                self._connection = None
                connection.close()
                if isinstance(error, OSError):
                    raise StoreError(f"TCPStore: got {error} from {self.host}:{self.port}, expected an answer; the "
                                     "process that keeps the store, of rank 0, may have ended") from None
                raise
        good, value = answer
        if not good:
            raise StoreError(value)
        return value

    @staticmethod
    def _read(connection, count):
        data = bytearray()
        while len(data) < count:
            part = connection.recv(count - len(data))
            if not part:
                raise ConnectionResetError("the end of the connection")
            data += part
        return bytes(data)

    def close(self):
        """Leave the store; where it is kept, end it."""
        if self._process != os.getpid():
            return  # a fork of the process, whose store it is
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()
        if self._server is not None:
            self._server.close()

    def __del__(self):
        if hasattr(self, "_process"):
            self.close()
