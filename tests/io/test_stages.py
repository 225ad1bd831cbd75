"""Stages of `dragon.io`: items of any kind, left out, mixed, put together and taken in turns."""
import itertools
import random

import numpy as np
import pytest

from dragon.io.stages import batching, caching, grouping, interleaving, ordering, padding, shuffling, taking, weighing
from harness.subresults import each


class Once:
    """An iterator that must not be asked again after it has ended."""

    def __init__(self, items):
        self._items, self._ended = iter(items), False

    def __iter__(self):
        return self

    def __next__(self):
        assert not self._ended
        try:
            return next(self._items)
        except StopIteration:
            self._ended = True
            raise


@pytest.mark.parametrize("count", [-1, 0, 3, 9])
@pytest.mark.parametrize("make", [range, lambda count: iter(range(count))])
def test_items_are_left_out(make, count):
    items = list(range(5))
    assert list(taking.first(make(5), count)) == (items if count < 0 else items[:count])
    assert list(taking.rest(make(5), count)) == ([] if count < 0 else items[count:])
    assert list(taking.share(make(5), 3, 1)) == [1, 4]
    assert list(taking.share(make(5), 9, 7)) == []


def test_ranges_stay_ranges():
    for cut in (taking.first(range(9), 3), taking.rest(range(9), 3), taking.share(range(9), 2, 1)):
        assert isinstance(cut, range)


def test_items_come_again_until_there_are_none():
    counts = iter([2, 1, 0, 5])
    assert list(taking.again(lambda: range(next(counts)), -1)) == [0, 1, 0]
    assert list(taking.again(lambda: range(2), 0)) == []
    assert list(taking.again(lambda: range(2), 2)) == [0, 1, 0, 1]


def test_items_are_chosen():
    assert list(taking.until([1, 2, 5, 1], lambda item: item < 3)) == [1, 2]
    assert list(taking.distinct(["a", "A", "b", "a"], str.lower)) == ["a", "b"]
    told = []
    sound = taking.sound(map(lambda item: 6 // item, [1, 0, 3]), (ZeroDivisionError,), told.append)
    assert list(sound) == [6, 2] and [type(error) for error in told] == [ZeroDivisionError]
    with pytest.raises(ZeroDivisionError):
        list(taking.sound(map(lambda item: 6 // item, [1, 0, 3]), (KeyError,), told.append))


@each("size", [1, 3, 10, 50])
@each("count", [0, 1, 10])
def test_all_items_are_mixed(count, size):
    for mixed in (shuffling.mix(iter(range(count)), size, lambda: itertools.cycle([7, 1, 4])),
                  shuffling.swap(Once(range(count)), size, random.Random(3).randrange)):
        mixed = list(mixed)
        assert sorted(mixed) == list(range(count))
        # None comes earlier than a buffer of that size reaches.
        assert all(item - place < size for place, item in enumerate(mixed))


def test_all_at_once_are_mixed_as_one_by_one():
    numbers = np.random.default_rng(1).integers(0, 2 ** 32, 40, np.uint64)
    one_by_one = shuffling.mix(iter(range(40)), 64, lambda: iter(numbers.tolist()))
    assert list(shuffling.mix_all(range(40), lambda count: numbers[:count])) == list(one_by_one)
    assert list(shuffling.mix_all((), lambda count: numbers[:count])) == []


def test_nothing_is_drawn_before_an_item_is_asked_for():
    def fail(*_):
        raise AssertionError("drawn")
    shuffling.mix(iter(range(3)), 2, fail)
    shuffling.mix_all(range(3), fail)
    shuffling.swap(range(3), 2, fail)


def test_lists():
    assert list(batching.lists(Once(range(5)), 2)) == [[0, 1], [2, 3], [4]]
    assert list(batching.lists(Once(range(5)), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(batching.lists((), 2)) == [] and list(batching.lists(range(2), 2)) == [[0, 1]]
    assert list(batching.lists_of(Once(range(7)), itertools.cycle([1, 3]))) == [[0], [1, 2, 3], [4], [5, 6]]
    for drop_last, count, size in itertools.product((False, True), (0, 4, 5), (1, 2, 9)):
        spans = batching.spans(range(3, 3 + count), size, drop_last)
        assert [list(range(*span)) for span in spans] == list(batching.lists(range(3, 3 + count), size, drop_last))
    assert list(batching.apart(["ab", "", "c"], iter)) == ["a", "b", "c"]


def test_a_list_is_not_filled_before_it_is_asked_for():
    taken = []
    lists = batching.lists((taken.append(item) or item for item in range(9)), 2)
    assert next(lists) == [0, 1] and taken == [0, 1]


def slices(items, size, shift, stride, drop_last):
    """Return windows, found by slicing."""
    reach = (size - 1) * stride + 1
    return [items[start:start + reach:stride] for start in range(0, len(items), shift)
            if not drop_last or start + reach <= len(items)]


@each("size, shift, stride", [(3, 1, 1), (3, 3, 1), (2, 5, 1), (2, 1, 3), (3, 4, 2), (20, 1, 1)])
@each("drop_last", [False, True])
def test_windows(size, shift, stride, drop_last):
    for count in (0, 1, 7, 12):
        items = list(range(count))
        assert list(grouping.windows(iter(items), size, shift, stride, drop_last)) == slices(
            items, size, shift, stride, drop_last)


def test_keys():
    asked = []
    groups = grouping.windows_of_keys([5, 2, 4, 7, 9, 6, 1], lambda item: item % 2, lambda key: asked.append(key) or 2)
    assert list(groups) == [(0, [2, 4]), (1, [5, 7]), (1, [9, 1]), (0, [6])] and asked == [1, 0]
    assert grouping.reduce_by_key("banana", str.upper, lambda key: key, lambda state, item: state + item) == [
        "Aaaa", "Bb", "Nnn"]
    assert grouping.reduce_by_key((), None, None, None) == []


def test_turns():
    def take(cycle, block, sources=("abc", "d", "", "ef")):
        return "".join(interleaving.in_turns(iter(sources), iter, cycle, block))
    assert take(1, 1) == take(1, 9) == "abcdef"
    assert take(2, 1) == "adbcef" and take(4, 1) == "adebfc" and take(2, 2) == "abdcef"
    assert take(3, 1, ()) == ""
    assert list(interleaving.chosen([0, 1, 1, 0, 1, 0], [iter("ab"), iter("x")])) == ["a", "x", "b"]
    assert list(interleaving.chosen([0, 1, 1, 0], [iter("ab"), iter("x")], stop_on_empty=True)) == ["a", "x"]
    assert list(interleaving.chosen(itertools.repeat(0), [iter("ab")])) == ["a", "b"]


def test_answers_come_in_order():
    answers = [(2, "c"), (0, "a"), (1, "b"), (3, "d"), (5, "f")]
    assert list(ordering.in_order(answers)) == ["a", "b", "c", "d"]
    asked = iter(answers)
    assert next(ordering.in_order(asked)) == "a" and next(asked) == (1, "b")


def test_weights():
    shares = iter([0.0, 0.24, 0.26, 0.999999, 1.0])
    assert list(weighing.picks(itertools.repeat(np.array([1.0, 0.0, 3.0]), 5), shares.__next__)) == [0, 0, 2, 2, 2]
    changing = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    assert list(weighing.picks(changing, lambda: 0.5)) == [0, 1]
    chance = random.Random(0)
    items = [int(chance.random() < 0.1) for _ in range(5000)]
    for initial in (None, np.array([0.9, 0.1])):
        kept = list(weighing.resampled(items, int, np.array([0.5, 0.5]), initial, chance.random))
        assert 0.45 < np.mean(kept) < 0.55
    rare = list(weighing.resampled(items, int, np.array([0.0, 1.0]), np.array([0.9, 0.1]), chance.random))
    assert rare == [1] * sum(items)
    assert list(weighing.resampled(items, int, np.zeros(2), np.array([0.9, 0.1]), chance.random)) == []


def test_padding():
    arrays = [np.array([[1, 2]]), np.zeros((0, 2), int), np.array([[3, 4], [5, 6]])]
    assert padding.pad(arrays, (2, 2), 9, np.int64).tolist() == [[[1, 2], [9, 9]], [[9, 9]] * 2, [[3, 4], [5, 6]]]
    assert padding.pad(arrays, (2, 2), 9, np.int64, to_the_end=True).tolist() == [
        [[9, 9], [1, 2]], [[9, 9]] * 2, [[3, 4], [5, 6]]]
    texts = padding.pad([np.array([b"a"], object)], (2,), b"", object)
    assert texts.tolist() == [[b"a", b""]]
    assert padding.pad([], (3,), 0, np.float32).shape == (0, 3)
    assert padding.pad([np.array(2.0)], (), 0, np.float32).tolist() == [2.0]


def test_only_whole_rounds_are_kept():
    kept = []
    round_ = caching.kept(range(3), kept.append)
    next(round_)
    round_.close()
    assert kept == []
    assert list(caching.kept(range(3), kept.append)) == [0, 1, 2] and kept == [[0, 1, 2]]
