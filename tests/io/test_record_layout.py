"""The page on the layout of KPLRecord files tells what is written, byte by byte."""
import pathlib
import re
import struct

import numpy as np

from dragon.io.records import KPLRecord, KPLRecordWriter, verify
from harness.checksum import crc32c

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "design" / "0028-records.md"
LINE = re.compile(r"^ *(\d+)  ((?:[0-9a-f]{2} ){15}[0-9a-f]{2})  \S", re.MULTILINE)


def frame(place, kind, body):
    """Return a frame as the page tells it, by checksums that are not the engine's."""
    head = b"KPLr" + struct.pack("<BBHQQI", kind, 0, 0, len(body), len(body), crc32c(body))
    return head + struct.pack("<I", crc32c(head + struct.pack("<Q", place))) + body + bytes(-len(body) % 16)


def test_the_bytes_on_the_page_are_those_that_are_written(tmp_path):
    with KPLRecordWriter(tmp_path / "a.kpl") as writer:
        writer.write({"n": 7, "x": np.array([1, 2], "uint8")})
    written = (tmp_path / "a.kpl").read_bytes()
    told = LINE.findall(PAGE.read_text(encoding="utf-8"))
    assert [int(place) for place, _ in told] == list(range(0, len(written), 16))
    assert b"".join(bytes.fromhex(line) for _, line in told) == written


def test_a_file_that_is_made_by_the_page_alone_is_read(tmp_path):
    start = bytes.fromhex("89 4B 50 4C 0D 0A 1A 0A") + struct.pack("<I", 1)
    data = start + struct.pack("<I", crc32c(start))
    data += frame(16, 1, b"\x0b\x02\x07\x08metadata\x0b\x00\x07\x0bcompression\x00")
    places = []
    for body in (b"\x03\x0e", b"\x07\x04text", b"\x09\x02\x01\x02"):
        places.append((len(data), 32 + len(body)))
        data += frame(len(data), 2, body)
    data += frame(len(data), 99, b"a kind that nobody knows")
    unfinished = data
    index = len(data)
    data += frame(index, 3, b"\x0c\x03<u8\x02\x03\x02" + bytes(8) + struct.pack("<6Q", *sum(places, ())))
    data += frame(len(data), 4, b"\x0c\x03<u8\x01\x02" + bytes(9) + struct.pack("<2Q", index, 32 + 16 + 48))
    for name, given, whole in (("a.kpl", data, True), ("b.kpl", unfinished, False), ("c.kpl", unfinished[:-20], False)):
        (tmp_path / name).write_bytes(given)
        assert list(KPLRecord(tmp_path / name)) == [7, "text", [False, True]]
        assert verify(tmp_path / name).whole == whole
