"""Questions to the process that keeps a key, and its answers."""
import pickle
import threading

from dragon import ops
from dragon.core import groups, modes
from dragon.distributed.errors import DistributedError
from dragon.tensor import tensor

FOR_EVER = 1e9
ANYBODY = -1
QUESTION, QUESTION_BODY, ANSWER, ANSWER_BODY = 1, 2, 3, 4  # tags
END = "end"


def _send(group, rank, tag, value):
    """Send an object: how many bytes it has, and these."""
    import numpy
    data = tensor(numpy.frombuffer(pickle.dumps(value), numpy.uint8).copy())
    sent = [group.post(tensor([len(data)]), rank, tag, True), group.post(data, rank, tag + 1, True)]
    for message in sent:
        message.wait(FOR_EVER)


def _receive(group, rank, tag):
    """Return whose object came, and the object."""
    import numpy
    count = ops.full((1,), 0, dtype="int64")
    message = group.post(count, rank, tag, False)
    message.wait(FOR_EVER)
    data = ops.full((int(count[0]),), 0, dtype="uint8")
    group.post(data, message.rank, tag + 1, False).wait(FOR_EVER)
    return message.rank, pickle.loads(numpy.asarray(data).tobytes())


class Server:
    """A thread that answers what all processes ask about the keys that this one keeps.

    Parameters
    ----------
    group : ProcessGroup
        The processes.
    kept : Keeper
        The keys.

    """

    def __init__(self, group, kept):
        self._group, self._kept, self.lock = group, kept, threading.Lock()
        self._thread = threading.Thread(target=self._run, name="dragon kvstore", daemon=True)
        self._thread.start()

    def _run(self):
        modes.set_recording(False)
        try:
            while True:
                rank, (action, *args) = _receive(self._group, ANYBODY, QUESTION)
                if action == END:
                    return
                _send(self._group, rank, ANSWER, self._answer(action, args))
        except DistributedError as error:  # one of the processes has ended: nobody shall wait for this thread
            groups.give_up(self._group.number, f"the thread that keeps its values has ended ({error})")

    def _answer(self, action, args):
        try:
            with self.lock:
                return True, getattr(self._kept, action)(*args)
        except Exception as error:  # it belongs to who asked
            try:
                pickle.dumps(error)
            except Exception:
                error = RuntimeError(f"{type(error).__name__}: {error}")
            return False, error

    def ask(self, action, args):
        """Return the answer to this process's own question."""
        good, value = self._answer(action, args)
        if not good:
            raise value
        return value

    def end(self):
        """End the thread."""
        _send(self._group, self._group.rank, QUESTION, (END,))
        self._thread.join(5.0)


class Client:
    """Ask the processes that keep keys, one question after the other.

    Parameters
    ----------
    group : ProcessGroup
        The processes.
    server : Server
        Who answers for this process.

    """

    def __init__(self, group, server):
        self._group, self._server, self._lock = group, server, threading.Lock()

    def ask(self, rank, action, *args):
        """Return what a process answers; raise what it raised."""
        if rank == self._group.rank:
            return self._server.ask(action, args)
        with self._lock:
            _send(self._group, rank, QUESTION, (action, *args))
            good, value = _receive(self._group, rank, ANSWER)[1]
        if not good:
            raise value
        return value
