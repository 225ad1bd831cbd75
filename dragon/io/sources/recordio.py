"""MXNet's RecordIO files: a `.rec` of records, and an `.idx` of lines that tell where each of them begins.

A record is a magic number, four bytes of its length and part, what it holds, zeros up to the next fourth byte. Where
what it holds has the magic number at a fourth byte, it is cut there into parts, and the number is left out.
"""
import os
import struct
from collections import namedtuple

import numpy as np

from dragon.io.errors import DataError
from dragon.io.sources.opened import MOST_OPEN, OpenFiles, Walk, read_spans
from dragon.io.sources.paths import list_paths
from dragon.io.sources.remote import is_remote, open_file
from dragon.io.sources.shards import Shards

MAGIC = struct.pack("<I", 0xCED7230A)
HEAD = struct.Struct("<4sI")
WHOLE, FIRST, MIDDLE, LAST = range(4)
LENGTH_BITS = 29
LONGEST = (1 << LENGTH_BITS) - 1
# Of an image's record: how many labels follow (0 for the one that stands here), the label, two numbers.
HEADER = struct.Struct("<IfQQ")


class Labelled(namedtuple("Labelled", "label id id2 data")):
    """What a record of an image holds: a number or an array of labels, two numbers, the bytes of the image."""

    __slots__ = ()


class RecordIO(Shards):
    """The records of RecordIO files by their numbers.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The `.rec` files; names may have wildcards and braces.
    index : Union[bool, str, os.PathLike, Sequence], optional
        The `.idx` files, whose order is that of the samples. None takes those that lie beside the `.rec` files, and
        walks over the files that have none; False walks over all.
    labelled : bool, optional, default=True
        Whether records begin with labels: samples are then dicts of "label", "id", "id2" and "data", and bytes
        otherwise.
    open_files : int, optional, default=64
        How many files are kept open.

    """

    def __init__(self, paths, index=None, labelled=True, open_files=MOST_OPEN):
        self.paths, self.labelled = list_paths(paths, "RecordIO"), labelled
        self._files = OpenFiles(open_files)
        if index is None or index is False:
            indexes = [None if index is False else _beside(path) for path in self.paths]
        else:
            indexes = list_paths(index, "RecordIO")
        if len(indexes) != len(self.paths):
            raise ValueError(f"RecordIO: got {len(indexes)} indexes for {len(self.paths)} files, expected as many")
        super().__init__(find_records(self._files.get(path)) if name is None else
                         read_index(name, self._files.get(path)) for name, path in zip(indexes, self.paths))

    def _read_part(self, part, places):
        file = self._files.get(self.paths[part])
        found = []
        for place, data in zip(places.tolist(), read_spans(file, places, "RecordIO")):
            record = _join(data, file.path, place[0])
            found.append(unpack(record, file.path, place[0])._asdict() if self.labelled else record)
        return found


def _beside(path):
    name = os.path.splitext(path)[0] + ".idx"
    return name if not is_remote(path) and os.path.exists(name) else None


def _broken(what, path, place):
    return DataError(f"RecordIO: got {what}, expected whole records", path, place)


def read_index(path, file):
    """Return the places of records that a file of lines tells, in its order, and up to where each may reach."""
    with open_file(path) as lines:
        words = [line.split() for line in lines.read().split(b"\n") if line.strip()]
    try:
        offsets = np.array([int(place) for _, place in words], np.int64)
    except (ValueError, OverflowError):
        raise DataError("RecordIO: got an index of other lines, expected a key and a place in each", path) from None
    if len(offsets) and not 0 <= offsets.min() <= offsets.max() < file.size:
        raise DataError("RecordIO: got an index of places outside of its file, expected places in it", path)
    ends = np.append(np.unique(offsets), file.size)
    return np.stack((offsets, ends[np.searchsorted(ends, offsets, "right")] - offsets), 1)


def find_records(file):
    """Return the places and sizes of the records of an open file, a row for each."""
    walk, places, place, start, within = Walk(file), [], 0, 0, False
    while place < file.size:
        part, length = _read_head(walk.at(place, HEAD.size), file.path, place)
        if part > LAST or (part in (MIDDLE, LAST)) != within:
            raise _broken("parts of a record in a wrong order", file.path, place)
        start = start if within else place
        within = part in (FIRST, MIDDLE)
        place += HEAD.size + (length + 3) // 4 * 4
        if place > file.size + 3:
            raise _broken("a record that is cut off", file.path, start)
        if not within:
            places.append((start, min(place, file.size) - start))
    if within:
        raise _broken("a record that is cut off", file.path, start)
    return np.array(places, np.int64).reshape(-1, 2)


def _read_head(head, path, place):
    if len(head) < HEAD.size or not head[:4] == MAGIC:
        raise _broken("bytes that are no record", path, place)
    word = HEAD.unpack(head)[1]
    return word >> LENGTH_BITS, word & LONGEST


def _join(data, path, place):
    """Return what the parts of a record hold."""
    pieces, at = [], 0
    while True:
        part, length = _read_head(data[at:at + HEAD.size], path, place + at)
        if part > LAST or (part in (WHOLE, FIRST)) != (not pieces):
            raise _broken("parts of a record in a wrong order", path, place + at)
        piece = data[at + HEAD.size:at + HEAD.size + length]
        if len(piece) < length:
            raise _broken("a record that is cut off", path, place + at)
        pieces.append(piece)
        if part in (WHOLE, LAST):
            return MAGIC.join(pieces) if len(pieces) > 1 else bytes(piece)
        at += HEAD.size + (length + 3) // 4 * 4


def unpack(record, path=None, place=None):
    """Return the labels and the bytes of a record of an image.

    Parameters
    ----------
    record : bytes
        The record.
    path, place : optional
        Where it lies, for messages.

    Returns
    -------
    Labelled
        The label or labels, the two numbers, and the bytes.

    """
    if len(record) < HEADER.size:
        raise _broken(f"a record of {len(record)} bytes without a label", path, place)
    count, label, first, second = HEADER.unpack_from(record)
    end = HEADER.size + 4 * count
    if end > len(record):
        raise _broken(f"a record of {len(record)} bytes with {count} labels", path, place)
    if count:
        label = np.frombuffer(record[HEADER.size:end], "<f4").astype(np.float32)
    return Labelled(label, first, second, record[end:])


def pack(label, data, id=0, id2=0):
    """Return labels and bytes as a record of an image.

    Parameters
    ----------
    label : Union[float, Sequence[float], numpy.ndarray]
        One label, or several.
    data : bytes
        The bytes.
    id, id2 : int, optional, default=0
        Two numbers.

    Returns
    -------
    bytes
        The record.

    """
    labels = np.asarray(label, "<f4")
    if labels.ndim == 0:
        return HEADER.pack(0, labels, id, id2) + data
    return HEADER.pack(labels.size, 0, id, id2) + labels.tobytes() + data


class RecordIOWriter:
    """Write records and their index.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        The `.rec` file; what it holds is replaced.
    index : Union[str, os.PathLike], optional
        The `.idx` file; the same name with that ending by default.

    """

    def __init__(self, path, index=None):
        self.path = os.fsdecode(path)
        self._at, self._count = 0, 0
        self._file = open_file(self.path, "wb")
        self._index = open_file(os.path.splitext(self.path)[0] + ".idx" if index is None else index, "wb")

    def write(self, record):
        """Append a record.

        Parameters
        ----------
        record : bytes
            What it holds; `pack` makes it of labels and an image.

        """
        pieces, start = [], 0
        place = record.find(MAGIC)
        while place >= 0:
            if place % 4 == 0:
                pieces.append(record[start:place])
                start = place + 4
            place = record.find(MAGIC, place + (4 if place % 4 == 0 else 1))
        pieces.append(record[start:])
        if max(map(len, pieces)) > LONGEST:
            raise ValueError(f"RecordIOWriter: got a record of {len(record)} bytes, expected {LONGEST} at most")
        self._index.write(b"%d\t%d\n" % (self._count, self._at))
        for number, piece in enumerate(pieces):
            part = WHOLE if len(pieces) == 1 else FIRST if not number else LAST if number == len(pieces) - 1 else MIDDLE
            framed = HEAD.pack(MAGIC, part << LENGTH_BITS | len(piece)) + piece + bytes(-len(piece) % 4)
            self._file.write(framed)
            self._at += len(framed)
        self._count += 1

    def close(self):
        """End both files."""
        self._file.close()
        self._index.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
