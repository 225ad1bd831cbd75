"""Worker processes that answer tasks: each has a pipe to it and one from it, so none can block another.

A worker notices the end of its parent, and the wish to stop, by its task pipe hanging up; the parent notices the end
of a worker by its sentinel. No queue is shared, hence a killed worker holds no lock that others wait for.
"""
import multiprocessing
import os
import select
import signal
import struct
import time
import weakref
from collections import deque

from dragon.core import config
from dragon.io.block import Arena, Mailbox, set_current_arena
from dragon.io.failure import Failure
from dragon.io.parcel import pack, unpack

PATIENCE_SECONDS = 5.0  # for a worker to finish what it is at when asked to stop
_pools = weakref.WeakSet()


class WorkerDied(RuntimeError):
    """A worker process ended before its work did."""

    def __init__(self, name, process):
        code = process.exitcode
        how = (f"is killed by signal: {signal.strsignal(-code)} ({signal.Signals(-code).name})."
               if code is not None and code < 0 else f"exited unexpectedly with exit code {code}.")
        super().__init__(f"{name} worker (pid {process.pid}) {how}")
        self.pid = process.pid


class Worker:
    """The parent's side of one process."""

    def __init__(self, index, start, context, name):
        task_reader, self.tasks = context.Pipe(duplex=False)
        self.results, result_writer = context.Pipe(duplex=False)
        # Never wait while writing: the worker may be waiting to write to us.
        os.set_blocking(self.tasks.fileno(), False)
        self.outbox, self.arena = deque(), Arena()
        self.index, self.hung_up = index, False
        self.process = context.Process(target=serve, args=(start, index, task_reader, result_writer, name),
                                       daemon=True)
        _starting.append(self)
        try:
            self.process.start()
        finally:
            _starting.remove(self)
        task_reader.close()
        result_writer.close()

    def post(self, message):
        """Queue bytes for the worker and write what its pipe takes."""
        self.outbox.append(memoryview(struct.pack("!i", len(message)) + message))
        self.flush()

    def flush(self):
        """Write what the pipe takes now."""
        while self.outbox:
            try:
                written = os.write(self.tasks.fileno(), self.outbox[0])
            except BlockingIOError:
                return
            except BrokenPipeError:
                self.outbox.clear()  # it died; whoever waits for it will be told
                return
            rest = self.outbox[0][written:]
            if rest:
                self.outbox[0] = rest
            else:
                self.outbox.popleft()

    def hang_up(self):
        """Ask the worker to stop after what it is at."""
        if not self.hung_up:
            self.hung_up = True
            self.outbox.clear()
            self.tasks.close()

    def leave(self):
        """Close this side's ends, in a child that inherited them."""
        for end in (self.tasks, self.results):
            if not end.closed:
                end.close()


_starting = []


class WorkerPool:
    """Processes that answer tasks.

    Parameters
    ----------
    count : int
        How many processes.
    start : Callable[[int], Callable]
        Called in each worker with its number; what it returns is called with every task. With the "spawn" and
        "forkserver" methods it is pickled.
    context : multiprocessing.context.BaseContext, optional
        How processes are started; the platform's way by default.
    name : str, optional, default="io"
        What messages call the workers' owner.

    """

    def __init__(self, count, start, context=None, name="io"):
        self.name, self._owner, self.closed = name, os.getpid(), False
        self._mailbox = Mailbox()
        self.workers = []
        _pools.add(self)
        self._finalize = weakref.finalize(self, _stop, self.workers, self._owner)
        context = context or multiprocessing.get_context()
        try:
            for index in range(count):
                self.workers.append(Worker(index, start, context, name))
        except BaseException:
            self.close()
            raise

    def put(self, worker, key, task):
        """Give a worker a task; its answer will come with the key."""
        self._mailbox.settle()
        self.workers[worker].post(pack((key, task), self.workers[worker].arena))

    def stop(self, worker):
        """Let one worker end when it is done with what it has begun."""
        self.workers[worker].hang_up()

    def get(self, timeout=None):
        """Return (worker, key, answer) of the next answer of any worker.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait before TimeoutError; for ever by default.

        Returns
        -------
        tuple
            The worker's number, the key of its task, and what it returned or a `Failure`.

        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            for worker in self._ready(left):
                try:
                    message = worker.results.recv_bytes()
                except (EOFError, OSError):
                    worker.results.close()
                    worker.process.join(PATIENCE_SECONDS)
                    if worker.hung_up:
                        continue
                    raise WorkerDied(self.name, worker.process) from None
                try:
                    key, answer = unpack(message, self._mailbox)
                except (FileNotFoundError, ProcessLookupError):
                    # What it had sent went with it.
                    worker.process.join(PATIENCE_SECONDS)
                    raise WorkerDied(self.name, worker.process) from None
                return worker.index, key, answer
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"{self.name}: got no answer within {timeout} seconds, expected one")

    def _ready(self, timeout):
        """Wait until workers have something to read, or have ended; write to others meanwhile."""
        poller, by_descriptor = select.poll(), {}
        for worker in self.workers:
            if not worker.results.closed:
                by_descriptor[worker.results.fileno()] = worker
                poller.register(worker.results.fileno(), select.POLLIN)
            if worker.outbox:
                by_descriptor[worker.tasks.fileno()] = worker
                poller.register(worker.tasks.fileno(), select.POLLOUT)
        ready = []
        for descriptor, event in poller.poll(None if timeout is None else timeout * 1000):
            worker = by_descriptor[descriptor]
            if not worker.results.closed and descriptor == worker.results.fileno():
                ready.append(worker)
            else:
                worker.flush()
        return ready

    def close(self):
        """End all workers: politely, then by force."""
        self.closed = True
        self._finalize()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _stop(workers, owner):
    """End workers; one that is asked to and does not come back in time is terminated."""
    if os.getpid() != owner:
        return
    for worker in workers:
        worker.hang_up()
        worker.results.close()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for worker in workers:
        worker.process.join(max(deadline - time.monotonic(), 0.1))
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join(1)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _leave_in_child():
    """Close, in a forked child, the ends that belong to the parent: a pipe ends when its last holder is gone."""
    for worker in list(_starting) + [worker for pool in _pools for worker in pool.workers]:
        worker.leave()


os.register_at_fork(after_in_child=_leave_in_child)


def has_hung_up(connection, wait):
    """Return whether the writers of a pipe are gone; optionally wait until they are or there is something to read."""
    poller = select.poll()
    poller.register(connection.fileno(), select.POLLIN)
    events = poller.poll(None if wait else 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in events)


def serve(start, index, tasks, results, name):
    """Answer tasks until the parent hangs up; what runs in a worker."""
    try:
        config.set_num_threads(1)  # as many processes as there are cores should not each use all of them
        arena, mailbox = Arena(), Mailbox()
        set_current_arena(arena)
        where = f"in {name} worker process {index}"
        answer = attempt(where, start, index)
        broken = answer if isinstance(answer, Failure) else None
        while not has_hung_up(tasks, wait=True):
            key, task = unpack(tasks.recv_bytes(), mailbox)
            result = broken or attempt(where, answer, task)
            try:
                message = pack((key, result), arena)
            except Exception:
                message = pack((key, Failure(where=where)), arena)
            del result, task
            results.send_bytes(message)
    except (KeyboardInterrupt, BrokenPipeError, EOFError):
        pass  # the parent has been interrupted too, or is gone


def attempt(where, function, argument):
    """Return what a call returns, or the failure it ended in."""
    try:
        return function(argument)
    except Exception:
        return Failure(where=where)
