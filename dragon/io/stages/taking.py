"""Stages that leave items out or repeat them, and change none.

Consecutive numbers come as a `range` and stay one wherever that is possible: a batch of them can then be cut from a
table, in the place of being gathered.
"""
from itertools import islice


def first(items, count):
    """Return the first items; all where the count is negative."""
    if count < 0:
        return items
    return items[:count] if isinstance(items, range) else islice(items, count)


def rest(items, count):
    """Return the items behind the first ones; none where the count is negative."""
    if count < 0:
        return range(0)
    return items[count:] if isinstance(items, range) else islice(items, count, None)


def share(items, shares, number):
    """Return every so manieth item, from one on."""
    return items[number::shares] if isinstance(items, range) else islice(items, number, None, shares)


def again(make, times):
    """Yield what fresh iterators yield, so many times or, with -1, without end; one that is empty at first ends it."""
    while times:
        times -= 1
        items = iter(make())
        for item in items:
            yield item
            break
        else:
            return
        yield from items


def until(items, holds):
    """Yield the items before the first of which something does not hold."""
    for item in items:
        if not holds(item):
            return
        yield item


def distinct(items, key_of):
    """Yield the first of all items with the same key."""
    seen = set()
    for item in items:
        key = key_of(item)
        if key not in seen:
            seen.add(key)
            yield item


def sound(items, kinds, tell):
    """Yield the items whose making does not fail.

    An iterator that is a generator ends with its first error; one of another kind goes on, stages among them.

    Parameters
    ----------
    items : Iterator
        The items.
    kinds : Tuple[type, ...]
        The errors that are passed over.
    tell : Callable
        Called with each such error.

    """
    while True:
        try:
            item = next(items)
        except StopIteration:
            return
        except kinds as error:
            tell(error)
            continue
        yield item
