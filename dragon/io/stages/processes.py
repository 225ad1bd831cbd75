"""What a function gives for items, computed by processes."""
from dragon.io.flow import Flow
from dragon.io.pool import WorkerPool


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
    with WorkerPool(count, Started(function), context, name) as pool:
        yield from Flow(pool, items, ahead, balanced=True)
