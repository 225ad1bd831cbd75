"""Items made ahead by a thread, as many as was asked for or as turn out to be needed."""
import weakref
from queue import SimpleQueue

from dragon.io.depth import Depth
from dragon.io.stages import counting
from dragon.io.stages.failing import END, Failed, next_of, raised
from dragon.io.stages.threads import Worker

NEARLY_EMPTY = 2  # items that are ready


class Ahead:
    """Make the items of an iterator in a thread, ahead of their use; what goes on after an error goes on here too.

    Parameters
    ----------
    items : Iterator
        The items.
    size : Union[int, Depth]
        How many are made ahead at most.

    """

    def __init__(self, items, size):
        if not isinstance(size, Depth) and size < 1:
            raise ValueError(f"Ahead: got size {size}, expected one or more items, or a Depth")
        self._depth = size if isinstance(size, Depth) else None
        # What threading has besides locks is Python's own code, where an interrupt may leave a lock taken.
        self._ready, self._room = SimpleQueue(), SimpleQueue()
        self._debt = 0  # items that are taken without making room, for the buffer to become smaller
        self._counters = counting.current()
        stopped, room = [], self._room

        def stop():
            stopped.append(None)
            room.put(None)
        self._stop = stop
        # The thread does not hold this object: it ends when nobody has it any more, asked for an item or not.
        weakref.finalize(self, stop).atexit = False
        size = size if self._depth is None else size.size
        Worker(_fill, (iter(items), size, self._ready, room, stopped, self._counters), stop)

    def __iter__(self):
        return raised(self._taken())

    def _taken(self):
        get = self._ready.get if self._counters is None else counting.aside(self._ready.get)
        try:
            while True:
                ready = self._ready.qsize()
                item = get()
                if item is END:
                    return
                self._make_room(item, ready)
                yield item
                del item
        finally:
            self._stop()

    def _make_room(self, item, ready):
        if self._depth is None:
            self._room.put(None)
            return
        if type(item) is not Failed:
            self._depth.weigh(item)
        self._debt -= 1 + self._depth.learn(not ready, ready >= self._depth.size, ready > NEARLY_EMPTY)
        while self._debt < 0:
            self._debt += 1
            self._room.put(None)


def _fill(items, size, ready, room, stopped, counters):
    """Run in the thread: so many items are made at once, and then one whenever there is room for it."""
    wait, make = room.get, next_of  # whatever is raised, it belongs to who asks for the item
    if counters is not None:
        wait, make = counters.timed("full", wait), counters.timed("starved", make)
    while True:
        if size > 0:
            size -= 1
        else:
            wait()
        if stopped:
            return
        item = make(items, BaseException)
        ready.put(item)
        if item is END:
            return
        del item
