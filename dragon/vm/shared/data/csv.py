"""Datasets of files of comma separated values; batches are made of whole columns of text at once."""
import csv
from collections import OrderedDict

from dragon.io.stages.batching import lists
from dragon.vm.shared import errors
from dragon.vm.shared.data.csv_columns import Column
from dragon.vm.shared.data.dataset import Dataset
from dragon.vm.shared.data.readers import read_lines
from dragon.vm.shared.data.rows import wrap_array
from dragon.vm.shared.data.shuffling import Shuffle
from dragon.vm.shared.data.specs import TensorSpec
from dragon.vm.shared.files.records import check_compression
from dragon.vm.shared.letters import expect

# In the order in which they are tried; the first that holds all fields is a column's.
GUESSES = ("int32", "int64", "float32", "float64")
LARGEST = {"int32": 2.0 ** 31, "int64": 2.0 ** 63, "float32": 3.4028234e38, "float64": float("inf")}


class Format:
    """The rules by which lines are cut into fields."""

    def __init__(self, delimiter=",", quotes=True, header=False, compression=None, buffer_size=None):
        self.options = {"delimiter": delimiter, "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE}
        self.header, self.compression = header, check_compression(compression, "CSV")
        self.buffer = buffer_size or 1 << 22

    def read(self, path):
        """Yield the rows of a file as lists of text."""
        lines = (line.decode("utf-8", "surrogateescape") + "\n" for line in
                 read_lines(path, self.compression, self.buffer))
        rows = csv.reader(lines, **self.options)
        if self.header:
            next(rows, None)
        return (row for row in rows if row)


class CsvRows(Dataset):
    """Rows of files as lists of text, for other datasets to make elements of."""

    def __init__(self, files, form, chosen, width, good=None):
        super().__init__(files)
        self._form, self._chosen, self._width = form, chosen, width
        self._good = good  # the columns that rows have to fit, where others are left out

    def _names(self):
        return (name.numpy() for name in self._sources[0]._open())

    def _iterate(self):
        for path in self._names():
            for number, row in enumerate(self._form.read(path)):
                if self._chosen is not None:
                    row = [row[place] for place in self._chosen if place < len(row)]
                if self._good is not None:
                    if self._fits(row):
                        yield row
                    continue
                if len(row) != self._width:
                    raise errors.InvalidArgumentError(
                        None, None, f"Expect {self._width} fields but have {len(row)} in record {number} of "
                        f"{path.decode(errors='replace')}. Received: {row}")
                yield row

    def _fits(self, row):
        """Return whether a row has all fields, and each is of its column's kind."""
        try:
            return len(row) == self._width and bool([column.read([field]) for column, field in zip(self._good, row)])
        except (errors.InvalidArgumentError, OverflowError):
            return False


class CsvDataset(Dataset):
    """The rows of files as tuples of scalars.

    Parameters
    ----------
    filenames : Union[str, Sequence[str], Tensor, Dataset]
        The files.
    record_defaults : Sequence
        For each column a dtype where a value must be there, else a tensor of what empty fields hold.
    compression_type : str, optional
        "GZIP", "ZLIB", or "" for none.
    buffer_size : int, optional
        How many bytes are read at a time.
    header : bool, optional, default=False
        Whether the first line of each file is skipped.
    field_delim : str, optional, default=","
        What stands between fields.
    use_quote_delim : bool, optional, default=True
        Whether quotes hold fields together.
    na_value : str, optional, default=""
        A further text that stands for an empty field.
    select_cols : Sequence[int], optional
        The columns that are read; all by default.
    exclude_cols : Sequence[int], optional
        The columns that are not read.

    """

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        super().__init__()
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("CsvDataset: either select_cols or exclude_cols can be given. Received: "
                             f"select_cols={select_cols!r}, exclude_cols={exclude_cols!r}")
        self._columns = [Column(default, number, na_value) for number, default in enumerate(record_defaults)]
        width, chosen = len(self._columns), None if select_cols is None else [int(one) for one in select_cols]
        if exclude_cols is not None:
            left = {int(one) for one in exclude_cols}
            chosen = [place for place in range(width + len(left)) if place not in left]
        from dragon.vm.shared.data.readers import TextLineDataset
        files = TextLineDataset(filenames)._sources[0]
        form = Format(field_delim, use_quote_delim, header, compression_type, buffer_size)
        self._sources = (CsvRows(files, form, chosen, width),)
        self._spec = (tuple(TensorSpec([], column.tensor.dtype) for column in self._columns),)

    def _iterate(self):
        for row in self._sources[0]._open():
            yield tuple([wrap_array(column.read([field]).reshape(())) for column, field in zip(self._columns, row)])


class CsvBatches(Dataset):
    """Batches of rows as dicts of columns, with the label apart."""

    def __init__(self, rows, names, columns, size, label, drop_remainder):
        super().__init__(rows)
        self._names, self._columns, self._size = names, columns, size
        self._label, self._drop = label, drop_remainder
        size = size if drop_remainder else None
        self._spec = (self._assemble([TensorSpec([size], column.tensor.dtype) for column in columns]),)

    def _assemble(self, parts):
        features = OrderedDict(zip(self._names, parts))
        if self._label is None:
            return features
        label = features.pop(self._label)
        return features, label

    def _iterate(self):
        return map(self._put_together, lists(self._sources[0]._open(), self._size, self._drop))

    def _open_behind(self, count):
        return map(self._put_together, lists(self._sources[0]._open_behind(count * self._size), self._size, self._drop))

    def _put_together(self, rows):
        return self._assemble([wrap_array(column.read(fields)) for column, fields in zip(self._columns, zip(*rows))])

    def _count(self):
        return self._sources[0]._count() if self._sources[0]._count() == -1 else -2


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                     select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                     compression_type=None, ignore_errors=False, encoding="utf-8"):
    """Return a dataset of batches of rows of files as dicts of columns.

    Parameters
    ----------
    file_pattern : Union[str, Sequence[str]]
        The files.
    batch_size : int
        How many rows make a batch.
    column_names : Sequence[str], optional
        The names of all columns; the header's by default.
    column_defaults : Sequence, optional
        As for `CsvDataset`; by default found by looking at the first rows.
    label_name : str, optional
        The column that comes apart from the others.
    select_columns : Sequence, optional
        Names or numbers of the columns that are read.
    field_delim, use_quote_delim, na_value, compression_type : Any, optional
        As for `CsvDataset`.
    header : bool, optional, default=True
        Whether files begin with a line of names.
    num_epochs : int, optional
        How often the files are read; for ever by default.
    shuffle : bool, optional, default=True
        Whether rows are shuffled.
    shuffle_buffer_size, shuffle_seed : int, optional
        As for `tf.data.Dataset.shuffle`; 10000 elements by default.
    prefetch_buffer_size : int, optional
        How many batches are made ahead; found by measuring by default.
    num_parallel_reads, sloppy : Any, optional
        Not used: files are read one after the other.
    num_rows_for_inference : int, optional, default=100
        How many rows are looked at; None for all.
    ignore_errors : bool, optional, default=False
        Whether rows that cannot be read are left out.
    encoding : str, optional, default="utf-8"
        Of the files; no other is read.

    """
    if expect(encoding, str, "make_csv_dataset", "encoding").lower() not in ("utf-8", "utf8"):
        raise NotImplementedError("make_csv_dataset: encodings other than UTF-8 are not supported. "
                                  f"Received: encoding={encoding!r}")
    from dragon.vm.shared.data.sources import Files
    paths = sorted(name.numpy() for name in Files(file_pattern, shuffle=False)._open())
    form = Format(field_delim, use_quote_delim, False, compression_type)
    column_names = _names(form, paths, column_names, header)
    form.header = header
    chosen = _choose(select_columns, column_names)
    names_read = [column_names[place] for place in chosen]
    if label_name is not None and label_name not in names_read:
        raise ValueError(f"make_csv_dataset: `label_name` provided must be one of the columns. Received: {label_name!r}"
                         f" for {names_read}")
    if column_defaults is None:
        column_defaults = _guess(form, paths, chosen, na_value, num_rows_for_inference)
    elif select_columns is not None and len(column_defaults) == len(column_names) != len(chosen):
        column_defaults = [column_defaults[place] for place in chosen]
    columns = [Column(default, number, na_value) for number, default in enumerate(column_defaults)]
    rows = CsvRows(Files(file_pattern, bool(shuffle), shuffle_seed), form, chosen, len(chosen),
                   columns if ignore_errors else None)
    rows = Shuffle(rows, shuffle_buffer_size, shuffle_seed) if shuffle else rows
    rows = rows.repeat(num_epochs) if num_epochs != 1 else rows
    batches = CsvBatches(rows, names_read, columns, int(batch_size), label_name, num_epochs is None)
    return batches.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _names(form, paths, names, header):
    """Return the names of the columns."""
    if names is None:
        if not header:
            raise ValueError("make_csv_dataset: Cannot infer column names without a header line.")
        names = next(form.read(paths[0]))
    if len(set(names)) != len(names):
        raise ValueError(f"make_csv_dataset: Cannot have duplicate column names. Received: {names}")
    return list(names)


def _choose(select_columns, names):
    """Return the numbers of the columns that are read."""
    if select_columns is None:
        return list(range(len(names)))
    places = []
    for column in select_columns:
        if isinstance(column, str) and column not in names:
            raise ValueError(f"make_csv_dataset: Value {column!r} for column is not one of the names. "
                             f"Received: {names}")
        places.append(names.index(column) if isinstance(column, str) else int(column))
    return sorted(places)


def _guess(form, paths, chosen, na_value, limit):
    """Return what empty fields of each column hold, in the narrowest dtype that holds the first rows."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    ranks, seen = [0] * len(chosen), 0
    for path in paths:
        for row in form.read(path):
            if limit is not None and seen >= limit:
                break
            seen += 1
            for number, place in enumerate(chosen):
                field = row[place] if place < len(row) else ""
                if field and field != na_value:
                    ranks[number] = max(ranks[number], _rank(field))
    return [convert_to_tensor("") if rank == len(GUESSES) else convert_to_tensor(0, dtype=GUESSES[rank])
            for rank in ranks]


def _rank(field):
    """Return the number of the first guess that holds a field."""
    for rank, name in enumerate(GUESSES):
        try:
            value = (int if name.startswith("int") else float)(field)
        except ValueError:
            continue
        if abs(value) < LARGEST[name] or value != value:
            return rank
    return len(GUESSES)
