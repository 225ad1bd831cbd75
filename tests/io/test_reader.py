"""Readers: exact epochs of any source, shared out, and gone on with in the middle."""
import itertools
import pickle

import pytest

from dragon.io import Draws, Reader
from dragon.io.source import Source, Stream
from harness.subresults import each


class Letters(Source):
    """Letters, ten of which are neighbours."""

    def __init__(self, count=95):
        self.count, self.hints = count, []

    def __len__(self):
        return self.count

    def _read_one(self, index):
        return chr(33 + index)

    def chunks(self):
        return [range(start, min(start + 10, self.count)) for start in range(0, self.count, 10)]

    def will_need(self, chunk):
        self.hints.append(chunk)


class Lines(Stream):
    """Numbers in three parts."""

    def __init__(self, counts=(40, 3, 57)):
        self.counts = counts

    def parts(self):
        begins = itertools.accumulate((0, *self.counts))
        return [range(begin, begin + count) for begin, count in zip(begins, self.counts)]


SOURCES = {"source": Letters(), "sequence": [chr(33 + index) for index in range(95)], "stream": Lines()}


@each("kind", SOURCES)
@each("shuffle", [False, True, "chunks"])
@each("shards", [1, 2, 5])
def test_epochs_are_exact_and_resumed_anywhere(kind, shuffle, shards):
    def make(rank):
        return Reader(SOURCES[kind], shuffle, seed=3, rank=rank, shards=shards, window=2, buffer=16)
    everything = sorted(SOURCES[kind])
    for epoch in range(2):
        readers = [make(rank) for rank in range(shards)]
        for reader in readers:
            for _ in range(epoch):
                list(reader)
        epochs = [list(reader) for reader in readers]
        assert sorted(itertools.chain(*epochs)) == everything
        for rank, expected in enumerate(epochs):
            for stop in (0, 1, len(expected) // 2, len(expected)):
                reader = make(rank)
                for _ in range(epoch):
                    list(reader)
                begun = list(itertools.islice(reader, stop))
                other = make(rank)
                other.load_state_dict(pickle.loads(pickle.dumps(reader.state_dict())))
                assert begun + (list(other) if stop < len(expected) else []) == expected
    if shuffle:
        again = make(0)
        assert list(again) != list(again) and len({tuple(make(0)) for _ in range(3)}) == 1


def test_an_epoch_that_was_left_is_not_gone_on_with():
    reader = Reader(range(6), shuffle=True, seed=1)
    first = next(iter(reader))
    second = list(reader)
    assert sorted(second) == list(range(6))
    assert second == list(Reader(range(6), shuffle=True, seed=1, epoch=1)) and first == next(
        iter(Reader(range(6), shuffle=True, seed=1)))


def test_other_shards_go_on_where_all_had_come_to():
    def make(rank, shards):
        return Reader(range(23), True, seed=2, rank=rank, shards=shards)
    readers = [make(rank, 2) for rank in (0, 1)]
    seen = [sample for reader in readers for sample in itertools.islice(reader, 5)]
    for rank in range(3):
        reader = make(rank, 3)
        reader.load_state_dict(readers[0].state_dict())
        seen += itertools.islice(reader, 3)
        other = make(rank, 3)  # and once more, in the middle of what was left
        other.load_state_dict(reader.state_dict())
        seen += other
    assert sorted(seen) == list(range(23))


def test_chunks_are_announced_before_they_are_read():
    source = Letters()
    reader = iter(Reader(source, "chunks", window=3))
    next(reader)
    assert 3 <= len(source.hints) <= 9 and all(len(hint) in (5, 10) for hint in source.hints)


def test_long_runs_are_cut_into_chunks():
    reader = Reader(range(1000), "chunks", seed=1, window=1)
    runs = [sorted(reader.numbers(0))]
    assert runs[0] == list(range(1000))
    first = list(itertools.islice(reader.numbers(0), 100))
    assert max(first) - min(first) < 256


@pytest.mark.parametrize("arguments, message", [
    ({"shuffle": "much"}, "got shuffle='much', expected a bool, 'samples' or 'chunks'"),
    ({"rank": 2, "shards": 2}, "got rank=2 of shards=2, expected 0 <= rank < shards"),
    ({"shards": 0}, "got rank=0 of shards=0"), ({"rank": -1}, "got rank=-1"),
    ({"uneven": "even"}, r"got uneven='even', expected one of \('keep', 'drop', 'pad'\)"),
    ({"window": 0}, "got window=0, expected at least 1"), ({"buffer": -1}, "got buffer=-1, expected at least 1")])
def test_arguments_are_checked(arguments, message):
    with pytest.raises(ValueError, match="Reader: " + message):
        Reader(range(3), **arguments)


def test_what_has_no_numbers_is_told_apart():
    with pytest.raises(ValueError, match="got uneven='pad' for Lines, which has no length"):
        Reader(Lines(), uneven="pad")
    with pytest.raises(TypeError, match="got Lines, which has no length"):
        len(Reader(Lines()))
    once = Reader(iter("abc"))
    assert list(once) == list("abc")
    with pytest.raises(TypeError, match="can be read once, and is asked for epoch 1"):
        list(once)


def test_states_of_other_readers_are_refused():
    state = Reader(range(5), True, seed=1).state_dict()
    for other, message in ((Reader(range(5), True, seed=2), "seed=1"), (Reader(range(6), True, seed=1), "count=5"),
                           (Reader(range(5), seed=1), "shuffle='samples'")):
        with pytest.raises(ValueError, match=f"got a state of {message}"):
            other.load_state_dict(state)
    with pytest.raises(ValueError, match="got version 7, expected 1"):
        Reader(range(5)).load_state_dict({"version": 7})
    chunked = Reader(range(50), "chunks", shards=2)
    next(iter(chunked))
    with pytest.raises(ValueError, match="got a state of 2 shards in the middle of an epoch, expected 1"):
        Reader(range(50), "chunks").load_state_dict(chunked.state_dict())


def test_draws_depend_on_their_key_alone():
    assert [Draws(1, 2, 3).bits() for _ in range(2)] == [Draws(1, 2, 3).bits()] * 2
    firsts = [Draws(seed, epoch, sample).uniform() for seed in range(3) for epoch in range(3) for sample in range(300)]
    assert len(set(firsts)) == len(firsts) and abs(sum(firsts) / len(firsts) - 0.5) < 0.03
    draws = Draws(-1, 1 << 200)
    assert all(3 <= draws.integer(3, 7) < 7 for _ in range(100)) and draws.choice("a") == "a"
    assert {draws.integer(3) for _ in range(100)} == {0, 1, 2}
    numbers = [draws.normal(1.0, 2.0) for _ in range(20000)]
    mean = sum(numbers) / len(numbers)
    assert abs(mean - 1) < 0.1 and abs(sum((number - mean) ** 2 for number in numbers) / len(numbers) - 4) < 0.2
    items = list(range(20))
    draws.shuffle(items)
    assert items != list(range(20)) and sorted(items) == list(range(20))
    assert 0.4 < sum(draws.chance() for _ in range(1000)) / 1000 < 0.6
    with pytest.raises(ValueError, match="got no number between 4 and 4"):
        draws.integer(4, 4)
