"""Stages that put consecutive items together, and take them apart."""
from itertools import chain, islice, repeat

from dragon.io.stages.failing import Failed, raised


def lists(items, size, drop_last=False):
    """Yield lists of so many items that follow each other; the last may be shorter, or is left out."""
    return raised(_lists(iter(items), repeat(size), drop_last))


def lists_of(items, sizes, drop_last=False):
    """Yield lists of items that follow each other, of as many as one size after the other says.

    An error costs the list that it comes in, and no other where the items go on.
    """
    return raised(_lists(iter(items), sizes, drop_last))


def _lists(items, sizes, drop_last):
    for size in sizes:
        try:
            chosen = list(islice(items, size))
        except Exception as error:
            yield Failed(error)
            continue
        if len(chosen) < size:
            if chosen and not drop_last:
                yield chosen
            return
        yield chosen


def spans(positions, size, drop_last=False):
    """Yield the beginnings and ends of the parts of consecutive numbers, a `range`, that `lists` would yield."""
    for start in range(positions.start, positions.stop, size):
        stop = min(start + size, positions.stop)
        if stop - start == size or not drop_last:
            yield start, stop


def apart(items, open_item):
    """Return an iterator over what items hold, one item after the other."""
    return chain.from_iterable(map(open_item, items))
