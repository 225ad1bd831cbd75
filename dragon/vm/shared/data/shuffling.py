"""Shuffles: elements, or the numbers of rows, leave a buffer in the order that TensorFlow's seeds give."""
from itertools import islice

from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import OneEach
from dragon.vm.shared.data.parts import Kept
from dragon.vm.shared.data.seeds import Draws, get_seeds


class Shuffle(Kept, OneEach):
    """Elements in a random order."""

    def __init__(self, source, buffer_size, seed=None, reshuffle=True):
        super().__init__(source)
        self._size = int(buffer_size)
        if self._size == -2:
            raise NotImplementedError("shuffle: a buffer of unknown cardinality is not supported; "
                                      "got tf.data.UNKNOWN_CARDINALITY, give a number")
        if self._size < 1:
            raise errors.InvalidArgumentError(None, None,
                                              f"shuffle: buffer_size must be greater than zero. Received: {self._size}")
        self._seeds = get_seeds(seed)
        self._reshuffle = reshuffle is None or bool(reshuffle)
        self._outer = Draws(*self._seeds)

    def _draws(self):
        """Return the generator of one iteration."""
        if not self._reshuffle:
            return Draws(*self._seeds)
        return Draws(self._outer.next(), self._outer.next())

    def _cut(self, items):
        # Seeds are drawn when the first item is asked for: whoever only looks at a dataset changes no order.
        if isinstance(items, range) and self._size >= len(items):
            return _mix_all(items, self._draws)
        return _mix(iter(items), self._size, self._draws)


def _mix_all(items, make_draws):
    """Yield the items of a list that fits into the buffer."""
    import numpy as np
    items, draws = list(items), make_draws()
    count = len(items)
    places = np.arange(count)
    places += (draws.many(count) % np.arange(count, 0, -1, dtype=np.uint64)).astype(np.int64)
    for start, place in enumerate(places.tolist()):
        yield items[place]
        items[place] = items[start]


def _mix(items, size, make_draws):
    """Yield items in random order; each is drawn from a buffer that the following ones fill up."""
    buffer = list(islice(items, size))
    held = len(buffer)
    start, draw = 0, make_draws().next
    if held == size:
        for item in items:
            place = (start + draw() % size) % size
            yield buffer[place]
            buffer[place] = buffer[start]
            # The place that was left is where the next item enters.
            buffer[start] = item
            start = start + 1 if start + 1 < size else 0
    while held:
        place = (start + draw() % held) % size
        yield buffer[place]
        buffer[place] = buffer[start]
        start = start + 1 if start + 1 < size else 0
        held -= 1
