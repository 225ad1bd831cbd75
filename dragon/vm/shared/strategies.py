"""Who spreads work over replicas, for those that must not import the guest that has such strategies."""
import threading

from dragon.core.scopes import contextmanager

current = []  # the function that returns the strategy in use; TensorFlow enters it


class _Local(threading.local):
    """What a thread is at; what stands here is read without an error."""

    replica = None  # the one of several replicas whose code runs
    watcher = None  # who is told of new variables
    assigned = None  # where variables that get a value, rather than an increment, are noted
    by_parts = False  # whether variables that are cut between processes are this one's parts of them


local = _Local()
chosen = [None]  # the strategy of Keras's rules for several processes, which goes before TensorFlow's
exists = [False]  # whether there has been a strategy of several replicas
writers = []  # functions that are told of variables which are about to be written
_spread = []  # those that models were made with; models say numbers, so that graphs of their steps know no more of them


def _in_use():
    return chosen[0] or (current[0]() if current else None)


def count():
    """Return how many replicas there are."""
    strategy = _in_use()
    return 1 if strategy is None else strategy.num_replicas_in_sync


def several():
    """Return the strategy in use if there are several replicas, else None."""
    strategy = _in_use()
    return strategy if strategy is not None and strategy.is_spread else None


def number_in_use():
    """Return the number of the strategy in use, which `by_number` knows; None if all is as without one."""
    strategy = _in_use()
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


@contextmanager
def unwatched():
    """Have nobody be told of variables that are made in a `with` block."""
    before, local.watcher = local.watcher, None
    try:
        yield
    finally:
        local.watcher = before


def note_made(variable):
    """Tell who spreads work of a new variable."""
    if local.watcher is not None:
        local.watcher(variable)


def layout_of(path, shape, layout):
    """Return (how a new variable lies over devices, how it is cut between processes; None where each has the whole).

    Parameters
    ----------
    path : str
        The variable's path.
    shape : Sequence[int]
        Its shape.
    layout : Any
        What it was told of its layout.

    """
    if chosen[0] is None or local.watcher is None:
        return layout, None
    return chosen[0].layout_of(path, shape, layout)


@contextmanager
def by_parts():
    """Have variables that are cut between processes be this one's parts of them in a `with` block."""
    before, local.by_parts = local.by_parts, True
    try:
        yield
    finally:
        local.by_parts = before


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


def as_one():
    """Return whether replicas compute what one would with all samples: statistics of a batch are those of all."""
    return local.replica is not None and chosen[0] is not None


def scaled(loss):
    """Return the part of a loss that is one replica's: all of them add up to a mean."""
    if chosen[0] is not None:
        return loss * chosen[0].share_of(loss) if as_one() else loss
    replicas = count()
    return loss if replicas == 1 else loss * (1.0 / replicas)


def unscaled(loss):
    """Return a loss as it was before `scaled`."""
    if chosen[0] is not None:
        return chosen[0].whole_of(loss) if as_one() else loss
    replicas = count()
    return loss if replicas == 1 else loss * replicas
