"""Shuffles: elements, or the numbers of rows, leave a buffer in the order that TensorFlow's seeds give."""
from dragon.io.stages import shuffling
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import OneEach
from dragon.vm.shared.data.parts import Kept
from dragon.vm.shared.data.seeds import Seeded


class Shuffle(Seeded, Kept, OneEach):
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
        self._set_seeds(seed, reshuffle is None or bool(reshuffle))

    def _cut(self, items):
        # Seeds are drawn when the first item is asked for: whoever only looks at a dataset changes no order.
        if isinstance(items, range) and self._size >= len(items):
            return shuffling.mix_all(items, lambda count: self._draws().many(count))
        return shuffling.mix(iter(items), self._size, lambda: self._draws().stream())
