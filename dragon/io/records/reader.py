"""KPLRecord files as one source of samples."""
import operator

import numpy as np

from dragon.io.records.shard import Shard, read_values
from dragon.io.sources.opened import MOST_OPEN, OpenFiles
from dragon.io.sources.paths import list_paths
from dragon.io.sources.source import Source

MOST_AT_ONCE, MOST_RECORDS = 512 << 10, 512


class KPLRecord(Source):
    """The samples of KPLRecord files, found by their numbers.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        A file, several, or names with wildcards or braces: "train-*.kpl". Samples are numbered in the order of files.
    open_files : int, optional, default=64
        How many files are kept open.

    Examples
    --------
    >>> import tempfile, os
    >>> from dragon.io.records import KPLRecord, KPLRecordWriter
    >>> path = os.path.join(tempfile.mkdtemp(), "a.kpl")
    >>> with KPLRecordWriter(path) as writer:
    ...     _ = writer.write({"text": "one", "label": 1})
    >>> KPLRecord(path)[0]
    {'text': 'one', 'label': 1}

    """

    def __init__(self, paths, open_files=MOST_OPEN):
        self.paths = list_paths(paths, "KPLRecord")
        self._files = OpenFiles(open_files)
        self.shards = [Shard(self._files.get(path)) for path in self.paths]
        self._starts = np.cumsum([0] + [len(shard.places) for shard in self.shards])

    def __len__(self):
        return int(self._starts[-1])

    @property
    def metadata(self):
        """What the first file tells of all samples."""
        return self.shards[0].read_header(self._files.get(self.paths[0]))["metadata"]

    def read(self, indices):
        """Return the samples of these numbers, in this order; neighbours are read together.

        Parameters
        ----------
        indices : Sequence[int]
            The numbers; negative ones count from the end.

        Returns
        -------
        list
            The samples. Their arrays are the caller's own, to be written to.

        """
        numbers = self._numbers(indices)
        if len(self.shards) == 1 or not len(numbers):
            return self._read_shard(0, numbers) if len(numbers) else []
        shards = np.searchsorted(self._starts, numbers, "right") - 1
        if (shards == shards[0]).all():
            return self._read_shard(int(shards[0]), numbers)
        values = [None] * len(numbers)
        for shard in np.unique(shards):
            places, = np.nonzero(shards == shard)
            for place, value in zip(places, self._read_shard(int(shard), numbers[places])):
                values[place] = value
        return values

    def __iter__(self):
        for shard in self.shards:
            offsets = shard.places[:, 0]
            start = 0
            while start < len(offsets):
                # So much at a time that it still lies in the processor's own memory when it is used.
                near = int(np.searchsorted(offsets, offsets[start] + np.uint64(MOST_AT_ONCE)))
                end = max(start + 1, min(near, start + MOST_RECORDS))
                yield from read_values(self._files.get(shard.path), shard.places[start:end])
                start = end

    def _numbers(self, indices):
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

    def _read_shard(self, number, numbers):
        shard = self.shards[number]
        return read_values(self._files.get(shard.path), shard.places[numbers - self._starts[number]])

    def chunks(self):
        """Return the runs of numbers of each file."""
        starts = self._starts.tolist()
        return [range(start, end) for start, end in zip(starts, starts[1:]) if end > start]

    def place(self, index):
        """Return (path, offset, size) of a sample's record."""
        number = self.number(index)
        which = int(np.searchsorted(self._starts, number, "right")) - 1
        offset, size = self.shards[which].places[number - self._starts[which]].tolist()
        return self.shards[which].path, offset, size

    def describe(self, index):
        """Return where a sample lies, for messages."""
        path, offset, _ = self.place(index)
        return f"sample {self.number(index)} (byte {offset} of {path})"
