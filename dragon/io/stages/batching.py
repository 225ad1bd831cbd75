"""Stages that put consecutive items together, and take them apart."""
from itertools import chain, cycle, islice


def lists(items, size, drop_last=False):
    """Yield lists of so many items that follow each other; the last may be shorter, or is left out."""
    items = iter(items)
    while len(chosen := list(islice(items, size))) == size:
        yield chosen
    if chosen and not drop_last:
        yield chosen


def lists_in_turns(items, sizes, drop_last=False):
    """Yield lists of items that follow each other, of sizes that come again and again."""
    items = iter(items)
    for size in cycle(sizes):
        chosen = list(islice(items, size))
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
