"""Threads of pipelines: they end when nobody waits for their items any more, and before the interpreter does."""
import atexit
import threading
import time
import weakref
from collections import deque
from queue import Empty, SimpleQueue

from dragon.core import modes
from dragon.io.stages import counting

END = object()
PATIENCE_SECONDS = 10.0  # for threads to finish what they are at when the process ends
PAUSE_SECONDS = 0.5  # after which a wait looks whether there is still something to wait for
_running = weakref.WeakSet()


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
        super().__init__(target=work, args=args, name="dragon.io", daemon=True)
        self.stop = stop
        _running.add(self)
        self.start()

    def run(self):
        """Run the work; what it computes is recorded for nobody's gradients."""
        modes.set_recording(False)
        super().run()


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
    """An error on its way from a thread to whoever waits for the item."""

    def __init__(self, error):
        self.error = error


class _Task:
    """One call, and its result once it is there."""

    __slots__ = ("item", "result", "done")

    def __init__(self, item):
        self.item, self.result, self.done = item, None, threading.Event()


def map_in_threads(function, items, count, in_order=True, ahead=None):
    """Yield what a function gives for each item, computed by threads.

    Parameters
    ----------
    function : Callable
        Called in the threads.
    items : Iterator
        Read by the thread that takes the results.
    count : int
        How many calls run at a time.
    in_order : bool, optional, default=True
        Whether results keep the order of the items, or come as they are ready.
    ahead : int, optional
        How many results are made before they are asked for; twice as many as there are threads by default.

    """
    ahead = 2 * count if ahead is None else ahead
    if count < 1 or ahead < 1:
        raise ValueError(f"map_in_threads: got {count} threads and {ahead} results ahead, expected one or more of each")
    counters = counting.current()
    if counters is not None:
        function = counters.timed("working", function)
    tasks, finished = SimpleQueue(), None if in_order else SimpleQueue()
    ended = threading.Event()

    def stop():
        ended.set()
        tasks.put(END)
    for _ in range(count):
        Worker(_serve, (function, tasks, finished, ended), stop)
    wait = _next_done if counters is None else counting.aside(_next_done)
    waiting, outstanding, exhausted = deque(), 0, False
    try:
        while True:
            while not exhausted and outstanding < ahead:
                item = next(items, END)
                if item is END:
                    exhausted = True
                    break
                task = _Task(item)
                tasks.put(task)
                outstanding += 1
                if in_order:
                    waiting.append(task)
            if not outstanding:
                return
            task = wait(waiting, finished, ended)
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
    while True:
        task = tasks.get()
        if task is END or ended.is_set():
            return
        try:
            task.result = function(task.item)
        except BaseException as error:  # whatever it is, it belongs to who asks for the item
            task.result = Failed(error)
        task.done.set()
        if finished is not None:
            finished.put(task)
        del task
