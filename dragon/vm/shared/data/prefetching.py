"""Datasets whose elements are made ahead, in a thread."""
from dragon.io.depth import Depth
from dragon.io.stages.prefetching import Ahead
from dragon.io.stages.trial import Trial, tried
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import OneEach
from dragon.vm.shared.data.structure import flatten
from dragon.vm.shared.data.threads import AUTOTUNE
from dragon.vm.shared.tensors.placing import hosted

# Handing an element to another thread costs about as much.
WORTHWHILE_SECONDS = 1e-4
TRIALS = 2


def bytes_of(element):
    """Return how much memory the dense tensors of an element take."""
    return sum(getattr(leaf, "nbytes", 0) for leaf in flatten(element))


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
        return self._ahead(self._sources[0]._open())

    def _open_behind(self, count):
        return self._ahead(self._sources[0]._open_behind(count))

    def _ahead(self, elements):
        if self._size == 0:
            return elements
        return tried(elements, Trial(TRIALS, WORTHWHILE_SECONDS), lambda rest: iter(Ahead(hosted(rest), self._depth())))

    def _depth(self):
        """Return how many elements are made ahead, or what finds that out."""
        if self._size == AUTOTUNE:
            return Depth(size_of=bytes_of, budget=self.options().autotune.ram_budget)
        return self._size
