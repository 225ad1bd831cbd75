"""Sources of samples: the first of the three nouns of `dragon.io`."""
import random


class Reader:
    """Yield the samples of a source.

    Parameters
    ----------
    source : Union[Sequence, Iterable]
        Anything with `__len__` and `__getitem__`, or with `__iter__`. Samples that are cheap (a path, a row number)
        are best: transformers, which run in workers, do the reading.
    shuffle : bool, optional, default=False
        Whether to yield the samples of a sequence in a new random order each time.
    seed : int, optional, default=0
        Where the orders start from.

    """

    def __init__(self, source, shuffle=False, seed=0):
        if shuffle and not hasattr(source, "__getitem__"):
            raise TypeError(f"Reader: got shuffle=True for {type(source).__name__}, expected a source with __getitem__")
        self.source, self.shuffle = source, shuffle
        self._random = random.Random(seed)

    def __len__(self):
        return len(self.source)

    def __iter__(self):
        if not hasattr(self.source, "__getitem__"):
            return iter(self.source)
        order = list(range(len(self.source)))
        if self.shuffle:
            self._random.shuffle(order)
        return map(self.source.__getitem__, order)
