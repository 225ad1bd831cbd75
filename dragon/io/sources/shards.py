"""Sources whose samples lie in several files, each sample at a place of one of them."""
import operator

import numpy as np

from dragon.io.source import Source


class Shards(Source):
    """Samples that a table finds: for each file the places and sizes of what it holds.

    A subclass has `paths`, the open files `_files`, and `_read_part(part, places)`, which reads samples of one file.

    Parameters
    ----------
    places : Sequence of numpy.ndarray
        For each file a row for each sample, which begins with its place.

    """

    def __init__(self, places):
        self.places = list(places)
        self._starts = np.cumsum([0] + [len(each) for each in self.places])

    def __len__(self):
        return int(self._starts[-1])

    def read(self, indices):
        """Return the samples of these numbers, in this order; neighbours are read together.

        Parameters
        ----------
        indices : Sequence[int]
            The numbers; negative ones count from the end.

        Returns
        -------
        list
            The samples.

        """
        numbers = self._numbers(indices)
        if len(self.places) == 1 or not len(numbers):
            return self._read_part(0, self.places[0][numbers]) if len(numbers) else []
        parts = np.searchsorted(self._starts, numbers, "right") - 1
        values = [None] * len(numbers)
        for part in np.unique(parts):
            where, = np.nonzero(parts == part)
            found = self._read_part(int(part), self.places[part][numbers[where] - self._starts[part]])
            for place, value in zip(where, found):
                values[place] = value
        return values

    def _read_part(self, part, places):
        """Return the samples at some places of a file."""
        raise NotImplementedError(f"{type(self).__name__}: got no method _read_part, expected one")

    def _numbers(self, indices):
        """Return numbers from 0 as an array, or raise an IndexError."""
        count = len(self)
        try:
            numbers = np.fromiter(map(operator.index, indices), np.int64)
            inside = not len(numbers) or -count <= numbers.min() and numbers.max() < count
        except OverflowError:
            inside = False
        if not inside:
            for index in indices:
                self.number(index)  # raises for the first that is outside
        return np.where(numbers < 0, numbers + count, numbers)

    def chunks(self):
        """Return the runs of numbers of each file."""
        starts = self._starts.tolist()
        return [range(start, end) for start, end in zip(starts, starts[1:]) if end > start]

    def will_need(self, chunk):
        """Tell the system that a run of numbers is read soon: it reads the files of this machine on at once.

        Parameters
        ----------
        chunk : range
            One of `chunks`, or a part of it.

        """
        for part in range(*np.searchsorted(self._starts, (chunk.start, chunk.stop - 1), "right") + (-1, 0)):
            first, last = (min(max(number - self._starts[part], 0), len(self.places[part]))
                           for number in (chunk.start, chunk.stop))
            places = self.places[part][first:last, :2]
            if len(places):
                self._files.get(self.paths[part]).will_need(int(places[:, 0].min()), int(places.sum(1).max()))

    def place(self, index):
        """Return (path, offset, ...) of a sample: the row of its table."""
        number = self.number(index)
        part = int(np.searchsorted(self._starts, number, "right")) - 1
        return (self.paths[part], *self.places[part][number - self._starts[part]].tolist())

    def describe(self, index):
        """Return where a sample lies, for messages."""
        path, offset, *_ = self.place(index)
        return f"sample {self.number(index)} (byte {offset} of {path})"
