"""What a group has begun and not ended: calls in the background, in the order in which they were made."""
import threading
import time
from queue import Empty, SimpleQueue

from dragon.core import groups
from dragon.distributed.errors import DistributedError

_END = object()
_here = threading.local()


def wait_for(event, seconds=None):
    """Wait until an event is set, and return whether it is; where tasks are made, those that it waits for are made."""
    runner = getattr(_here, "runner", None)
    if runner is None:
        return event.wait(seconds)
    end = None if seconds is None else time.monotonic() + seconds
    while not event.is_set():
        try:
            task = runner.tasks.get(timeout=None if end is None else max(end - time.monotonic(), 0))
        except Empty:
            break
        if task is _END:
            runner.tasks.put(_END)
            break
        runner.make(*task)
    return event.is_set()


class Work:
    """Something that has been begun.

    Parameters
    ----------
    result : Any, optional
        What there is once it is done.

    """

    def __init__(self, result=None):
        self.result, self.error = result, None
        self._done, self._followers, self._lock = threading.Event(), [], threading.Lock()

    def finish(self, error=None):
        """Say that it is done, or what went wrong."""
        with self._lock:
            self.error = error
            self._done.set()
            followers, self._followers = self._followers, []
        for follower in followers:
            follower(self)

    def is_done(self):
        """Return whether it is done, well or not."""
        return self._done.is_set()

    def wait(self, seconds=None):
        """Wait until it is done; raise what went wrong."""
        if not wait_for(self._done, seconds):
            raise DistributedError("Work: got no end" + ("" if seconds is None else f" within {seconds:g} seconds")
                                   + ", expected one; the other ranks may not have begun")
        if self.error is not None:
            raise self.error

    def then(self, follower):
        """Have a function called with this once it is done, in the thread that does it."""
        with self._lock:
            if not self._done.is_set():
                self._followers.append(follower)
                return
        follower(self)


class Runner:
    """A thread that makes calls one after the other.

    What is called without it, by operators, waits for what was begun before: the engine keeps the turns.

    Parameters
    ----------
    number : int
        Of the group whose calls they are.

    """

    def __init__(self, number):
        self.number, self.tasks, self._lock = number, SimpleQueue(), threading.Lock()
        self._thread, self._queues = None, {}
        self.by_device, self.priority = True, 0  # whether devices' own libraries carry their tensors

    def begin(self, call, result=None, like=None):
        """Have a call made when those before it are done; return its work.

        Parameters
        ----------
        call : Callable
            The call.
        result : Any, optional
            What there is once it is done.
        like : Tensor, optional
            One of those that it is about: a device's work is queued there.

        Returns
        -------
        Union[Work, DeviceWork]
            The work.

        """
        if like is not None and like.is_cuda:
            from dragon.distributed import device_work
            index = like.get_device()
            if self.by_device:
                if index not in self._queues:
                    self._queues[index] = device_work.DeviceQueue(self.number, index, self.priority)
                return self._queues[index].begin(call, result)
            call = device_work.on_stream_of_caller(call, index)
        work = Work(result)
        with self._lock:
            groups.begin_turn(self.number)
            if self._thread is None:
                self._thread = threading.Thread(target=_run, args=(self,), name="dragon collectives",
                                                daemon=True)
                self._thread.start()
            self.tasks.put((call, work))
        return work

    def make(self, call, work):
        """Make a call that was begun, in the thread of calls."""
        error = None
        try:
            call()
        except BaseException as problem:  # whatever it is, it belongs to who waits
            error = problem
        try:
            groups.end_turn(self.number)
        except ValueError:
            pass  # the group was left meanwhile
        work.finish(error)

    def close(self):
        """End the thread after what it is at."""
        if self._thread is not None:
            self.tasks.put(_END)
            if self._thread is not threading.current_thread():
                self._thread.join(5.0)
            self._thread = None


def _run(runner):
    from dragon.core import modes
    modes.set_recording(False)
    groups.make_turns(runner.number)
    _here.runner = runner
    while (task := runner.tasks.get()) is not _END:
        runner.make(*task)
        del task
