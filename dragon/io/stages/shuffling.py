"""Stages that bring items into a random order, as far as a buffer reaches.

There are two buffers. Both are full while there are items, and are then emptied at random; they differ in where a new
item enters, hence in the order that the same numbers give, and programs rely upon either.
"""
from itertools import islice


def mix(items, size, begin):
    """Yield items of a ring: what was drawn makes room for the oldest, whose place the new item takes.

    Parameters
    ----------
    items : Iterator
        The items.
    size : int
        How many the ring holds.
    begin : Callable[[], Iterator[int]]
        Called when the first item is asked for and the ring is full; returns random numbers without end.

    """
    ring = list(islice(items, size))
    held = len(ring)
    start, numbers = 0, begin()
    if held == size:
        for item, number in zip(items, numbers):
            place = (start + number % size) % size
            yield ring[place]
            ring[place] = ring[start]
            ring[start] = item
            start = start + 1 if start + 1 < size else 0
    while held:
        place = (start + next(numbers) % held) % size
        yield ring[place]
        ring[place] = ring[start]
        start = start + 1 if start + 1 < size else 0
        held -= 1


def mix_all(items, draw_many):
    """Yield items that fit into the ring together, in the order of `mix`; all numbers are drawn at once.

    Parameters
    ----------
    items : Iterable
        The items.
    draw_many : Callable[[int], numpy.ndarray]
        Called when the first item is asked for; returns so many random numbers.

    """
    import numpy as np
    items = list(items)
    count = len(items)
    places = np.arange(count)
    places += (draw_many(count) % np.arange(count, 0, -1, dtype=np.uint64)).astype(np.int64)
    for start, place in enumerate(places.tolist()):
        yield items[place]
        items[place] = items[start]


def swap(items, size, below):
    """Yield items of a pool: a new item takes the place of what was drawn.

    Parameters
    ----------
    items : Iterable
        The items.
    size : int
        How many the pool holds.
    below : Callable[[int], int]
        Returns a random number below another one.

    """
    items = iter(items)
    pool = list(islice(items, size))
    for item in items if len(pool) == size else ():  # what has ended is not asked again
        place = below(size)
        chosen, pool[place] = pool[place], item
        yield chosen
    while pool:
        yield pool.pop(below(len(pool)))
