"""Who tells processes of each other that begin MPI together though no `mpirun` has started them.

MPICH and its relatives ask a process manager in lines of words: how many they are, which one each is, and what the
others have said of how they are reached. Here the first of the processes has such a manager beside it, as a process of
its own: a thread could not answer, since Python waits while MPI begins. This file needs nothing but Python.
"""
import os
import select
import selectors
import socket
import subprocess
import sys
import threading
import time

VALUES_BYTES = 1024  # the longest value that is told
SAY_SECONDS = 2.0  # for a line to be taken
LOOK_SECONDS = 1.0  # between looks at whether anybody is left
_ANSWERS = {
    "init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
    "get_maxes": f"cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max={VALUES_BYTES}",
    "get_appnum": "cmd=appnum rc=0 appnum=0",
    "get_my_kvsname": "cmd=my_kvsname rc=0 kvsname={token}",
    "get_universe_size": "cmd=universe_size rc=0 size={size}",
    "put": "cmd=put_result rc=0 msg=success",
    "finalize": "cmd=finalize_ack rc=0",
}


def words_of(line):
    """Return what a line says, by word; a value may have spaces in it, and is the last."""
    head, mark, value = line.partition(" value=")
    words = dict(word.partition("=")[::2] for word in head.split())
    return {**words, "value": value} if mark else words


class _Client:
    """One connection: a process that begins MPI, or one that wants to know who leaves."""

    def __init__(self, connection):
        self.connection, self.read, self.rank = connection, b"", None
        self.waits = self.watches = self.meets = self.is_member = self.has_ended = self.is_deaf = False
        connection.settimeout(SAY_SECONDS)

    def say(self, line):
        if self.is_deaf:
            return
        try:
            self.connection.sendall(line.encode() + b"\n")
        except OSError:  # who does not read holds nobody else up
            self.is_deaf = True


class Introducer:
    """A process manager of MPI for processes that are there already.

    Parameters
    ----------
    size : int
        How many there are.
    token : str
        What those say who want to know who leaves, lest somebody else's program is taken for this one.

    """

    def __init__(self, size, token):
        self.size, self.token, self.values, self.gone = size, token, {}, []
        self._members = set()  # the ranks that have begun MPI
        self._clients, self._selector = [], selectors.DefaultSelector()
        self._listener = socket.create_server(("", 0), backlog=1024)
        self.port = self._listener.getsockname()[1]
        self._selector.register(self._listener, selectors.EVENT_READ, None)

    def serve(self):
        """Answer until all have left, or nobody has come though who started this has ended."""
        parent = os.getppid()
        while True:
            for key, _ in self._selector.select(LOOK_SECONDS):
                if key.data is None:
                    client = _Client(self._listener.accept()[0])
                    self._clients.append(client)
                    self._selector.register(client.connection, selectors.EVENT_READ, client)
                else:
                    self._read(key.data)
            if not self._clients and (self._members or os.getppid() != parent):
                return

    def _read(self, client):
        try:
            came = client.connection.recv(1 << 16)
        except OSError:
            came = b""
        if not came or len(client.read) > 64 * VALUES_BYTES:
            return self._leave(client)
        *lines, client.read = (client.read + came).split(b"\n")
        for line in lines:
            self._answer(client, words_of(line.decode(errors="replace").strip()))
        if client.is_deaf:
            self._leave(client)

    def _leave(self, client):
        self._selector.unregister(client.connection)
        client.connection.close()
        self._clients.remove(client)
        if client.is_member and not client.has_ended or client.watches and self._is_early(client.rank):
            self.gone.append(client.rank)
            for other in self._clients:
                if other.watches:
                    other.say(f"cmd=gone rank={client.rank}")
        self._let_through()  # those who are left need not wait for it

    def _answer(self, client, words):
        command = words.get("cmd")
        if command == "initack":
            number = words.get("pmiid", "")
            if not number.isdecimal() or int(number) >= self.size:
                return client.say("cmd=initack rc=-1")
            client.rank, client.is_member = int(number), True
            self._members.add(client.rank)
            for line in ("cmd=initack rc=0", f"cmd=set size={self.size}", f"cmd=set rank={client.rank}",
                         "cmd=set debug=0"):
                client.say(line)
        elif command == "watch":
            client.watches, number = words.get("token") == self.token, words.get("rank", "")
            client.rank = int(number) if number.isdecimal() and int(number) < self.size else None
            client.say(f"cmd=watching known={int(client.watches)}")
            for rank in self.gone:
                client.say(f"cmd=gone rank={rank}")
        elif command == "meet" and client.watches:
            client.meets = True
            self._tell_whether_all_have_met()
        elif command == "get":
            value = self.values.get(words.get("key"))
            client.say("cmd=get_result rc=-1 msg=key_not_found value=unknown" if value is None
                       else f"cmd=get_result rc=0 msg=success value={value}")
        elif command == "barrier_in":
            client.waits = True
            self._let_through()
        elif command in _ANSWERS:
            if command == "put":
                self.values[words.get("key")] = words.get("value", "")
            client.has_ended = command == "finalize"
            client.say(_ANSWERS[command].format(size=self.size, token=self.token))
        elif command is not None:
            client.say(f"cmd={command}_result rc=-1 msg=not_known")

    def _is_early(self, rank):
        """Return whether a rank is one that has not begun MPI, nor gone."""
        return rank is not None and rank not in self._members and rank not in self.gone

    def _tell_whether_all_have_met(self):
        there = [client for client in self._clients if client.meets]
        if len({client.rank for client in there} - {None}) == self.size:
            for client in there:
                client.say("cmd=met")

    def _let_through(self):
        """Answer those who wait for all, once all have come that are still there."""
        there = [client for client in self._clients if client.is_member and not client.has_ended]
        if len(there) + len(self.gone) >= self.size and all(client.waits for client in there):
            for client in there:
                client.waits = False
                client.say("cmd=barrier_out rc=0")


def start(size, token):
    """Start an introducer beside this process; return it and its port.

    Parameters
    ----------
    size : int
        How many processes begin MPI.
    token : str
        What those say who want to know who leaves.

    Returns
    -------
    Tuple[subprocess.Popen, int]
        The process, which ends when all others have, and its port.

    """
    process = subprocess.Popen([sys.executable, "-I", "-S", __file__, str(size), token], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, start_new_session=True)
    line = process.stdout.readline()
    process.stdout.close()
    if not line:
        raise ChildProcessError(f"introducer: got a process that ended with {process.wait()}, expected one that "
                                "listens")
    return process, int(line)


class Watch:
    """A connection that tells who has left without a word.

    Parameters
    ----------
    host : str
        Where the introducer may be.
    port : int
        Its port.
    token : str
        What it knows this program by.
    seconds : float, optional, default=3
        How long to try.
    rank : int, optional
        This process's number, if it is to begin MPI: it has gone where it leaves before.

    """

    def __init__(self, host, port, token, seconds=3.0, rank=None):
        self.host, self._read, self._gone, self._has_met = host, b"", {}, False
        self._lock = threading.Lock()
        self._connection = socket.create_connection((host, port), seconds)
        try:
            own = "" if rank is None else f" rank={rank}"
            self._connection.sendall(f"cmd=watch token={token}{own}\n".encode())
            while b"\n" not in self._read:
                came = self._connection.recv(1 << 12)
                if not came:
                    raise ConnectionError("the connection was closed")
                self._read += came
            line, self._read = self._read.split(b"\n", 1)
            if words_of(line.decode()).get("known") != "1":
                raise ConnectionError("another program listens there")
        except OSError:
            self._connection.close()
            raise
        self._connection.setblocking(False)

    def meet(self, seconds):
        """Return whether all processes have come here; not where one has gone, or is not here after some seconds.

        Negative seconds are no limit.
        """
        end = time.monotonic() + seconds if seconds >= 0 else float("inf")
        try:
            self._connection.sendall(b"cmd=meet\n")
        except OSError:  # the introducer has gone, which is told as one of them
            return False
        poll = select.poll()  # which takes any number of open files
        poll.register(self._connection, select.POLLIN)
        while not self.gone() and not self._has_met and time.monotonic() < end:
            poll.poll(1000 * min(LOOK_SECONDS, max(end - time.monotonic(), 0)))
        return self._has_met

    def gone(self):
        """Return the ranks that have left, in that order; rank 0 where the introducer has gone with it.

        Threads may ask at once.
        """
        with self._lock:
            self._hear()
            return list(self._gone)

    def _hear(self):
        try:
            while came := self._connection.recv(1 << 12):
                self._read += came
            self._gone.setdefault(0)
        except BlockingIOError:
            pass
        except OSError:
            self._gone.setdefault(0)
        *lines, self._read = self._read.split(b"\n")
        for line in lines:
            if b"cmd=gone" in line:
                self._gone.setdefault(int(words_of(line.decode())["rank"]))
            self._has_met |= line == b"cmd=met"

    def close(self):
        """Leave: a process that has not begun MPI is gone then."""
        self._connection.close()


if __name__ == "__main__":
    introducer = Introducer(int(sys.argv[1]), sys.argv[2])
    print(introducer.port, flush=True)
    introducer.serve()
