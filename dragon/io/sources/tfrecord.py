"""TFRecord files: records with their lengths and checksums, plain or compressed."""
import os
import struct
import zlib

import numpy as np

from dragon import _C
from dragon.core.files import may_hold
from dragon.io.errors import DataError
from dragon.io.sources.compressed import CHUNK, WINDOW, Inflated
from dragon.io.sources.opened import MOST_OPEN, OpenFiles, Walk, read_spans
from dragon.io.sources.paths import list_paths
from dragon.io.sources.remote import open_file, size_of
from dragon.io.sources.shards import Shards
from dragon.io.source import Stream

LENGTH, CHECK = struct.Struct("<Q"), struct.Struct("<I")
HEAD, TAIL = 12, 4  # bytes of a record before and after what it holds
BROKEN_HEADER = 1  # what the engine says of a length that does not go with its checksum
MASK_STEP, LOW = 0xA282EAD8, 0xFFFFFFFF


def masked(data):
    """Return the CRC-32C of bytes, turned and moved so that it can be stored beside them."""
    value = _C.crc32c(data)
    return ((value >> 15 | value << 17) + MASK_STEP) & LOW


def frame(record):
    """Return a record as it stands in a file: its length and bytes, each with a checksum."""
    length = LENGTH.pack(len(record))
    return b"".join((length, CHECK.pack(masked(length)), record, CHECK.pack(masked(record))))


def walk_records(file, complain, buffering=CHUNK, check=True, stored=None):
    """Yield the records of an open file as bytes.

    Parameters
    ----------
    file : file
        The file.
    complain : Callable
        Makes an exception of what is wrong ("corrupted", "truncated", "longer than its file can hold"), the place, and
        whether it is a record's length that is broken.
    buffering : int, optional
        How many bytes are read at a time.
    check : bool, optional, default=True
        Whether the checksums of records are compared; those of lengths always are.
    stored : int, optional
        How many bytes the file has, where it is compressed.

    """
    waiting, place = b"", 0
    # A record longer than a chunk is met with ever larger ones.
    while block := file.read(max(buffering, CHUNK, len(waiting))):
        waiting = waiting + block if waiting else block
        records, used, trouble = _C.split_records(waiting, check)
        yield from records
        place += used
        if trouble:
            raise complain("corrupted", place, trouble == BROKEN_HEADER)
        waiting = waiting[used:]
        if stored is not None and not may_hold(len(waiting), stored):
            raise complain("longer than its file can hold", place, False)
    if waiting:
        raise complain("truncated", place, False)


def check_compression(compression, who):
    """Return the name of a compression, or raise a ValueError."""
    if compression not in (None, *WINDOW):
        raise ValueError(f"{who}: got compression {compression!r}, expected None, 'gzip' or 'zlib'")
    return compression


class TFRecordStream(Stream):
    """The records of TFRecord files, one after the other.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files; names may have wildcards and braces.
    compression : str, optional
        "gzip" or "zlib"; None for none.
    parse : Callable, optional
        What makes a sample of the bytes of a record: `dragon.io.sources.parse_example`, say.

    """

    def __init__(self, paths, compression=None, parse=None):
        self.paths, self.parse = list_paths(paths, "TFRecordStream"), parse
        self.compression = check_compression(compression, "TFRecordStream")

    def parts(self):
        """Return the records of each file."""
        return [self._read(path) for path in self.paths]

    def _read(self, path):
        def complain(what, place, of_length):
            return DataError(f"TFRecordStream: got a {what} record, expected whole ones", path, place)
        file = open_file(path)
        stored = None
        if self.compression:
            stored = size_of(path)
            file = Inflated(file, self.compression, lambda text: DataError(f"TFRecordStream: {text}", path))
        try:
            records = walk_records(file, complain, stored=stored)
            yield from records if self.parse is None else map(self.parse, records)
            if self.compression and file.torn:
                raise DataError("TFRecordStream: got a compressed file that is cut off, expected a whole one", path)
        finally:
            file.close()


class TFRecord(Shards):
    """The records of TFRecord files by their numbers. Files are walked over once, from length to length.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The files, not compressed; names may have wildcards and braces.
    parse : Callable, optional
        What makes a sample of the bytes of a record: `dragon.io.sources.parse_example`, say.
    index : Union[str, os.PathLike, Sequence], optional
        A file for each, with a line for each record: its place and its size.
    open_files : int, optional, default=64
        How many files are kept open.

    """

    def __init__(self, paths, parse=None, index=None, open_files=MOST_OPEN):
        self.paths, self.parse = list_paths(paths, "TFRecord"), parse
        self._files = OpenFiles(open_files)
        if index is None:
            places = [find_records(self._files.get(path)) for path in self.paths]
        else:
            indexes = list_paths(index, "TFRecord")
            if len(indexes) != len(self.paths):
                raise ValueError(f"TFRecord: got {len(indexes)} indexes for {len(self.paths)} files, expected as many")
            places = [read_index(name) for name in indexes]
        super().__init__(places)

    def _read_part(self, part, places):
        file, found = self._files.get(self.paths[part]), []
        for place, data in zip(places.tolist(), read_spans(file, places, "TFRecord")):
            records, used, _ = _C.split_records(data, True)
            if len(records) != 1 or used != len(data):
                raise DataError("TFRecord: got a corrupted record, expected a whole one", file.path, place[0])
            found.append(records[0] if self.parse is None else self.parse(records[0]))
        return found


def find_records(file):
    """Return the places and sizes of the records of an open file, a row for each."""
    walk, places, place = Walk(file), [], 0
    while place < file.size:
        head = walk.at(place, HEAD)
        if len(head) == HEAD and masked(head[:8]) != CHECK.unpack_from(head, 8)[0]:
            raise DataError("TFRecord: got a corrupted length, expected a TFRecord file, not compressed", file.path,
                            place)
        size = HEAD + TAIL + LENGTH.unpack_from(head)[0] if len(head) == HEAD else 0
        if not 0 < size <= file.size - place:
            raise DataError("TFRecord: got a truncated record, expected whole ones", file.path, place)
        places.append((place, size))
        place += size
    return np.array(places, np.int64).reshape(-1, 2)


def read_index(path):
    """Return the places and sizes of records that a file of lines tells."""
    with open_file(path) as file:
        lines = file.read().split(b"\n")
    try:
        return np.array([tuple(map(int, line.split())) for line in lines if line.strip()], np.int64).reshape(-1, 2)
    except (ValueError, OverflowError):
        raise DataError("TFRecord: got an index of other lines, expected a place and a size in each",
                        os.fsdecode(path)) from None


class TFRecordWriter:
    """Write records into a file, which grows with each: of one whose writer died, all whole records can be read.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        The file; what it holds is replaced.
    compression : str, optional
        "gzip" or "zlib"; None for none.

    """

    def __init__(self, path, compression=None):
        bits = WINDOW.get(check_compression(compression, "TFRecordWriter"))
        self._begin(open_file(path, "wb"), zlib.compressobj(wbits=bits) if bits else None)

    def _begin(self, file, compressor):
        self._file, self._compressor = file, compressor

    def write(self, record):
        """Append a record.

        Parameters
        ----------
        record : bytes
            The record.

        """
        self._check_open()
        packed = frame(record)
        self._file.write(packed if self._compressor is None else self._compressor.compress(packed))

    def _check_open(self):
        if self._file.closed:
            raise ValueError("TFRecordWriter: got a call after close, expected an open writer")

    def flush(self):
        """Write what waits to the file."""
        self._check_open()
        if self._compressor is not None:
            self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self):
        """End the file."""
        if not self._file.closed:
            if self._compressor is not None:
                self._file.write(self._compressor.flush())
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
