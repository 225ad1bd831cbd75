"""One KPLRecord file: what it begins with, where its records lie, and how that is found out.

A file is sixteen bytes that say what it is, then frames (core/io/record_frame.h): one of kind HEADER that holds a dict,
one for each sample, one of kind INDEX with the places of all samples before it, and a TRAILER with the place of the
index. Nothing is ever written over: a file that is appended to has more samples, an index and a trailer behind the old
ones. Without a trailer at its end, its samples are found by their heads.
"""
import struct

import numpy as np

from dragon import _C
from dragon.io.errors import DataError
from dragon.io.records.packing import unpack

MAGIC = b"\x89KPL\r\n\x1a\n"
VERSION = 1
START = struct.Struct("<8sII")  # the magic bytes, the version, the checksum of both
HEADER, SAMPLE, INDEX, TRAILER = 1, 2, 3, 4
HEAD, ALIGN = 32, 16
PLACE = np.dtype("<u8")
# The body of a trailer is an array of two numbers.
TRAILER_SIZE = HEAD + 32
WHOLE = "whole"


def make_start():
    """Return what a file begins with."""
    return START.pack(MAGIC, VERSION, _C.crc32c(struct.pack("<8sI", MAGIC, VERSION)))


def read_values(file, places, kind=SAMPLE):
    """Return the values at some places of an open file.

    Parameters
    ----------
    file : Union[LocalFile, RemoteFile]
        The file.
    places : numpy.ndarray
        The places and sizes of frames, a row for each.
    kind : int, optional
        What kind of frames they are.

    Returns
    -------
    list
        The values.

    """
    values, trouble = _C.kpl_read(file.source, file.size, np.ascontiguousarray(places, PLACE).tobytes(), kind, unpack)
    if trouble is not None:
        raise _name_trouble(file, *trouble)
    return values


def walk_values(file, places):
    """Return what goes over the samples at rising places of an open file, and makes one at a time.

    Parameters
    ----------
    file : Union[LocalFile, RemoteFile]
        The file; it stays open as long.
    places : numpy.ndarray
        The places and sizes of frames, a row for each.

    Returns
    -------
    Iterator
        Of the samples.

    """
    def fail(what, offset):
        raise _name_trouble(file, what, offset)
    return _C.kpl_walk(file.source, file.size, np.ascontiguousarray(places, PLACE).tobytes(), SAMPLE, unpack, fail)


def _name_trouble(file, what, offset):
    return DataError(f"KPLRecord: got {what}, expected whole records", file.path, offset)


class Shard:
    """Where the samples of one file are.

    Parameters
    ----------
    file : Union[LocalFile, RemoteFile]
        The open file; it is not kept.

    """

    def __init__(self, file):
        self.path, self.size = file.path, file.size
        self._check_start(file)
        self.lost = []  # (offset, size) of what no record was found in
        self.index_health = WHOLE
        try:
            self.places = self._read_index(file)
        except DataError as error:
            self.index_health = error.message
            self._scan(file)

    def _check_start(self, file):
        start = file.read_at(0, START.size)
        if len(start) < START.size or not start.startswith(MAGIC):
            raise DataError(f"KPLRecord: got a file of {file.size} bytes that does not begin as a KPLRecord does, "
                            f"expected a file that KPLRecordWriter wrote", file.path, 0)
        _, version, crc = START.unpack(start)
        if crc != _C.crc32c(start[:12]):
            raise DataError("KPLRecord: got a broken start, expected a whole file", file.path, 0)
        if version != VERSION:
            raise DataError(f"KPLRecord: got version {version}, expected {VERSION}: a newer Dragon wrote it", file.path,
                            len(MAGIC))

    def _read_index(self, file):
        """Return the places of all samples as the index tells them, or raise a DataError."""
        at = self.size - TRAILER_SIZE
        if at < START.size or _C.kpl_head(file.read_at(at, HEAD), at) != (TRAILER, TRAILER_SIZE):
            raise DataError("KPLRecord: got no trailer at the end, expected one: the writer was not closed")
        trailer, = read_values(file, [[at, TRAILER_SIZE]], TRAILER)
        if not isinstance(trailer, np.ndarray) or trailer.dtype != PLACE or trailer.shape != (2,):
            raise DataError("KPLRecord: got a trailer without the place of an index, expected one", self.path, at)
        index, = read_values(file, [trailer], INDEX)
        if not isinstance(index, np.ndarray) or index.dtype != PLACE or index.ndim != 2 or index.shape[1] != 2:
            raise DataError("KPLRecord: got an index without places, expected one", self.path, int(trailer[0]))
        self._check_places(index, int(trailer[0]))
        return index

    def _check_places(self, places, limit):
        """Raise a DataError unless places rise, do not overlap, and lie before the index."""
        offsets, sizes = places[:, 0], places[:, 1]
        limit = np.uint64(limit)
        # Sizes are compared before they are added: numbers of 64 bits go round.
        good = (offsets <= limit) & (sizes <= limit) & (sizes >= HEAD) & (offsets >= START.size)
        if not good.all() or (offsets % np.uint64(ALIGN)).any() or (offsets + sizes > limit).any() or (
                offsets[:-1] + sizes[:-1] > offsets[1:]).any():
            raise DataError("KPLRecord: got an index of places outside of the file, expected a whole one", self.path,
                            int(limit))

    def _scan(self, file):
        places, lost = (np.frombuffer(part, PLACE).reshape(-1, 2)
                        for part in _C.kpl_scan(file.source, self.size, START.size))
        self.places, self.lost = places, [(int(offset), int(size)) for offset, size in lost]

    def read_header(self, file):
        """Return the dict that the file begins with."""
        head = _C.kpl_head(file.read_at(START.size, HEAD), START.size)
        if head is None or head[0] != HEADER:
            raise DataError("KPLRecord: got a broken header, expected the file's metadata", self.path, START.size)
        header, = read_values(file, [[START.size, head[1]]], HEADER)
        if not isinstance(header, dict) or not isinstance(header.get("metadata"), dict):
            raise DataError("KPLRecord: got a header without metadata, expected a dict", self.path, START.size)
        return header
