"""Threads of a pipeline: they make elements ahead, and end when nobody waits for the elements any more."""
import os
import threading
from collections import deque
from queue import SimpleQueue

from dragon import _C
from dragon.vm.tensorflow.core import errors

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
        thread = threading.Thread(target=_fill, args=(items, self._ready, self._room, self._stopped),
                                  name="tf.data prefetch", daemon=True)
        thread.start()

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
    _C.set_grad_enabled(False)
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
    threads = [threading.Thread(target=_serve, args=(function, tasks, finished), name="tf.data map", daemon=True)
               for _ in range(count)]
    for thread in threads:
        thread.start()
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
            task = waiting.popleft() if in_order else finished.get()
            if in_order:
                task.done.wait()
            outstanding -= 1
            if type(task.result) is Failed:
                raise task.result.error
            yield task.result
    finally:
        for _ in threads:
            tasks.put(END)


def _serve(function, tasks, finished):
    """Run in each thread."""
    _C.set_grad_enabled(False)
    while True:
        task = tasks.get()
        if task is END:
            return
        try:
            task.result = function(task.element)
        except BaseException as error:
            task.result = Failed(error)
        task.done.set()
        if finished is not None:
            finished.put(task)
        del task
