"""One seed for all sources of random numbers."""
from dragon.vm.keras.core import global_state

GLOBAL_RANDOM_SEED = "global_random_seed"


def set_random_seed(seed):
    """Start all sources of random numbers anew: Python's, NumPy's, TensorFlow's and Keras's own.

    Parameters
    ----------
    seed : int
        Equal seeds give equal numbers.

    Examples
    --------
    >>> keras.utils.set_random_seed(1)
    >>> a = np.asarray(keras.random.normal((3,)))
    >>> keras.utils.set_random_seed(1)
    >>> bool((a == np.asarray(keras.random.normal((3,)))).all())
    True

    """
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})")
    import random

    import numpy as np

    from dragon.vm.keras.random.seed_generator import GLOBAL_SEED_GENERATOR
    from dragon.vm.shared.seed import set_seed
    global_state.set_global_attribute(GLOBAL_RANDOM_SEED, seed)
    global_state.set_global_attribute(GLOBAL_SEED_GENERATOR, None)
    random.seed(seed)
    np.random.seed(seed)
    set_seed(seed)


def get_random_seed():
    """Return the seed that `set_random_seed` was called with; None if it was not."""
    return global_state.get_global_attribute(GLOBAL_RANDOM_SEED)
