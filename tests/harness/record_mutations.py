"""KPLRecord files that lie: changed anywhere, or with wrong records, indexes and heads under right checksums."""
import importlib.util
import os
import random
import struct

import numpy as np

from dragon import _C
from dragon.io import DataError
from dragon.io.records import KPLRecord, KPLRecordWriter, verify
from dragon.io.records.shard import HEAD, HEADER, INDEX, SAMPLE, TRAILER, make_start

encode = _C.kpl_encode

SAMPLES = (
    {"x": np.arange(12, dtype="f4").reshape(3, 4), "label": 3, "name": "cat"}, [1, (2.5, None, True), b"bytes"],
    {"flags": np.array([True, False]), "words": np.array(["ab", "c"]), "large": 10 ** 30, "z": 1 + 2j},
    np.array(7, "M8[s]"), np.float16(2), {"deep": [[[[{"a": []}]]]]}, "text", bytes(300),
)
# What is said to be compressed; without the package for Zstandard, a letter asks for it.
PACKINGS = (1, 3, 255) + (2,) * (importlib.util.find_spec("zstandard") is not None)
# Numbers that make trouble where a length is expected.
NUMBERS = (0, 1, 15, 31, 32, 0x7F, 1 << 16, 1 << 31, 1 << 32, 1 << 40, 1 << 60, 1 << 63, (1 << 64) - 1, (1 << 64) - 32)


class File:
    """A file built frame by frame, each with right checksums whatever it holds."""

    def __init__(self):
        self.data = bytearray(make_start())
        self.frame(HEADER, encode({"metadata": {}, "compression": None}))

    def frame(self, kind, body, packing=0, size=None):
        """Add a frame and return (its place, its size)."""
        offset = len(self.data)
        buffer = _C.RecordBuffer(offset)
        buffer.put_packed(kind, packing, len(body) if size is None else size, body)
        self.data += buffer.take()
        return offset, HEAD + len(body)

    def end(self, places):
        """Add an index of these places and a trailer."""
        place = self.frame(INDEX, places if isinstance(places, bytes) else encode(np.array(places, "<u8")))
        self.frame(TRAILER, encode(np.array(place, "<u8")))


def varint(number):
    """Return a number as records write it."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes((number,)))


def change(rng, data):
    """Return bytes with a few changes: bits, numbers, cuts, pieces twice or elsewhere."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        place = rng.randrange(len(data) + 1)
        how = rng.randrange(7)
        if how == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif how == 1 and place < len(data):
            data[place] = rng.choice((0, 1, 9, 11, 12, 13, 14, 0x7F, 0x80, 0xFF))
        elif how == 2:
            data[place:place + 8] = struct.pack("<Q", rng.choice(NUMBERS))
        elif how == 3:
            del data[place:place + rng.choice((1, 4, 16, 100))]
        elif how == 4:
            data[place:place] = varint(rng.choice(NUMBERS))
        elif how == 5:
            start = rng.randrange(len(data) + 1)
            data[place:place] = data[start:start + rng.choice((1, 8, 32, 64))]
        else:
            del data[max(place, 1):]
    return bytes(data)


def mutate(seed, whole):
    """Return the bytes of a file that is wrong in a way that a seed decides."""
    rng = random.Random(seed)
    how = rng.randrange(6)
    if how == 0:
        return change(rng, whole)
    file = File()
    bodies = [encode(sample) for sample in SAMPLES]
    if how in (1, 2):  # wrong values, right checksums
        bodies = [change(rng, body) if rng.random() < 0.3 else body for body in bodies]
    packing = rng.choice(PACKINGS) if how == 2 else 0
    places = [file.frame(rng.choice((SAMPLE,) * 9 + (INDEX, 7)) if how == 3 else SAMPLE, body, packing,
                         rng.choice((None,) * 200 + NUMBERS)) for body in bodies]
    if how == 3:
        places = [(rng.choice((offset, *NUMBERS)), rng.choice((size, *NUMBERS))) for offset, size in places]
    if how == 4:
        file.end(change(rng, encode(np.array(places, "<u8"))))
    elif how != 5:
        file.end(places)
    if how == 5:  # a head that lies, or none of an index
        offset = rng.choice(places)[0]
        head = bytearray(file.data[offset:offset + 28])
        head[8:16] = struct.pack("<Q", rng.choice(NUMBERS))
        file.data[offset:offset + 32] = head + struct.pack("<I", _C.crc32c(head + struct.pack("<Q", offset)))
    return bytes(file.data)


def write_whole(path):
    """Write the file that is changed, and return its bytes."""
    with KPLRecordWriter(path) as writer:
        for sample in SAMPLES:
            writer.write(sample)
    with open(path, "rb") as file:
        return file.read()


def try_one(path, data):
    """Read a wrong file in all ways and return how many samples were read and how many refused.

    Anything else than a DataError is raised.
    """
    if os.path.exists(path):
        os.remove(path)  # a file that is cut to nothing waits for the disk
    with open(path, "wb") as file:
        file.write(data)
    try:
        source = KPLRecord(path)
    except DataError:
        assert not verify(path).whole
        return 0, 1
    read = 0
    for index in range(len(source)):
        try:
            repr(source[index])
            read += 1
        except DataError as error:
            assert error.path == os.fspath(path) and error.offset is not None
    findings = verify(path)
    assert findings.records == read and findings.whole <= (read == len(source))
    return read, len(source) - read
