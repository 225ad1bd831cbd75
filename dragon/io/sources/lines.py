"""Files of lines: CSV and JSON lines, by number or one line after the other."""
import csv
import gzip
import io
import json
import os
import zlib

import numpy as np

from dragon.core.files import most_held
from dragon.io.errors import DataError
from dragon.io.sources.opened import MOST_OPEN, OpenFiles, read_spans
from dragon.io.sources.paths import list_paths
from dragon.io.sources.remote import open_file, open_whole, size_of
from dragon.io.sources.shards import Shards
from dragon.io.source import Stream

PIECE = 1 << 20
NEWLINE, BLANK = ord("\n"), b" \t\r\n"
UTF8_MARK = b"\xef\xbb\xbf"
# What csv says of longer fields is an error; a text may be long.
LONGEST_FIELD = 1 << 30
BROKEN = EOFError, gzip.BadGzipFile, zlib.error  # of compressed files


def find_lines(file, quote=None):
    """Return the places and sizes of the lines of an open file that are not blank, a row for each.

    Parameters
    ----------
    file : Union[LocalFile, RemoteFile]
        The file.
    quote : str, optional
        What stands around fields that may have ends of lines within.

    """
    ends, place, within = [], 0, False
    while place < file.size:
        data = np.frombuffer(file.read_at(place, PIECE), np.uint8)
        if not len(data):
            break
        is_end = data == NEWLINE
        if quote is not None:
            quoted = (np.cumsum(data == ord(quote)) + within) % 2
            is_end &= quoted == 0
            within = bool(quoted[-1])
        ends.append(np.flatnonzero(is_end) + place + 1)
        place += len(data)
    ends = np.concatenate([*ends, [file.size]]).astype(np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    lines = np.stack((starts, ends - starts), 1)
    lines = lines[lines[:, 1] > 0]
    short = np.flatnonzero(lines[:, 1] < 80)  # a blank line is seldom longer
    texts = read_spans(file, lines[short], "find_lines")
    blank = [row for row, data in zip(short, texts) if not bytes(data).strip(BLANK)]
    return np.delete(lines, blank, 0)


class JSONLines(Shards):
    """The lines of files, each a value of JSON.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files, not compressed; names may have wildcards and braces.
    open_files : int, optional, default=64
        How many files are kept open.

    """

    def __init__(self, paths, open_files=MOST_OPEN):
        self.paths, self._files = list_paths(paths, "JSONLines"), OpenFiles(open_files)
        super().__init__(find_lines(self._files.get(path)) for path in self.paths)

    def _read_part(self, part, places):
        file = self._files.get(self.paths[part])
        return [_read_json(bytes(data), file.path, place, "JSONLines")
                for place, data in zip(places[:, 0].tolist(), read_spans(file, places, "JSONLines"))]


def _read_json(line, path, place, who):
    try:
        return json.loads(line.removeprefix(UTF8_MARK))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{who}: got a line that is no JSON ({error}), expected a value", path, place) from None


def _open_text(path):
    """Return an open file of bytes, decompressed if its name ends with ".gz"."""
    file = open_file(path)
    return gzip.open(file) if path.endswith(".gz") else file


def _walk_lines(file, path, who):
    """Return an iterator over an open file's lines; a compressed one has none that are longer than it can hold."""
    return _read_packed_lines(file, path, who) if path.endswith(".gz") else iter(file)


def _read_packed_lines(file, path, who):
    most = most_held(size_of(path))
    while line := file.readline(most + 1):
        if len(line) > most:
            raise DataError(f"{who}: got a line of more than {most} letters, expected fewer in so small a file", path)
        yield line


class JSONLinesStream(Stream):
    """The lines of files, each a value of JSON, one after the other; those of ".gz" files as well.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files; names may have wildcards and braces.

    """

    def __init__(self, paths):
        self.paths = list_paths(paths, "JSONLinesStream")

    def parts(self):
        """Return the values of each file."""
        return [self._read(path) for path in self.paths]

    def _read(self, path):
        place = 0
        try:
            with _open_text(path) as file:
                for line in _walk_lines(file, path, "JSONLinesStream"):
                    if line.strip(BLANK):
                        yield _read_json(line, path, place, "JSONLinesStream")
                    place += len(line)
        except BROKEN as error:
            raise DataError(f"JSONLinesStream: got a broken compressed file, expected a whole one: {error}",
                            path) from None


class _Columns:
    """What both readers of CSV do with rows."""

    def _begin(self, columns, header, delimiter, quote, types, encoding, who):
        for name, value in (("delimiter", delimiter), ("quote", quote)):
            if not (value is None and name == "quote") and not (isinstance(value, str) and len(value) == 1
                                                                and value.isascii() and value not in "\r\n"):
                raise ValueError(f"{who}: got {name}={value!r}, expected one letter of ASCII")
        if not header and columns is None:
            raise ValueError(f"{who}: got header=False and no columns, expected the names of columns")
        self._who, self._delimiter, self._quote, self._encoding = who, delimiter, quote, encoding
        self.columns, self._header, self.types = columns and list(columns), header, dict(types or {})
        csv.field_size_limit(LONGEST_FIELD)

    def _check_names(self, path, names):
        """Take the names of columns from a file's first row, or compare them with those of the files before."""
        if self.columns is None:
            self.columns = names
        elif self._header and len(names) != len(self.columns):
            raise DataError(f"{self._who}: got {len(names)} columns, expected {len(self.columns)}", path, 0)
        if len(set(self.columns)) < len(self.columns):
            raise DataError(f"{self._who}: got two columns of one name in {self.columns}, expected different ones, or "
                            f"names in columns=", path, 0)
        unknown = sorted(set(self.types) - set(self.columns))
        if unknown:
            raise ValueError(f"{self._who}: got types for {unknown}, expected some of {self.columns}")

    def _split(self, lines):
        return csv.reader(lines, delimiter=self._delimiter, quotechar=self._quote, strict=True,
                          quoting=csv.QUOTE_NONE if self._quote is None else csv.QUOTE_MINIMAL)

    def _parse(self, data, path, place):
        """Return the fields of the bytes of one row."""
        try:
            rows = list(self._split(io.StringIO(data.decode(self._encoding), newline="")))
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{self._who}: got a row that is no CSV, expected fields: {error}", path, place) from None
        return rows[0] if rows else []

    def _make(self, fields, path, place):
        if len(fields) != len(self.columns):
            raise DataError(f"{self._who}: got a row of {len(fields)} fields, expected {len(self.columns)}", path,
                            place)
        sample = dict(zip(self.columns, fields))
        for name, kind in self.types.items():
            try:
                sample[name] = kind(sample[name])
            except ValueError as error:
                raise DataError(f"{self._who}: got {sample[name]!r} in column {name!r}, expected what {kind} takes: "
                                f"{error}", path, place) from None
        return sample


class CSV(_Columns, Shards):
    """The rows of CSV files by their numbers: dicts of text by column.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files, not compressed; names may have wildcards and braces.
    columns : Sequence[str], optional
        The names of columns; the first row of each file by default.
    header : bool, optional, default=True
        Whether the first row of a file is names.
    delimiter : str, optional, default=","
        What stands between fields.
    quote : str, optional
        What stands around fields, '"' by default; twice within a field it stands for itself. None for nothing.
    types : dict, optional
        Functions by column: `{"age": int}`.
    encoding : str, optional, default="utf-8"
        How text is written; ends of lines must be bytes of their own.
    open_files : int, optional, default=64
        How many files are kept open.

    """

    def __init__(self, paths, columns=None, header=True, delimiter=",", quote='"', types=None, encoding="utf-8",
                 open_files=MOST_OPEN):
        self._begin(columns, header, delimiter, quote, types, encoding, "CSV")
        self.paths, self._files = list_paths(paths, "CSV"), OpenFiles(open_files)
        super().__init__([self._find_rows(path) for path in self.paths])

    def _find_rows(self, path):
        file = self._files.get(path)
        lines = find_lines(file, self._quote)
        names = []
        if self._header and len(lines):
            data, = read_spans(file, lines[:1], "CSV")
            names = self._parse(bytes(data).removeprefix(UTF8_MARK), path, 0)
            lines = lines[1:]
        if len(lines) or names:
            self._check_names(path, names)
        return lines

    def _read_part(self, part, places):
        file = self._files.get(self.paths[part])
        return [self._make(self._parse(bytes(data), file.path, place), file.path, place)
                for place, data in zip(places[:, 0].tolist(), read_spans(file, places, "CSV"))]


class CSVStream(_Columns, Stream):
    """The rows of CSV files one after the other, those of ".gz" files as well: dicts of text by column.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files; names may have wildcards and braces.
    columns, header, delimiter, quote, types, encoding : optional
        As for `CSV`.

    """

    def __init__(self, paths, columns=None, header=True, delimiter=",", quote='"', types=None, encoding="utf-8"):
        self._begin(columns, header, delimiter, quote, types, encoding, "CSVStream")
        self.paths = list_paths(paths, "CSVStream")

    def parts(self):
        """Return the rows of each file."""
        return [self._read(path) for path in self.paths]

    def _read(self, path):
        row = None
        try:
            with _open_text(path) as file, io.TextIOWrapper(file, self._encoding, newline="") as text:
                first = True
                for row in self._split(_walk_lines(text, path, "CSVStream")):
                    if not row:
                        continue
                    if first and self._header:
                        row[0] = row[0].removeprefix("\ufeff")
                        self._check_names(path, row)
                    else:
                        if first:
                            self._check_names(path, [])
                        yield self._make(row, path, None)
                    first = False
        except (csv.Error, UnicodeDecodeError, *BROKEN) as error:
            raise DataError(f"CSVStream: got a file that is no CSV after {row}, expected rows: {error}",
                            path) from None


def _plain(value):
    """Return NumPy's numbers and arrays as what JSON takes."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"write_json_lines: got a value of type {type(value).__name__}, expected what JSON takes")


def write_json_lines(samples, path):
    """Write values, each into a line of a file, and return their number.

    Parameters
    ----------
    samples : Iterable
        What JSON takes; arrays become lists.
    path : Union[str, os.PathLike]
        The file.

    Returns
    -------
    int
        How many there were.

    """
    count = 0
    with open_whole(path) as file:
        for count, sample in enumerate(samples, 1):
            file.write(json.dumps(sample, ensure_ascii=False, default=_plain).encode() + b"\n")
    return count


def write_csv(samples, path):
    """Write dicts of the same names as rows, and return their number.

    Parameters
    ----------
    samples : Iterable of dict
        The rows; the names of the first are the columns.
    path : Union[str, os.PathLike]
        The file.

    Returns
    -------
    int
        How many there were.

    """
    count = 0
    with open_whole(path) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        writer = None
        for count, sample in enumerate(samples, 1):
            if not isinstance(sample, dict) or any(isinstance(value, (bytes, list, tuple, dict, np.ndarray))
                                                   for value in sample.values()):
                raise TypeError(f"write_csv: got {type(sample).__name__}, expected a dict of text and numbers in "
                                f"{os.fsdecode(path)}")
            if writer is None:
                writer = csv.DictWriter(text, list(sample))
                writer.writeheader()
            writer.writerow(sample)
    return count
