"""KPLRecord files from an enemy: a DataError, no crash, and no memory beyond what the file has."""
import tracemalloc

import numpy as np
import pytest

from dragon.io import DataError
from dragon.io.records import KPLRecord
from dragon.io.records.shard import SAMPLE
from harness.record_mutations import NUMBERS, File, encode, mutate, try_one, varint, write_whole


def array(letters, *shape, data=b"", tag=12):
    """Return the body of an array that says what it is told to."""
    head = bytes((tag,)) + varint(len(letters)) + letters + varint(len(shape)) + b"".join(map(varint, shape))
    return head + bytes(-len(head) % 16) + data


BODIES = {
    "nothing": b"", "unknown tag": b"\x0e", "long text": b"\x07" + varint(1 << 60), "no utf-8": b"\x07\x01\xff",
    "endless number": b"\x03" + b"\xff" * 20, "list of 2**60": b"\x09" + varint(1 << 60),
    "dict of 2**63": b"\x0b" + varint(1 << 63), "half a float": b"\x05\0\0", "more bytes": b"\0\0",
    "depth": b"\x09\x01" * 1_000_000 + b"\0", "list as a key": b"\x0b\x01\x09\x00\x00",
    "array as a key": b"\x0b\x01" + array(b"<f4", 1, data=bytes(4)) + b"\0",
    "objects": array(b"|O", 1, data=bytes(8)), "void": array(b"|V8", 1, data=bytes(8)),
    "structure": array(b"i4,i4", 1, data=bytes(8)), "no letters": array(b"", 1), "other byte order": array(b">f4", 0),
    "python": array(b"__import__('os')", 1), "sizes that wrap": array(b"<f8", 1 << 61, 8),
    "empty but vast": array(b"<f8", 0, 1 << 62, 1 << 62), "vast": array(b"|u1", 1 << 60),
    "axes": array(b"|u1", *[1] * 65),
    "axes without end": b"\x0c\x03|u1" + varint(1 << 60), "text of 2**40": array(b"<U1099511627776", 1),
    "text of none": array(b"|S0", 1 << 40), "text of no numbers": array(b"<U-1", 1), "a time": array(b"<M8[x]", 0),
    "booleans": array(b"|b1", 2, data=b"\0\2"), "no unicode": array(b"<U1", 1, data=b"\xff" * 4),
    "scalar with axes": array(b"<f4", 1, data=bytes(4), tag=13), "cut": array(b"<f4", 4, data=bytes(15)),
}


def test_axes_beyond_those_of_numpy_are_refused(tmp_path):
    (tmp_path / "a.kpl").write_bytes(b"")
    path = make(tmp_path, array(b"|u1", *[1] * 64, data=b"\7"))
    try:
        assert KPLRecord(path)[0].ndim == 64
    except DataError:
        assert np.lib.NumpyVersion(np.__version__) < "2.0.0"


def make(tmp_path, body):
    """Write a file of one record with this body and return its path."""
    file = File()
    file.end([file.frame(SAMPLE, body)])
    path = tmp_path / "a.kpl"
    path.write_bytes(file.data)
    return path


@pytest.mark.parametrize("name", BODIES)
def test_values_that_lie_are_refused(tmp_path, name):
    source = KPLRecord(make(tmp_path, BODIES[name]))
    assert source.shards[0].index_health == "whole"
    tracemalloc.start()
    with pytest.raises(DataError, match="KPLRecord: got ") as caught:
        source[0]
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    assert caught.value.offset >= source.place(0)[1]


@pytest.mark.parametrize("place", [(number, 64) for number in NUMBERS] + [(64, number) for number in NUMBERS])
def test_an_index_that_lies_is_not_believed(tmp_path, place):
    file = File()
    file.frame(SAMPLE, encode("text"))
    file.end([place])
    (tmp_path / "a.kpl").write_bytes(file.data)
    source = KPLRecord(tmp_path / "a.kpl")
    if source.shards[0].index_health == "whole":
        with pytest.raises(DataError):
            source[0]
    else:
        assert list(source) == ["text"]


def test_an_index_of_more_places_than_bytes_is_not_believed(tmp_path):
    file = File()
    file.frame(SAMPLE, encode("text"))
    file.end(array(b"<u8", 1 << 58, 2, data=bytes(64)))
    (tmp_path / "a.kpl").write_bytes(file.data)
    source = KPLRecord(tmp_path / "a.kpl")
    assert "longer than its record" in source.shards[0].index_health and list(source) == ["text"]


def test_compressed_records_that_claim_too_much_are_refused(tmp_path):
    import zlib
    for size in (0, 3, 5, 1 << 20, 1 << 60):
        file = File()
        file.end([file.frame(SAMPLE, zlib.compress(encode("text" * 100)), 1, size)])
        (tmp_path / "a.kpl").write_bytes(file.data)
        with pytest.raises(DataError, match="that claims to hold"):
            KPLRecord(tmp_path / "a.kpl")[0]


def test_heads_within_heads_take_no_time(tmp_path):
    """Each tells of a body up to the end: comparing all their checksums would take hours."""
    import struct

    from dragon import _C
    file = File()
    start, count = len(file.data), 60_000
    for number in range(count):
        offset = start + 32 * number
        head = b"KPLr" + struct.pack("<BBHQQI", SAMPLE, 0, 0, 32 * (count - number) - 16, 1, 0)
        file.data += head + struct.pack("<I", _C.crc32c(head + struct.pack("<Q", offset)))
    (tmp_path / "a.kpl").write_bytes(file.data + bytes(16) + b"x")
    assert len(KPLRecord(tmp_path / "a.kpl")) <= 1


@pytest.mark.long("files are changed and read thousands of times")
def test_changed_files_are_read_or_refused(tmp_path):
    whole, path = write_whole(tmp_path / "whole.kpl"), tmp_path / "a.kpl"
    read, refused = map(sum, zip(*(try_one(path, mutate(seed, whole)) for seed in range(3000))))
    assert read > 5000 and refused > 2000
