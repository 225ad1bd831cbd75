"""What all sources have in common: numbers, reading several at once, messages, and pickling."""
import pickle

import numpy as np
import pytest

from dragon.io import DataError, Reader
from dragon.io.records import KPLRecord, KPLRecordWriter
from dragon.io.sources import Source, Stream
from dragon.io.sources.opened import LocalFile


class Squares(Source):
    """The squares of the numbers below a limit."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def _read_one(self, index):
        return index * index


class Letters(Stream):
    """Letters in two parts."""

    def parts(self):
        return ["ab", "c"]


def test_samples_are_found_by_number():
    source = Squares(5)
    assert source[3] == 9 and source[-1] == 16 and source.read([4, 0, -2]) == [16, 0, 9]
    assert list(source) == [0, 1, 4, 9, 16] and source.chunks() == [range(5)]
    assert source.describe(-1) == "sample 4 of Squares"
    assert list(Squares(0)) == [] and Squares(0).chunks() == []


@pytest.mark.parametrize("index", [5, -6, 1 << 70])
def test_numbers_outside_are_refused(index):
    with pytest.raises(IndexError, match=r"Squares: got index .*, expected -5 to 4"):
        Squares(5)[index]
    with pytest.raises(IndexError, match="it is empty"):
        Squares(0)[0]
    with pytest.raises(TypeError):
        Squares(5)["a"]


def test_streams_are_their_parts_in_order():
    assert list(Letters()) == ["a", "b", "c"]


def test_errors_tell_the_place_and_can_be_pickled():
    error = DataError("Reader: got 3 bytes, expected 4", "a.kpl", 12)
    again = pickle.loads(pickle.dumps(error))
    for each in (error, again):
        assert str(each) == "Reader: got 3 bytes, expected 4 (byte 12 of a.kpl)"
        assert (each.path, each.offset) == ("a.kpl", 12) and isinstance(each, ValueError)
    assert str(DataError("x")) == "x" and str(DataError("x", "a")) == "x (a)"


def test_files_are_read_on_before_their_chunks_are_asked_for(tmp_path, monkeypatch):
    for part in range(3):
        with KPLRecordWriter(tmp_path / f"{part}.kpl") as writer:
            for number in range(300):
                writer.write(np.full(100, number))
    source, told = KPLRecord(str(tmp_path / "*.kpl")), []
    monkeypatch.setattr(LocalFile, "will_need", lambda file, start, end: told.append((file.path[-5], start, end)))
    ends = [int(places.sum(1).max()) for places in source.places]
    starts = [int(places[0, 0]) for places in source.places]
    source.will_need(range(300, 600))
    assert told == [("1", starts[1], ends[1])]
    source.will_need(range(290, 310))
    assert [part for part, _, _ in told[1:]] == ["0", "1"] and told[1][2] == ends[0] and told[2][1] == starts[1]
    told.clear()
    assert len(list(Reader(source, "chunks", window=2))) == 900
    assert {part for part, _, _ in told} == {"0", "1", "2"} and len(told) == 6  # files of 256 samples and of the rest


def test_the_system_is_told_what_is_read_soon(tmp_path):
    (tmp_path / "a").write_bytes(b"abc" * 1000)
    file = LocalFile(str(tmp_path / "a"))
    file.will_need(5, 2000)
    file.will_need(0, 1 << 40)  # beyond its end: the system knows
    assert file.read_at(3, 3) == b"abc"
