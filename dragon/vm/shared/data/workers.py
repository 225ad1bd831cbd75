"""Threads of a pipeline: they make elements ahead, and end when nobody waits for the elements any more."""
import atexit
import os
import threading
import time
import weakref
from collections import deque
from queue import Empty, SimpleQueue

from dragon.core import modes
from dragon.vm.shared import errors

AUTOTUNE = -1
END = object()


def thread_count(wanted, who):
    """Return how many threads `num_parallel_calls` asks for: 0 for None, a choice for AUTOTUNE."""
    if wanted is None:
        return 0
    wanted = int(wanted)
    if wanted == AUTOTUNE:
        return max(2, min(os.cpu_count() or 1, 16))
    if wanted < 1:
        raise errors.InvalidArgumentError(
            None, None, f"{who}: num_parallel_calls must be > 0 or tf.data.AUTOTUNE. Received: {wanted}")
    return min(wanted, 64)


_running = weakref.WeakSet()
PATIENCE_SECONDS = 10.0  # for threads to finish what they are at when the process ends


PAUSE_SECONDS = 0.5  # after which a wait looks whether there is still something to wait for


class Worker(threading.Thread):
    """A thread that ends by itself once `stop` is called, and before the interpreter does.

    Parameters
    ----------
    work : Callable
        What it runs.
    args : tuple
        The arguments of that.
    stop : Callable
        Makes it end.

    """

    def __init__(self, work, args, stop):
        super().__init__(target=work, args=args, name="tf.data", daemon=True)
        self.stop = stop
        _running.add(self)
        self.start()


@atexit.register
def _end_all():
    """End all threads: one that is within the engine while the interpreter goes would take the process down."""
    workers = [worker for worker in _running if worker.is_alive()]
    for worker in workers:
        worker.stop()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for worker in workers:
        worker.join(max(deadline - time.monotonic(), 0))


class Failed:
    """An error on its way from a thread to whoever waits for the element."""

    def __init__(self, error):
        self.error = error


class Ahead:
    """Make the items of an iterator in a thread, up to `size` ahead of their use."""

    def __init__(self, items, size):
        self._ready = SimpleQueue()
        self._room = threading.Semaphore(size)
        self._stopped = threading.Event()
        Worker(_fill, (items, self._ready, self._room, self._stopped), self._make_stop())

    def _make_stop(self):
        """Return a function that ends the thread; it does not hold this object."""
        stopped, room = self._stopped, self._room

        def stop():
            stopped.set()
            room.release()
        return stop

    def __iter__(self):
        try:
            while True:
                item = self._ready.get()
                self._room.release()
                if item is END:
                    return
                if type(item) is Failed:
                    raise item.error
                yield item
        finally:
            self._stopped.set()
            self._room.release()


def _fill(items, ready, room, stopped):
    """Run in the thread."""
    modes.set_recording(False)
    try:
        while True:
            room.acquire()
            if stopped.is_set():
                return
            try:
                item = next(items)
            except StopIteration:
                ready.put(END)
                return
            ready.put(item)
            del item
    except BaseException as error:  # whatever it is, it belongs to who asks for the element
        ready.put(Failed(error))


class _Task:
    """One call, and its result once it is there."""

    __slots__ = ("element", "result", "done")

    def __init__(self, element):
        self.element, self.result, self.done = element, None, threading.Event()


def map_in_threads(function, elements, count, in_order):
    """Yield what a function gives for each element, computed by `count` threads.

    Parameters
    ----------
    function : Callable
        Called in the threads.
    elements : Iterator
        Read by the thread that takes the results.
    count : int
        How many calls run at a time.
    in_order : bool
        Whether results keep the order of the elements, or come as they are ready.

    """
    tasks, finished = SimpleQueue(), None if in_order else SimpleQueue()
    ended = threading.Event()

    def stop():
        ended.set()
        tasks.put(END)
    for _ in range(count):
        Worker(_serve, (function, tasks, finished, ended), stop)
    waiting, outstanding = deque(), 0
    try:
        exhausted = False
        while True:
            while not exhausted and outstanding < 2 * count:
                element = next(elements, END)
                if element is END:
                    exhausted = True
                    break
                task = _Task(element)
                tasks.put(task)
                outstanding += 1
                if in_order:
                    waiting.append(task)
            if not outstanding:
                return
            task = _next_done(waiting, finished, ended)
            if task is None:
                return
            outstanding -= 1
            if type(task.result) is Failed:
                raise task.result.error
            yield task.result
    finally:
        ended.set()
        for _ in range(count):
            tasks.put(END)


def _next_done(waiting, finished, ended):
    """Return the next task that is done, or None when the threads have ended before."""
    while not ended.is_set():
        if finished is None:
            if waiting[0].done.wait(PAUSE_SECONDS):
                return waiting.popleft()
        else:
            try:
                return finished.get(timeout=PAUSE_SECONDS)
            except Empty:
                pass
    return None


def _serve(function, tasks, finished, ended):
    """Run in each thread."""
    modes.set_recording(False)
    while True:
        task = tasks.get()
        if task is END or ended.is_set():
            return
        try:
            task.result = function(task.element)
        except BaseException as error:
            task.result = Failed(error)
        task.done.set()
        if finished is not None:
            finished.put(task)
        del task
