"""The table of a store behind a port, which one thread serves."""
import math
import selectors
import socket
import threading
import time

from dragon.distributed.errors import StoreError
from dragon.distributed.stores.store import Table
from dragon.distributed.stores.wire import GREETING, LENGTH, MOST_BYTES, frame, unpack

ACTIONS = {name for name in vars(Table) if not name.startswith("_")}
READ_BYTES = 1 << 16
IDLE_SECONDS = 3600.0


class Client:
    """One connection: what has come of its next question, and what it still has to be sent."""

    def __init__(self, connection):
        self.connection, self.incoming, self.outgoing = connection, bytearray(), bytearray()
        self.greeted = False
        self.awaiting = None  # (keys, or the key of a queue; whether it is a queue; when to give up)

    def questions(self):
        """Yield the questions that have come whole."""
        if not self.greeted:
            begin = bytes(self.incoming[:len(GREETING)])
            if not GREETING.startswith(begin):
                raise StoreError(f"store: got {begin!r}, expected the greeting of a process of this version")
            if begin != GREETING:
                return
            del self.incoming[:len(GREETING)]
            self.greeted = True
        while len(self.incoming) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self.incoming)
            if length > MOST_BYTES:
                raise StoreError(f"store: got a question of {length} bytes, expected at most {MOST_BYTES}")
            if len(self.incoming) < LENGTH.size + length:
                return
            question = bytes(self.incoming[LENGTH.size:LENGTH.size + length])
            del self.incoming[:LENGTH.size + length]
            yield unpack(question)


class Server:
    """Answer the questions of all processes.

    Parameters
    ----------
    listener : socket.socket
        A socket that listens.

    """

    def __init__(self, listener):
        self.table, self._listener = Table(), listener
        self._selector = selectors.DefaultSelector()
        listener.setblocking(False)
        self._bell, self._ring = socket.socketpair()
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._clients, self._ending = {}, False
        self._thread = threading.Thread(target=self._run, name="dragon store", daemon=True)
        self._thread.start()

    def close(self):
        """Hang up on everybody."""
        self._ending = True
        try:
            self._ring.send(b"!")
        except OSError:
            return
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self):
        while not self._ending:
            for key, events in self._selector.select(self._patience()):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.data is not None:
                    self._serve(key.data, events)
            self._end_waits()
        for client in list(self._clients.values()):
            self._hang_up(client)
        for each in (self._listener, self._bell, self._ring, self._selector):
            each.close()

    def _patience(self):
        ends = [client.awaiting[2] for client in self._clients.values() if client.awaiting]
        # A wait that is as good as endless is more than the selector takes.
        return min(max(min(ends, default=math.inf) - time.monotonic(), 0), IDLE_SECONDS)

    def _accept(self):
        try:
            connection, _ = self._listener.accept()
        except OSError:  # it has gone again, or there are too many
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = self._clients[connection] = Client(connection)
        self._selector.register(connection, selectors.EVENT_READ, client)

    def _hang_up(self, client):
        if self._clients.pop(client.connection, None) is not None:
            self._selector.unregister(client.connection)
            client.connection.close()

    def _serve(self, client, events):
        try:
            if events & selectors.EVENT_READ:
                data = client.connection.recv(READ_BYTES)
                if not data:
                    return self._hang_up(client)
                client.incoming += data
                for question in client.questions():
                    self._answer(client, question)
            self._flush(client)
        except BlockingIOError:
            pass
        except (OSError, StoreError):  # it has gone, or is no process of ours
            self._hang_up(client)

    def _answer(self, client, question):
        if not isinstance(question, list) or not question:
            raise StoreError(f"store: got the question {question!r}, expected a list")
        action, *args = question
        if action in ("await_keys", "await_queue"):
            (wanted, seconds) = args
            client.awaiting = wanted, action == "await_queue", time.monotonic() + float(seconds)
            return
        if action not in ACTIONS:
            raise StoreError(f"store: got the question {action!r}, expected one of {sorted(ACTIONS)}")
        try:
            answer = [True, getattr(self.table, action)(*args)]
        except (StoreError, KeyError, TypeError, ValueError) as error:
            answer = [False, str(error)]
        client.outgoing += frame(answer)

    def _end_waits(self):
        """Answer those whose wait is over, by what has come or by the clock."""
        now = time.monotonic()
        for client in list(self._clients.values()):
            if client.awaiting is None:
                continue
            wanted, is_queue, end = client.awaiting
            if is_queue:
                answer = self.table.pop(wanted) if self.table.length(wanted) else None
                over = answer is not None
            else:
                over = answer = self.table.check(wanted)
            if over or now >= end:
                client.awaiting = None
                client.outgoing += frame([True, answer])
                try:
                    self._flush(client)
                except OSError:
                    self._hang_up(client)

    def _flush(self, client):
        while client.outgoing:
            try:
                sent = client.connection.send(client.outgoing)
            except BlockingIOError:
                break
            del client.outgoing[:sent]
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.outgoing else 0)
        self._selector.modify(client.connection, wanted, client)
