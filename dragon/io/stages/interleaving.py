"""Stages that read several iterators in turns, or as a further one says."""
END = object()


def in_turns(sources, open_source, cycle, block):
    """Yield blocks of items of several sources in turns.

    Parameters
    ----------
    sources : Iterator
        The sources; each is asked for when there is a place for it.
    open_source : Callable
        Returns an iterator over a source's items.
    cycle : int
        How many sources are read in turns.
    block : int
        How many items each gives in its turn.

    """
    slots, waiting = [None] * cycle, True
    turn, taken, alive = 0, 0, 0
    while waiting or alive:
        if slots[turn] is None and waiting:
            source = next(sources, END)
            waiting = source is not END
            if waiting:
                slots[turn] = open_source(source)
                alive += 1
        if slots[turn] is not None:
            item = next(slots[turn], END)
            if item is not END:
                yield item
                taken += 1
                if taken < block:
                    continue
            else:
                slots[turn] = None
                alive -= 1
        turn, taken = (turn + 1) % cycle, 0


def chosen(numbers, iterators, stop_on_empty=False):
    """Yield items of the iterators whose numbers come; those that have ended are passed over.

    Parameters
    ----------
    numbers : Iterable[int]
        The numbers.
    iterators : List[Iterator]
        The iterators.
    stop_on_empty : bool, optional, default=False
        Whether all ends as soon as one iterator has.

    """
    iterators, alive = list(iterators), len(iterators)
    for number in numbers:
        if iterators[number] is None:
            continue
        item = next(iterators[number], END)
        if item is not END:
            yield item
            continue
        alive -= 1
        iterators[number] = None
        if stop_on_empty or not alive:
            return
