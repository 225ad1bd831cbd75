"""Items made ahead by a thread, as many as was asked for or as turn out to be needed."""
import threading
import weakref
from queue import SimpleQueue

from dragon.io.stages import counting
from dragon.io.stages.failing import END, Failed, next_of, raised
from dragon.io.stages.threads import Worker

FIRST_DEPTH, MOST_DEPTH = 4, 64
BUDGET_BYTES = 1 << 29  # that items made ahead may take where nobody says otherwise
SETTLED_AFTER = 64  # items without the buffer having been empty, after which it may be smaller


class Depth:
    """How many items are made ahead.

    It doubles where the user finds nothing although the buffer had been full before: what comes in bursts wants a
    larger one. It shrinks where the buffer is never nearly empty. One that was never full is no reason for a wait.

    Parameters
    ----------
    size_of : Callable[[Any], int], optional
        Gives the bytes of an item.
    budget : int, optional
        How many bytes all may take.

    """

    def __init__(self, size_of=None, budget=None):
        self.size, self._size_of = FIRST_DEPTH, size_of
        self._budget, self._largest = budget or BUDGET_BYTES, 1
        self._was_full, self._lowest, self._seen = False, MOST_DEPTH, 0

    def weigh(self, item):
        """Note the bytes of an item."""
        if self._size_of is not None and type(item) is not Failed:
            self._largest = max(self._largest, self._size_of(item))

    def room_after(self, ready):
        """Return for how many more items there is room when one is taken of those that are ready; -1 for fewer."""
        before = self.size
        most = max(min(self._budget // self._largest, MOST_DEPTH), 1)
        self._was_full = self._was_full or ready >= self.size
        self._lowest, self._seen = min(self._lowest, ready), self._seen + 1
        if not ready and self._was_full:
            self.size, self._was_full = 2 * self.size, False
            self._lowest, self._seen = MOST_DEPTH, 0
        elif self._seen >= SETTLED_AFTER:
            self.size -= self._lowest > 2
            self._lowest, self._seen = MOST_DEPTH, 0
        self.size = min(self.size, most)
        return self.size - before


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
        self._ready, self._room = SimpleQueue(), threading.Semaphore(size if self._depth is None else size.size)
        self._debt = 0  # items that are taken without making room, for the buffer to become smaller
        self._counters = counting.current()
        stopped, room = threading.Event(), self._room

        def stop():
            stopped.set()
            room.release()
        # The thread does not hold this object: it ends when nobody has it any more, asked for an item or not.
        self._end = weakref.finalize(self, stop)
        self._end.atexit = False
        Worker(_fill, (iter(items), self._ready, room, stopped, self._counters), stop)

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
            self._end()

    def _make_room(self, item, ready):
        if self._depth is None:
            self._room.release()
            return
        self._depth.weigh(item)
        self._debt -= 1 + self._depth.room_after(ready)
        while self._debt < 0:
            self._debt += 1
            self._room.release()


def _fill(items, ready, room, stopped, counters):
    """Run in the thread."""
    wait, make = room.acquire, next_of  # whatever is raised, it belongs to who asks for the item
    if counters is not None:
        wait, make = counters.timed("full", wait), counters.timed("starved", make)
    while True:
        wait()
        if stopped.is_set():
            return
        item = make(items, BaseException)
        ready.put(item)
        if item is END:
            return
        del item
