"""Stages of chance: numbers that come as often as weights say, and items that are thrown away until classes do."""
LEARNING_STEPS = 5  # after how many items an unknown distribution begins to be believed


def picks(weights, draw):
    """Yield numbers of places, each drawn by the weights of its turn.

    Parameters
    ----------
    weights : Iterable[numpy.ndarray]
        The weights of each turn; the same array again where they do not change.
    draw : Callable[[], float]
        Returns a random number from 0 up to 1.

    """
    import numpy as np
    last = levels = None
    for own in weights:
        if own is not last:
            last, levels = own, np.cumsum(own)
        yield min(int(np.searchsorted(levels, draw() * levels[-1], side="right")), len(levels) - 1)


def resampled(items, class_of, target, initial, draw):
    """Yield the items that stay, so that classes come as often as is wished.

    Parameters
    ----------
    items : Iterable
        The items.
    class_of : Callable[[Any], int]
        Gives an item's class, a number below the length of `target`.
    target : numpy.ndarray
        How often each class shall come.
    initial : Optional[numpy.ndarray]
        How often it comes; learned on the way where that is not known.
    draw : Callable[[], float]
        Returns a random number from 0 up to 1; called for an item whose fate is open.

    """
    import numpy as np
    counts = np.full(len(target), 1e-8)
    for seen, item in enumerate(items, 1):
        number = class_of(item)
        counts[number] += 1
        known = counts / counts.sum() if initial is None else initial
        keep = target / np.maximum(known, 1e-16)
        if initial is None and seen < LEARNING_STEPS or draw() * keep.max() < keep[number]:
            yield item
