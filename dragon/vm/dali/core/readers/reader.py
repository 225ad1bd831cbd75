"""What all readers have: an order, and files that are read in the threads."""
import numpy as np

from dragon.vm.dali.core.execution import Values, Waiting
from dragon.vm.dali.core.order import Order


class Reader:
    """Samples by number, in an order; a reader of a kind of files says how many there are, and reads one.

    Parameters
    ----------
    count : int
        How many samples there are.
    order : dict
        The arguments of `Order`.
    seed : int
        Where random order starts from.

    """

    outputs = 1

    def __init__(self, count, order, seed):
        self.count, self.order = count, Order(count, seed=seed, **order)

    def read(self, number):
        """Return the results for a sample, and where it lies."""
        raise NotImplementedError

    def next(self, size, infos):
        """Return what is to be read for each sample of the next batch."""
        return [Waiting(lambda number=number: self._values(number)) for number in self.order.take(size)]

    def _values(self, number):
        results, source = self.read(number)
        return Values([np.asarray(result) for result in results], [""] * len(results), source)

    def meta(self):
        """Return what iterators ask."""
        return self.order.meta()

    def reset(self):
        """Do nothing: epochs follow each other by themselves."""

    def state(self):
        """Return how far the reader is."""
        return self.order.taken

    def load(self, state, size):
        """Go on from where a reader was."""
        self.order.skip(state, size)


def read_bytes(path):
    """Return a file as an array of bytes."""
    with open(path, "rb") as file:
        return np.frombuffer(file.read(), np.uint8)
