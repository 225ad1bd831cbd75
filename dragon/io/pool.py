"""Worker processes that answer tasks: each has a pipe to it and one from it, so none can block another.

A worker notices the end of its parent, and the wish to stop, by its task pipe hanging up; the parent notices the end
of a worker by its sentinel. No queue is shared, hence a killed worker holds no lock that others wait for.
"""
import atexit
import itertools
import multiprocessing
import os
import reprlib
import select
import signal
import struct
import threading
import time
import weakref
from collections import deque
from multiprocessing import connection

from dragon.core import config
from dragon.io.block import Arena, Mailbox, set_current_arena
from dragon.io.failure import Failure
from dragon.io.parcel import pack, unpack

PATIENCE_SECONDS = 5.0  # for a worker to finish what it is at when asked to stop
HASTE_SECONDS = 0.2  # the same, where its work is of no use any more
REPORT_SECONDS = 1.0  # for a server of forks to tell how one of them ended
_pools = weakref.WeakSet()


class WorkerDied(RuntimeError):
    """A worker process ended before its work did.

    Parameters
    ----------
    name : str
        Whose worker it was.
    process : multiprocessing.Process
        The process.
    task : Any, optional
        What it was at.

    """

    def __init__(self, name, process, task=None):
        code = process.exitcode
        how = (f"is killed by signal: {signal.strsignal(-code)} ({signal.Signals(-code).name})."
               if code is not None and code < 0 else f"exited unexpectedly with exit code {code}.")
        at = "" if task is None else f" Its task was {reprlib.repr(task)}."
        super().__init__(f"{name} worker (pid {process.pid}) {how}{at}")
        self.pid = process.pid


class NoAnswer(TimeoutError):
    """No worker answered in time."""


class Worker:
    """The parent's side of one process."""

    def __init__(self, index, start, context, name):
        task_reader, self.tasks = context.Pipe(duplex=False)
        self.results, result_writer = context.Pipe(duplex=False)
        # Never wait while writing: the worker may be waiting to write to us.
        os.set_blocking(self.tasks.fileno(), False)
        self.outbox, self.arena = deque(), Arena()
        self.index, self.hung_up = index, False
        self.asked = {}  # {key: task} of what is not answered, in the order in which it was asked
        self.lost = 0  # answers that came and could not be opened, their worker having died
        self.idle = 0.0  # seconds in which it had nothing to do
        self.process = context.Process(target=serve, args=(start, index, task_reader, result_writer, name),
                                       daemon=True)
        _starting.append(self)
        try:
            self.process.start()
        finally:
            _starting.remove(self)
        task_reader.close()
        result_writer.close()
        self.sentinel = self._watch()

    def _watch(self):
        """Return what becomes readable when the process ends."""
        try:
            descriptor = os.pidfd_open(self.process.pid)
        except (AttributeError, OSError):  # Linux before 5.3
            return self.process.sentinel
        # What multiprocessing waits for is a pipe, which a child of the worker may hold open.
        weakref.finalize(self, os.close, descriptor).atexit = False
        return descriptor

    def join(self, seconds):
        """Wait for the process to end; return whether it has."""
        ended = bool(connection.wait([self.sentinel], seconds))
        if ended and self.process.exitcode is None:
            self.process.join(REPORT_SECONDS)
        return ended

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
    restarts : int, optional, default=0
        How many workers that die are replaced: a new one is asked what the dead one has not answered. A task that
        has killed `FATAL` workers is asked no more.

    """

    FATAL = 3

    def __init__(self, count, start, context=None, name="io", restarts=0):
        self.name, self._owner, self.closed = name, os.getpid(), False
        self._mailbox, self._watch = Mailbox(), None
        self.workers = []
        self.restarts, self.restarted, self._deaths = restarts, 0, {}
        _pools.add(self)
        self._finalize = weakref.finalize(self, _stop, self.workers, self._owner)
        self._finalize.atexit = False  # which has less patience: see `_leave`
        self._start, self._context = start, context or multiprocessing.get_context()
        try:
            for index in range(count):
                self.workers.append(Worker(index, start, self._context, name))
        except BaseException:
            self.close()
            raise

    def put(self, worker, key, task):
        """Give a worker a task; its answer will come with the key."""
        self._mailbox.settle()
        worker = self.workers[worker]
        worker.asked[key] = task
        worker.post(pack((key, task), worker.arena))

    def stop(self, worker):
        """Let one worker end when it is done with what it has begun."""
        self.workers[worker].hang_up()

    def get(self, timeout=None):
        """Return (worker, key, answer) of the next answer of any worker.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait before `NoAnswer`, a TimeoutError; for ever by default.

        Returns
        -------
        tuple
            The worker's number, the key of its task, and what it returned or a `Failure`.

        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            if self.closed:
                raise RuntimeError(f"{self.name}: got a question to workers that have been ended, expected none")
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            for worker, readable in self._ready(left):
                found = self._receive(worker, readable)
                if found is not None:
                    return worker.index, *found
            if deadline is not None and time.monotonic() >= deadline:
                raise NoAnswer(f"{self.name}: got no answer within {timeout} seconds, expected one")

    def _receive(self, worker, readable):
        """Return (key, answer) of what a worker has sent; None if it sent nothing, having ended as it should."""
        try:
            # Where there is nothing to read, it is the process that has ended: what it wrote at last is looked for.
            message = worker.results.recv_bytes() if readable or worker.results.poll(0) else None
        except (EOFError, OSError):
            message = None
        try:
            if message is not None:
                key, answer, idle = unpack(message, self._mailbox)
                worker.asked.pop(key, None)
                worker.idle += idle
                return key, answer
        except (FileNotFoundError, ProcessLookupError):
            worker.lost += 1  # what it had sent went with it
            return None
        worker.results.close()
        self._watch = None
        worker.join(PATIENCE_SECONDS)
        if not worker.hung_up:
            self._bury(worker)
        return None

    def _bury(self, worker):
        """Put a new worker in the place of a dead one, or raise."""
        fatal = next(itertools.islice(worker.asked, worker.lost, None), None)
        self._deaths[fatal] = self._deaths.get(fatal, 0) + 1
        if self.restarted >= self.restarts or self._deaths[fatal] >= self.FATAL:
            raise WorkerDied(self.name, worker.process, worker.asked.get(fatal))
        self.restarted += 1
        worker.hang_up()
        new = self.workers[worker.index] = Worker(worker.index, self._start, self._context, self.name)
        for key, task in worker.asked.items():
            self.put(new.index, key, task)

    def _ready(self, timeout):
        """Wait until workers have sent something, or have ended; return (worker, whether it can be read) of each.

        Others are written to meanwhile.
        """
        if self._watch is None:
            self._watch = self._begin_watch()
        poller, owners = self._watch
        full = {worker.tasks.fileno(): worker for worker in self.workers if worker.outbox}
        for descriptor in full:
            poller.register(descriptor, select.POLLOUT)
        events = poller.poll(None if timeout is None else timeout * 1000)
        for descriptor in full:
            poller.unregister(descriptor)
        ready = {}
        for descriptor, _ in events:
            if descriptor in full:
                full[descriptor].flush()
            else:
                worker, readable = owners[descriptor]
                ready[worker.index] = worker, readable or ready.get(worker.index, (worker, False))[1]
        return list(ready.values())

    def _begin_watch(self):
        """Return what waits for all workers, and whom its descriptors belong to."""
        poller, owners = select.poll(), {}
        for worker in self.workers:
            if not worker.results.closed:
                # A worker's child may hold its pipe open, hence the process is watched as well.
                for descriptor, readable in ((worker.results.fileno(), True), (worker.sentinel, False)):
                    owners[descriptor] = worker, readable
                    poller.register(descriptor, select.POLLIN)
        return poller, owners

    def close(self, patience=None):
        """End all workers: politely, then by force.

        Parameters
        ----------
        patience : float, optional
            Seconds in which a worker may finish what it is at; `PATIENCE_SECONDS` by default.

        """
        self.closed = True
        if self._finalize.detach():
            _stop(self.workers, self._owner, patience)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _stop(workers, owner, patience=None):
    """End workers; one that is asked to and does not come back in time is terminated."""
    if os.getpid() != owner:
        return
    for worker in workers:
        worker.hang_up()
        worker.results.close()
    deadline = time.monotonic() + (PATIENCE_SECONDS if patience is None else patience)
    for worker in workers:
        if not worker.join(max(deadline - time.monotonic(), 0.1)):
            worker.process.terminate()
            if not worker.join(1):
                worker.process.kill()
                worker.join(None)


def _leave():
    """End all workers with the program: nobody waits for what they are at."""
    for pool in list(_pools):
        pool.close(HASTE_SECONDS)


atexit.register(_leave)


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
        follow_parent()
        config.set_num_threads(1)  # as many processes as there are cores should not each use all of them
        arena, mailbox = Arena(), Mailbox()
        set_current_arena(arena)
        where = f"in {name} worker process {index}"
        answer = attempt(where, start, index)
        broken = answer if isinstance(answer, Failure) else None
        free = time.perf_counter()
        while not has_hung_up(tasks, wait=True):
            key, task = unpack(tasks.recv_bytes(), mailbox)
            idle = time.perf_counter() - free
            result = broken or attempt(where, answer, task)
            try:
                message = pack((key, result, idle), arena)
            except Exception:
                message = pack((key, Failure(where=where), idle), arena)
            del result, task
            free = time.perf_counter()
            results.send_bytes(message)
    except (KeyboardInterrupt, BrokenPipeError, EOFError):
        pass  # the parent has been interrupted too, or is gone


def follow_parent():
    """End this process when its parent has, whatever it is at: a thread of its own waits for that."""
    threading.Thread(target=_follow, args=(multiprocessing.parent_process(),), daemon=True).start()


def _follow(parent):
    connection.wait([parent.sentinel])
    os._exit(1)


def attempt(where, function, argument, errors=Exception):
    """Return what a call returns, or the failure it ended in."""
    try:
        return function(argument)
    except errors as error:
        place = getattr(error, "where", None)  # of a sample that the trouble came of
        return Failure(where=f"{where}, at {place}" if isinstance(place, str) else where)
