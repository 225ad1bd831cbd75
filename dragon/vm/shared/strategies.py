"""Who spreads work over replicas, for those that must not import the guest that has such strategies."""
import threading

current = []  # the function that returns the strategy in use; TensorFlow enters it


class _Local(threading.local):
    """What a thread is at; what stands here is read without an error."""

    replica = None  # the one of several replicas whose code runs
    watcher = None  # who is told of new variables
    assigned = None  # where variables that get a value, rather than an increment, are noted


local = _Local()
exists = [False]  # whether there has been a strategy of several replicas
writers = []  # functions that are told of variables which are about to be written
_spread = []  # those that models were made with; models say numbers, so that graphs of their steps know no more of them


def count():
    """Return how many replicas there are."""
    return current[0]().num_replicas_in_sync if current else 1


def several():
    """Return the strategy in use if there are several replicas, else None."""
    strategy = current[0]() if current else None
    return strategy if strategy is not None and strategy.is_spread else None


def number_in_use():
    """Return the number of the strategy in use, which `by_number` knows; None if all is as without one."""
    strategy = current[0]() if current else None
    if strategy is None or not (strategy.is_spread or strategy.is_elsewhere):
        return None
    if strategy not in _spread:
        _spread.append(strategy)
    return _spread.index(strategy)


def by_number(number):
    """Return a strategy that `number_in_use` has told the number of, or None."""
    return None if number is None else _spread[number]


def takes_turns(values):
    """Return whether a call is one of several replicas, which take turns: no graph could be made of it.

    Parameters
    ----------
    values : Iterable[Any]
        What it is called with.

    """
    return exists[0] and (several() is not None or any(getattr(type(value), "of_replicas", False) for value in values))


def note_made(variable):
    """Tell who spreads work of a new variable."""
    if local.watcher is not None:
        local.watcher(variable)


def note_written(variable):
    """Have what a replica is about to write be its own."""
    if local.replica is not None:
        local.replica.memory.own(variable)
    for writer in writers:
        writer(variable)


def note_assigned(variable):
    """Note that a variable gets a value whatever it was."""
    if local.assigned is not None:
        local.assigned.set(variable, True)


def joins(variable):
    """Return whether what replicas write into a variable is to become one value."""
    return local.replica is not None and local.replica.memory.joins(variable)


def scaled(loss):
    """Return the part of a loss that is one replica's: all of them add up to a mean."""
    replicas = count()
    return loss if replicas == 1 else loss * (1.0 / replicas)


def unscaled(loss):
    """Return a loss as it was before `scaled`."""
    replicas = count()
    return loss if replicas == 1 else loss * replicas
