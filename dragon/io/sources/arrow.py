"""Parquet, Arrow and Feather files, through the package pyarrow."""
import numpy as np

from dragon.core.distribution import install_words
from dragon.io.errors import DataError
from dragon.io.sources.opened import Kept
from dragon.io.sources.paths import list_paths
from dragon.io.sources.remote import open_file, open_whole
from dragon.io.source import Source

# Groups of rows that stay unpacked: samples are mostly read in runs.
KEPT_GROUPS = 2


def find_pyarrow(who):
    """Return the package pyarrow, or raise a letter that names it."""
    try:
        import pyarrow
    except ImportError:
        raise ModuleNotFoundError(f"{who}: got no package pyarrow, expected it: {install_words('data')}",
                                  name="pyarrow") from None
    return pyarrow


class _Groups(Source):
    """Rows that lie in groups, which are read whole: dicts by column."""

    def __init__(self, paths, columns, open_files, who):
        find_pyarrow(who)
        self._who, self.columns, self._limit = who, columns and list(columns), open_files
        self.paths = list_paths(paths, who)
        self._begin()
        self._groups, sizes = [], []  # (file, group) and its number of rows
        for number, path in enumerate(self.paths):
            names, counted = self._guard(lambda path: self._describe(self._files.get(path)), path)
            absent = sorted(set(self.columns or ()) - set(names))
            if absent:
                raise DataError(f"{who}: got no columns {absent}, expected some of {names}", path)
            self._groups += [(number, group) for group in range(len(counted))]
            sizes += counted
        self._starts = np.cumsum([0, *sizes])

    def _begin(self):
        self._files, self._tables = Kept(self._limit, self._open), Kept(KEPT_GROUPS, self._read_group)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in ("_files", "_tables")}

    def __setstate__(self, state):
        vars(self).update(state)
        self._begin()

    def _open(self, path):
        """Return what reads a file."""
        raise NotImplementedError(f"{self._who}: got no method _open, expected one")

    def _read_group(self, group):
        number, part = self._groups[group]
        return self._guard(lambda path: self._take(self._files.get(path), part), self.paths[number])

    def __len__(self):
        return int(self._starts[-1])

    def _guard(self, function, path):
        import pyarrow
        try:
            return function(path)
        except (pyarrow.ArrowException, OSError, EOFError) as error:
            if getattr(error, "errno", None):  # the system's own; pyarrow's OSError has none
                raise
            raise DataError(f"{self._who}: got a file that cannot be read, expected a whole one: {error}",
                            path) from None

    def read(self, indices):
        """Return the rows of these numbers, in this order; rows of one group are unpacked together.

        Parameters
        ----------
        indices : Sequence[int]
            The numbers; negative ones count from the end.

        Returns
        -------
        list of dict
            The rows.

        """
        numbers = np.array([self.number(index) for index in indices], np.int64)
        groups = np.searchsorted(self._starts, numbers, "right") - 1
        values = [None] * len(numbers)
        for group in np.unique(groups):
            where, = np.nonzero(groups == group)
            table = self._tables.get(int(group))
            rows = table.take((numbers[where] - self._starts[group]).tolist()).to_pylist()
            for place, row in zip(where, rows):
                values[place] = row
        return values

    def chunks(self):
        """Return the runs of numbers of each group of rows."""
        starts = self._starts.tolist()
        return [range(start, end) for start, end in zip(starts, starts[1:]) if end > start]

    def describe(self, index):
        """Return where a sample lies, for messages."""
        number = self.number(index)
        group = int(np.searchsorted(self._starts, number, "right")) - 1
        path = self.paths[self._groups[group][0]]
        return f"sample {number} (row {number - self._starts[group]} of group {self._groups[group][1]} of {path})"


class Parquet(_Groups):
    """The rows of Parquet files by their numbers: dicts by column.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files; names may have wildcards and braces.
    columns : Sequence[str], optional
        Which columns are read; all by default.
    open_files : int, optional, default=8
        How many files are kept open.

    """

    def __init__(self, paths, columns=None, open_files=8):
        super().__init__(paths, columns, open_files, "Parquet")

    def _open(self, path):
        import pyarrow.parquet
        return pyarrow.parquet.ParquetFile(open_file(path))

    def _describe(self, file):
        return file.schema_arrow.names, [file.metadata.row_group(group).num_rows
                                         for group in range(file.num_row_groups)]

    def _take(self, file, group):
        return file.read_row_group(group, columns=self.columns)


class Arrow(_Groups):
    """The rows of Arrow files by their numbers, of Feather files and of Arrow's streams as well: dicts by column.

    A stream has no table of its batches, so it is read whole when it is opened.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files; names may have wildcards and braces.
    columns : Sequence[str], optional
        Which columns are read; all by default.
    open_files : int, optional, default=8
        How many files are kept open.

    """

    def __init__(self, paths, columns=None, open_files=8):
        super().__init__(paths, columns, open_files, "Arrow")

    def _open(self, path):
        """Return (names of columns, a function that returns a batch of rows, how many there are)."""
        import pyarrow
        file = open_file(path)
        start = file.read(6)
        file.seek(0)
        if start == b"ARROW1":
            reader = pyarrow.ipc.open_file(file)
            return reader.schema.names, reader.get_batch, reader.num_record_batches
        if start.startswith(b"FEA1"):
            raise DataError("Arrow: got a Feather file of version 1, expected one of version 2", path, 0)
        with file:
            reader = pyarrow.ipc.open_stream(file)
            batches = list(reader)
        return reader.schema.names, batches.__getitem__, len(batches)

    def _describe(self, file):
        names, get, count = file
        return names, [get(number).num_rows for number in range(count)]

    def _take(self, file, group):
        import pyarrow
        table = pyarrow.Table.from_batches([file[1](group)])
        return table if self.columns is None else table.select(self.columns)


def _tables(samples, who, rows):
    """Yield tables of so many dicts each, all of the first one's columns and types."""
    pyarrow = find_pyarrow(who)
    schema, waiting = None, []

    def make():
        try:
            return pyarrow.Table.from_pylist(waiting, schema=schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
            raise TypeError(f"{who}: got samples of different or unknown types, expected dicts of numbers, text, bytes "
                            f"and lists of one type: {error}") from None
    for sample in samples:
        if not isinstance(sample, dict):
            raise TypeError(f"{who}: got a sample of type {type(sample).__name__}, expected a dict")
        waiting.append({name: value.tolist() if isinstance(value, np.ndarray) and value.ndim != 1 else value
                        for name, value in sample.items()})
        if len(waiting) == rows:
            yield make()
            schema, waiting = schema or make().schema, []
    if waiting or schema is None:
        yield make()


def write_parquet(samples, path, rows=1024):
    """Write dicts as rows of a Parquet file, and return their number.

    Parameters
    ----------
    samples : Iterable of dict
        The rows.
    path : Union[str, os.PathLike]
        The file.
    rows : int, optional, default=1024
        How many of them are one group.

    Returns
    -------
    int
        How many there were.

    """
    find_pyarrow("write_parquet")
    import pyarrow.parquet
    return _write(samples, path, rows, "write_parquet",
                  lambda file, schema: pyarrow.parquet.ParquetWriter(file, schema))


def write_arrow(samples, path, rows=1024):
    """Write dicts as rows of an Arrow file, which is a Feather file of version 2 as well, and return their number.

    Parameters
    ----------
    samples : Iterable of dict
        The rows.
    path : Union[str, os.PathLike]
        The file.
    rows : int, optional, default=1024
        How many of them are one batch.

    Returns
    -------
    int
        How many there were.

    """
    pyarrow = find_pyarrow("write_arrow")
    return _write(samples, path, rows, "write_arrow", lambda file, schema: pyarrow.ipc.new_file(file, schema))


def _write(samples, path, rows, who, make_writer):
    count, writer = 0, None
    with open_whole(path) as file:
        try:
            for table in _tables(samples, who, rows):
                writer = writer or make_writer(file, table.schema)
                writer.write_table(table)
                count += table.num_rows
        finally:
            if writer is not None:
                writer.close()
    return count
