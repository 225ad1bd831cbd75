"""Items that are kept while they are made for the first time."""


def kept(items, keep):
    """Yield items, and hand over the list of all when the last one was taken; nothing where somebody stops before.

    Parameters
    ----------
    items : Iterable
        The items.
    keep : Callable[[list], None]
        Called with all items at the end.

    """
    held = []
    for item in items:
        held.append(item)
        yield item
    keep(held)
