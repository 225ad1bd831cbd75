"""Datasets whose elements are made ahead, in a thread."""
import time

from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import OneEach
from dragon.vm.shared.data.workers import AUTOTUNE, Ahead

# Handing an element to another thread costs about as much.
WORTHWHILE_SECONDS = 1e-4
TRIALS = 3
AUTOMATIC_SIZE = 4


class Prefetch(OneEach):
    """Elements made ahead."""

    def __init__(self, source, size):
        super().__init__(source)
        self._size = int(size)
        if self._size < AUTOTUNE:
            raise errors.InvalidArgumentError(
                None, None, f"prefetch: buffer_size must be >= 0 or tf.data.AUTOTUNE. Received: {self._size}")

    def _rows(self):
        return self._sources[0]._rows()

    def _positions(self):
        return self._sources[0]._positions()

    def _texts(self):
        return self._sources[0]._texts()

    def _iterate(self):
        elements = self._sources[0]._iterate()
        return elements if self._size == 0 else self._ahead(elements)

    def _ahead(self, elements):
        """Yield the first elements as they are made; the others from a thread, if it is seen that this pays."""
        spent = 0.0
        for trial in range(TRIALS):
            begin = time.perf_counter()
            try:
                element = next(elements)
            except StopIteration:
                return
            # The first element may have filled a buffer.
            spent += (time.perf_counter() - begin) if trial else 0.0
            yield element
            del element
        if spent / (TRIALS - 1) < WORTHWHILE_SECONDS:
            yield from elements
        else:
            yield from Ahead(elements, AUTOMATIC_SIZE if self._size == AUTOTUNE else self._size)
