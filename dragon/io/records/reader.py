"""KPLRecord files as one source of samples."""
import itertools

from dragon.io.records.shard import Shard, read_values, walk_values
from dragon.io.sources.opened import MOST_OPEN, OpenFiles
from dragon.io.sources.paths import list_paths
from dragon.io.sources.shards import Shards


class KPLRecord(Shards):
    """The samples of KPLRecord files, found by their numbers. Their arrays are the caller's own, to be written to.

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
        super().__init__(shard.places for shard in self.shards)

    @property
    def metadata(self):
        """What the first file tells of all samples."""
        return self.shards[0].read_header(self._files.get(self.paths[0]))["metadata"]

    def _read_part(self, part, places):
        return read_values(self._files.get(self.paths[part]), places)

    def __iter__(self):
        return itertools.chain.from_iterable(walk_values(self._files.get(path), places)
                                             for path, places in zip(self.paths, self.places))
