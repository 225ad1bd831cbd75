"""Threads of pipelines: they end when nobody waits for their items any more, and before the interpreter does."""
import atexit
import threading
import time
import weakref
from queue import Empty, SimpleQueue

from dragon.core import modes
from dragon.core.interrupts import is_interrupt
from dragon.io.stages import counting
from dragon.io.stages.failing import END, Failed, next_of, raised
from dragon.io.stages.ordering import in_order

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
        super().__init__(target=work, args=args, name="dragon data", daemon=True)
        self.stop = stop
        _running.add(self)
        try:
            self.start()
        except RuntimeError as error:  # an interrupt in threading's own wait, which lets go of a lock twice then
            if error.__context__ is None or not is_interrupt(error.__context__):
                raise
            raise error.__context__ from None

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


def map_in_threads(function, items, count, keep_order=True, ahead=None):
    """Return an iterator over what a function gives for items, computed by threads; it goes on after an error.

    Parameters
    ----------
    function : Callable
        Called in the threads.
    items : Iterator
        Read by the thread that takes the results.
    count : int
        How many calls run at a time.
    keep_order : bool, optional, default=True
        Whether results keep the order of the items, or come as they are ready.
    ahead : int, optional
        How many results are made before they are asked for; twice as many as there are threads by default.

    """
    ahead = 2 * count if ahead is None else ahead
    if count < 1 or ahead < 1:
        raise ValueError(f"map_in_threads: got {count} threads and {ahead} results ahead, expected one or more of each")
    return raised(_in_threads(function, items, count, keep_order, ahead))


def _in_threads(function, items, count, keep_order, ahead):
    counters = counting.current()
    if counters is not None:
        function = counters.timed("working", function)
    tasks, finished, ended = SimpleQueue(), SimpleQueue(), []  # it has something in it once they are to end

    def stop():
        ended.append(None)
        tasks.put(END)
    answers = _answers(finished, ended, counters)
    results = in_order(answers) if keep_order else (result for _, result in answers)
    given = taken = 0
    try:
        for _ in range(count):
            Worker(_serve, (function, tasks, finished, ended), stop)
        while True:
            while items is not None and given - taken < ahead:
                item = next_of(items)
                if item is END:
                    items = None
                    break
                (finished if type(item) is Failed else tasks).put((given, item))
                given += 1
            if given == taken or (result := next(results, END)) is END:
                return
            taken += 1
            yield result
            del result  # nobody but the user holds it while the next one is waited for
    finally:
        tasks.put(END)  # in one call of C's: an interrupt may come with the next one of Python's
        ended.append(None)


def _answers(finished, ended, counters):
    """Yield (number, result) of calls as they end, until the threads are told to."""
    get = finished.get if counters is None else counting.aside(finished.get)
    while not ended:
        try:
            answer = get(True, PAUSE_SECONDS)
        except Empty:
            continue
        yield answer
        del answer


def _serve(function, tasks, finished, ended):
    """Run in each thread."""
    while True:
        task = tasks.get()
        if task is END or ended:
            tasks.put(END)  # for the next thread
            return
        number, item = task
        try:
            finished.put((number, function(item)))
        except BaseException as error:  # whatever it is, it belongs to who asks for the item
            finished.put((number, Failed(error)))
        del task, item
