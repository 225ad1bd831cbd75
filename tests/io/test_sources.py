"""What all sources have in common: numbers, reading several at once, messages, and pickling."""
import pickle

import pytest

from dragon.io import DataError
from dragon.io.sources import Source, Stream


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
