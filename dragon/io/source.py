"""What every source of samples answers, whatever its files are."""
import operator


class Source:
    """Samples that are found by their number.

    A source has `__len__` and `_read_one` or `read`. It can be pickled, and opens its files anew in each process.
    """

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__}: got no method __len__, expected one")

    def __getitem__(self, index):
        return self.read([index])[0]

    def __iter__(self):
        for chunk in self.chunks():
            for start in range(chunk.start, chunk.stop, BATCH):
                yield from self.read(range(start, min(start + BATCH, chunk.stop)))

    def read(self, indices):
        """Return the samples of these numbers, in this order.

        Parameters
        ----------
        indices : Sequence[int]
            The numbers; negative ones count from the end.

        Returns
        -------
        list
            The samples.

        """
        return [self._read_one(self.number(index)) for index in indices]

    def _read_one(self, index):
        """Return the sample of a number from 0."""
        raise NotImplementedError(f"{type(self).__name__}: got no method _read_one, expected one, or read")

    def chunks(self):
        """Return the runs of numbers that are cheap to read in order: one for each file, say.

        Returns
        -------
        list of range
            The runs, which are all numbers together.

        """
        return [range(len(self))] if len(self) else []

    def describe(self, index):
        """Return where a sample lies, for messages."""
        return f"sample {self.number(index)} of {type(self).__name__}"

    def number(self, index):
        """Return a number from 0, or raise an IndexError."""
        count, number = len(self), operator.index(index)
        if not -count <= number < count:
            raise IndexError(f"{type(self).__name__}: got index {number}, expected {-count} to {count - 1}"
                             if count else f"{type(self).__name__}: got index {number}, expected none: it is empty")
        return number + count if number < 0 else number


# How many samples are read at a time when a source is walked.
BATCH = 64


class Stream:
    """Samples that come one after the other, of which nobody knows the number."""

    def __iter__(self):
        for part in self.parts():
            yield from part

    def parts(self):
        """Return iterables that hold the samples between them: one for each file, say."""
        raise NotImplementedError(f"{type(self).__name__}: got no method parts, expected one")
