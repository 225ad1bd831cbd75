"""The seed of `tf.random.set_seed`, and what operators with seeds of their own make of it."""
import contextlib
import random

DEFAULT_SEED = 87654321  # stands for the global seed where only an operator has one
LARGEST = 2 ** 31 - 1


class _State:
    """The process's seed."""

    def __init__(self):
        self.seed = self.draws = None
        self.listeners = []


_state = _State()


def set_seed(seed):
    """Set the global seed; operators without a seed of their own then draw from it.

    Parameters
    ----------
    seed : int
        The seed.

    """
    seed = int(seed)
    _state.seed, _state.draws = seed, random.Random(seed)
    for listener in _state.listeners:
        listener(seed)


def on_set_seed(listener):
    """Have a function called with each new global seed."""
    _state.listeners.append(listener)


def global_seed():
    """Return the global seed, or None."""
    return _state.seed


@contextlib.contextmanager
def undisturbed():
    """Have what draws seeds within the block leave those after it as they would have been."""
    before = None if _state.draws is None else _state.draws.getstate()
    try:
        yield
    finally:
        if before is not None:
            _state.draws.setstate(before)


def get_seed(op_seed):
    """Return the two seeds of an operator.

    Parameters
    ----------
    op_seed : int, optional
        Its own seed.

    Returns
    -------
    tuple
        Two integers; two None where neither it nor the process has a seed.

    """
    if _state.seed is None:
        return (None, None) if op_seed is None else (DEFAULT_SEED, int(op_seed) % LARGEST)
    if op_seed is None:
        op_seed = _state.draws.randint(0, LARGEST)
    seeds = _state.seed % LARGEST, int(op_seed) % LARGEST
    return seeds if any(seeds) else (0, LARGEST)
