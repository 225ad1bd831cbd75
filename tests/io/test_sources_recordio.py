"""MXNet's RecordIO, beside files that are written here byte by byte as its format is told."""
import pickle
import struct

import numpy as np
import pytest

from dragon.io import DataError
from dragon.io.sources import RecordIO, RecordIOWriter
from dragon.io.sources.recordio import pack, unpack

MAGIC = 0xCED7230A
IN_IT = struct.pack("<I", MAGIC)


def by_hand(part, data):
    """Return one part of a record: the magic number, part and length, the data, zeros."""
    return struct.pack("<II", MAGIC, part << 29 | len(data)) + data + bytes(-len(data) % 4)


# What stands in a file, and what the record is.
FORMS = {
    "whole": (by_hand(0, b"abc"), b"abc"), "empty": (by_hand(0, b""), b""), "four": (by_hand(0, b"abcd"), b"abcd"),
    "two parts": (by_hand(1, b"abcd") + by_hand(3, b"xy"), b"abcd" + IN_IT + b"xy"),
    "three parts": (by_hand(1, b"") + by_hand(2, b"wxyz") + by_hand(3, b""), IN_IT + b"wxyz" + IN_IT),
    "not at a fourth byte": (by_hand(0, b"a" + IN_IT), b"a" + IN_IT),
}


@pytest.mark.parametrize("name", FORMS)
def test_records_are_written_and_read_as_the_format_says(tmp_path, name):
    framed, record = FORMS[name]
    with RecordIOWriter(tmp_path / "a.rec") as writer:
        writer.write(record)
    assert (tmp_path / "a.rec").read_bytes() == framed
    (tmp_path / "b.rec").write_bytes(framed * 3)
    assert list(RecordIO(tmp_path / "b.rec", labelled=False)) == [record] * 3


def test_indexes_tell_the_order(tmp_path):
    records = [record for _, record in FORMS.values()] + [bytes(100_000) + IN_IT + bytes(5)]
    with RecordIOWriter(tmp_path / "a.rec") as writer:
        for record in records:
            writer.write(record)
    lines = (tmp_path / "a.idx").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == [str(number) for number in range(len(records))]
    for source in (RecordIO(tmp_path / "a.rec", labelled=False), RecordIO(tmp_path / "a.rec", False, labelled=False),
                   RecordIO(tmp_path / "a.rec", tmp_path / "a.idx", labelled=False)):
        assert source.read(range(len(records))) == records
        assert list(pickle.loads(pickle.dumps(source))) == records
    (tmp_path / "a.idx").write_text("\n".join(reversed(lines[::2])))
    assert list(RecordIO(tmp_path / "a.rec", labelled=False)) == records[::2][::-1]


def test_labels_stand_before_images(tmp_path):
    # IRHeader: flag, label, id, id2; with a flag, so many labels follow.
    one = struct.pack("<IfQQ", 0, 3.5, 7, 8) + b"JPEG"
    many = struct.pack("<IfQQ", 2, 0, 9, 0) + struct.pack("<2f", 1.5, -2) + b"PNG"
    assert (pack(3.5, b"JPEG", 7, 8), pack([1.5, -2], b"PNG", 9)) == (one, many)
    (tmp_path / "a.rec").write_bytes(by_hand(0, one) + by_hand(0, many))
    first, second = RecordIO(tmp_path / "a.rec")
    assert first == {"label": 3.5, "id": 7, "id2": 8, "data": b"JPEG"}
    assert second.pop("label").tolist() == [1.5, -2] and second == {"id": 9, "id2": 0, "data": b"PNG"}
    assert unpack(pack(np.arange(3), b"x")).label.dtype == np.float32
    for data in (b"", one[:23], struct.pack("<IfQQ", 1 << 31, 0, 0, 0)):
        (tmp_path / "a.rec").write_bytes(by_hand(0, data))
        with pytest.raises(DataError, match="RecordIO: got a record of .* bytes with") as caught:
            RecordIO(tmp_path / "a.rec")[0]
        assert caught.value.offset == 0


@pytest.mark.parametrize("data, letter", [
    (b"abc", "no record"), (bytes(8), "no record"), (by_hand(0, b"abcdefgh")[:-4], "cut off"),
    (by_hand(1, b"abcd"), "cut off"), (by_hand(1, b"abcd") + by_hand(1, b"abcd") + by_hand(3, b""), "wrong order"),
    (by_hand(3, b"abcd"), "wrong order"), (by_hand(1, b"abcd") + by_hand(0, b"x"), "wrong order"),
    (by_hand(0, b"a") + b"\0", "no record"), (by_hand(7, b"a"), "wrong order"),
])
def test_broken_files_are_errors(tmp_path, data, letter):
    (tmp_path / "a.rec").write_bytes(data)
    with pytest.raises(DataError, match=letter) as caught:
        RecordIO(tmp_path / "a.rec", labelled=False).read([0])
    assert caught.value.path == str(tmp_path / "a.rec") and caught.value.offset is not None


@pytest.mark.parametrize("text", ["1 2 3", "a b", "0\t9999", "0\t-4", f"0\t{1 << 80}", "\xff"])
def test_broken_indexes_are_errors(tmp_path, text):
    (tmp_path / "a.rec").write_bytes(by_hand(0, b"abc"))
    (tmp_path / "a.idx").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match="RecordIO: got an index"):
        RecordIO(tmp_path / "a.rec")


def test_an_index_into_the_middle_of_a_record_is_an_error(tmp_path):
    (tmp_path / "a.rec").write_bytes(by_hand(0, b"abcdefgh"))
    (tmp_path / "a.idx").write_text("0\t4")
    with pytest.raises(DataError, match="no record"):
        RecordIO(tmp_path / "a.rec", labelled=False)[0]


def test_empty_files_have_no_samples(tmp_path):
    (tmp_path / "a.rec").write_bytes(b"")
    assert list(RecordIO(tmp_path / "a.rec")) == [] and RecordIO(tmp_path / "a.rec").chunks() == []
