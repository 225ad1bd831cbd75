"""Batches: which samples stand together, and how they become one."""
from collections import namedtuple

import numpy as np
import pytest

from dragon.io import Batches, Buckets, OddSamples, PadSamples, stack_samples

Pair = namedtuple("Pair", "x y")


@pytest.mark.parametrize("last, expected", [
    ("keep", [[0, 1, 2], [3, 4, 5], [6]]), ("drop", [[0, 1, 2], [3, 4, 5]]),
    ("pad", [[0, 1, 2], [3, 4, 5], [6, 6, 6]]), ("wrap", [[0, 1, 2], [3, 4, 5], [6, 0, 1]])])
def test_last_batches(last, expected):
    batches = Batches(3, last)
    assert list(batches(range(7))) == expected and batches.count(7) == len(expected)
    assert list(batches(range(3))) == [[0, 1, 2]] and list(batches([])) == [] and batches.count(0) == 0


def test_a_first_batch_that_is_the_last_wraps_around_itself():
    assert list(Batches(5, "wrap")([1, 2])) == [[1, 2, 1, 2, 1]]


def test_buckets_hold_samples_of_similar_length():
    lengths = [3, 9, 1, 10, 5, 2, 11, 4]
    found = list(Buckets(lengths, [4, 10], [3, 2, 1])(range(8)))
    assert found == [[3], [1, 4], [0, 2, 5], [6], [7]]
    assert list(Buckets(lengths, [4, 10], 2, "drop")(range(8))) == [[0, 2], [1, 4], [3, 6]]
    assert list(Buckets(lengths, [4, 10], 3, "pad")(range(8))) == [[0, 2, 5], [1, 4, 7], [3, 6, 6]]
    assert list(Buckets(len, [2], 2)(enumerate(["a", "bb", "c"]))) == [[(0, "a"), (2, "c")], [(1, "bb")]]
    with pytest.raises(TypeError, match="depends on the length of each sample"):
        Buckets(lengths, [4], 2).count(8)


@pytest.mark.parametrize("make, message", [
    (lambda: Batches(0), "Batches: got size=0, expected at least 1"),
    (lambda: Batches(1, "all"), r"Batches: got last='all', expected one of \('keep', 'drop', 'pad', 'wrap'\)"),
    (lambda: Buckets([], [3, 3], 1), "Buckets: got boundaries=.3, 3., expected rising numbers"),
    (lambda: Buckets([], [3], [1]), "got sizes=.1. for 1 boundaries, expected one positive size more"),
    (lambda: Buckets([], [3], [1, 0]), "expected one positive size more"),
    (lambda: Buckets([], [3], 1, "some"), "Buckets: got last='some'"),
    (lambda: PadSamples(multiple_of=0), "PadSamples: got multiple_of=0, expected at least 1")])
def test_arguments_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_structures_keep_their_form():
    samples = [{"a": np.full(2, number), "b": (number, f"text {number}"), "c": Pair(float(number), None), "d": b"x"}
               for number in range(3)]
    batch = stack_samples(samples)
    assert batch["a"].tolist() == [[0, 0], [1, 1], [2, 2]] and batch["b"][0].tolist() == [0, 1, 2]
    assert batch["b"][1] == ["text 0", "text 1", "text 2"] and type(batch["c"]) is Pair
    assert batch["c"].x.tolist() == [0.0, 1.0, 2.0] and batch["c"].y == [None] * 3 and batch["d"] == [b"x"] * 3
    assert stack_samples([np.float16(1), np.float64(2)]).dtype == np.float64
    assert stack_samples([np.zeros((0, 3))] * 2).shape == (2, 0, 3)


@pytest.mark.parametrize("samples, places", [
    ([np.zeros(3), np.zeros(3), np.zeros(4)], [2]), ([{"a": 1}, {"b": 1}, {"a": 2}], [1]),
    ([(1, 2), (1, 2, 3)], [1]), ([[1, 2], 3], [1]), ([np.zeros(()), np.zeros(1)], [1])])
def test_odd_samples_are_named(samples, places):
    with pytest.raises(OddSamples, match=f"at place {places[0]} of the batch, expected .* as at place 0") as caught:
        stack_samples(samples)
    assert caught.value.places == places


def test_samples_are_padded_to_the_largest():
    samples = [{"x": np.arange(count + 1), "y": np.full((2, count), 0.5, np.float32), "n": count}
               for count in (2, 0, 5)]
    batch = PadSamples(-1, multiple_of=4)(samples)
    assert batch["x"].shape == (3, 8) and batch["y"].shape == (3, 4, 8) and batch["n"].tolist() == [2, 0, 5]
    assert batch["x"][1].tolist() == [0] + [-1] * 7 and batch["x"].dtype == np.int64
    assert batch["y"].dtype == np.float32 and (batch["y"][0, :2, :2] == 0.5).all() and (batch["y"][0, 2:] == -1).all()
    assert PadSamples(shape=[7])([np.arange(3), np.arange(5)]).shape == (2, 7)
    with pytest.raises(OddSamples, match=r"got shape \(5,\) at place 1 of the batch, expected at most \(4,\)"):
        PadSamples(shape=[4])([np.arange(3), np.arange(5)])
    with pytest.raises(OddSamples, match="got 2 axes at place 1 of the batch, expected 1 as at place 0"):
        PadSamples()([np.zeros(3), np.zeros((1, 3))])
