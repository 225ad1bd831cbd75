"""Stages that gather items: those that follow each other, or those with the same key."""
from collections import deque
from itertools import islice


def windows(items, size, shift, stride, drop_last=False):
    """Yield lists of `size` items, each the `stride`-th of those that follow each other.

    Parameters
    ----------
    items : Iterator
        The items.
    size : int
        How many a window has.
    shift : int
        How far the first item of a window is from that of the one before.
    stride : int
        How far its items are from each other.
    drop_last : bool, optional, default=False
        Whether to leave out windows that reach beyond the end.

    """
    reach = (size - 1) * stride + 1
    held = []
    while True:
        held = held + list(islice(items, reach - len(held)))
        if not held or (len(held) < reach and drop_last):
            return
        # What follows is cut off before: the window is the user's own then.
        after, left = held[shift:], shift - len(held)
        yield held if stride == 1 else held[::stride]
        held = after
        if left > 0:
            deque(islice(items, left), maxlen=0)


def windows_of_keys(items, key_of, size_of):
    """Yield (key, list of items with that key): each as soon as it is full, and at the end the rest by sorted keys.

    Parameters
    ----------
    items : Iterable
        The items.
    key_of : Callable
        Gives an item's key.
    size_of : Callable[[Any], int]
        Gives how many items of a key go together; asked once for each key.

    """
    groups, sizes = {}, {}
    for item in items:
        key = key_of(item)
        if key not in sizes:
            sizes[key] = size_of(key)
        group = groups.setdefault(key, [])
        group.append(item)
        if len(group) == sizes[key]:
            yield key, groups.pop(key)
    for key in sorted(groups):
        yield key, groups[key]


def reduce_by_key(items, key_of, begin, step):
    """Return the last states of all keys, by sorted keys.

    Parameters
    ----------
    items : Iterable
        The items.
    key_of : Callable
        Gives an item's key.
    begin : Callable
        Gives the first state for a key.
    step : Callable
        Gives the next state for a state and an item.

    """
    states = {}
    for item in items:
        key = key_of(item)
        states[key] = step(states[key] if key in states else begin(key), item)
    return [states[key] for key in sorted(states)]
