"""Random state: the process's own generator, generators beside it, seeds and saved states."""
from dragon import _C

Generator, current_generator = _C.Generator, _C.current_generator


def default_generator():
    """Return the generator that operators draw from when they are given none, outside any `Workspace`."""
    return _C.default_generator()


def manual_seed(seed):
    """Start the current random stream anew; equal seeds give equal numbers.

    Parameters
    ----------
    seed : int
        Any 64-bit integer.

    Returns
    -------
    Generator
        The generator that was seeded.

    Examples
    --------
    >>> _ = dragon.manual_seed(7)
    >>> a = dragon.random.normal(0, 1, (3,))
    >>> _ = dragon.manual_seed(7)
    >>> a.tolist() == dragon.random.normal(0, 1, (3,)).tolist()
    True

    """
    return current_generator().manual_seed(seed)


def get_rng_state():
    """Return the current random state as bytes, that of devices with it."""
    return current_generator().get_whole_state()


def set_rng_state(state):
    """Continue from a random state that `get_rng_state` returned."""
    current_generator().set_whole_state(state)
