"""What a function gives for items, computed by processes."""
from itertools import islice

from dragon.io.failure import Failure
from dragon.io.pool import WorkerPool
from dragon.io.stages.ordering import in_order


class Started:
    """Give each worker its function; a class, so that it can be pickled."""

    def __init__(self, function):
        self._function = function

    def __call__(self, index):
        return self._function


def map_in_processes(function, items, count, ahead, name, context=None):
    """Yield what a function gives for each item, in their order.

    Parameters
    ----------
    function : Callable
        Called in the processes, which have it from their beginning; an error is raised here in its class.
    items : Iterator
        Read here.
    count : int
        How many processes there are.
    ahead : int
        How many results are made before they are asked for.
    name : str
        What messages call the workers' owner.
    context : multiprocessing.context.BaseContext, optional
        How processes are started; the platform's way by default.

    """
    if count < 1 or ahead < 1:
        raise ValueError(f"{name}: got {count} processes and {ahead} results ahead, expected one or more of each")
    numbered, busy, outstanding = enumerate(items), [0] * count, 0
    with WorkerPool(count, Started(function), context, name) as pool:
        answers = in_order(_answers(pool, busy))
        while True:
            for number, item in islice(numbered, ahead - outstanding):
                worker = busy.index(min(busy))
                busy[worker] += 1
                outstanding += 1
                pool.put(worker, number, item)
            if not outstanding:
                return
            answer = next(answers)
            outstanding -= 1
            if isinstance(answer, Failure):
                answer.reraise()
            yield answer
            del answer  # nobody but the user holds it, so its memory goes back to the worker


def _answers(pool, busy):
    """Yield (number, answer) of tasks as they come."""
    while True:
        worker, *answer = pool.get()
        busy[worker] -= 1
        yield answer
