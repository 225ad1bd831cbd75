"""Iterators: exact epochs under every combination of options, resumed anywhere; failures by policy; reports."""
import itertools
import pathlib
import pickle
import random
import time

import numpy as np
import pytest

import dragon
from dragon.io import Batches, Buckets, Iterator, PadSamples, Reader, ToDevice, Transformer
from dragon.io.report import Counters, Report
from dragon.io.work import Work
from harness.subresults import each
from io_workers import Count, broken, stretch, twice, with_draws


def make_source(kind):
    return list(range(53)) if kind == "numbers" else Count(53)


def numbers(batches):
    return [int(number) for batch in batches for number in batch]


def combinations(rounds):
    """Yield random combinations of everything that must not change which samples come."""
    draw = random.Random(1)
    for _ in range(rounds):
        shards = draw.choice([1, 1, 2, 3])
        reader = {"shuffle": draw.choice([False, True, "chunks"]), "seed": draw.randrange(9), "shards": shards,
                  "rank": draw.randrange(shards), "window": draw.choice([1, 2, 9]), "buffer": draw.choice([1, 7, 99])}
        options = {"batch_size": draw.choice([1, 3, 8, 60]), "last": draw.choice(["keep", "drop", "pad", "wrap"]),
                   "in_order": draw.random() < 0.7, "prefetch": draw.choice(["auto", 1, 3]),
                   "errors": draw.choice(["raise", "skip"])}
        yield draw.choice(["numbers", "stream"]), reader, options, draw.choice([0, 0.3, 0.7, 1])


def run(kind, reader, options, workers, threads, stop, transform=None):
    """Return the samples of an epoch that was resumed at a place, and of the next one, and those before the place."""
    def make(workers):
        return Iterator(Reader(make_source(kind), **reader), transform, workers=workers,
                        kind="threads" if threads else "processes", **options)
    with make(workers) as first:
        begun = list(itertools.islice(first, stop))
        state = pickle.loads(pickle.dumps(first.state_dict()))
    with make(workers + 1 if workers else 0) as other:
        other.load_state_dict(state)
        rest = list(other)
        return numbers(begun), numbers(rest), numbers(other)


def check(kind, reader, options, part, workers=0, threads=False):
    expected = [[int(number) for number in Reader(make_source(kind), **reader, epoch=epoch)] for epoch in (0, 1)]
    size, last = options["batch_size"], options["last"]
    batches = Batches(size, last).count(len(expected[0]))
    stop = int(part * batches)
    begun, rest, following = run(kind, reader, options, workers, threads, stop)
    # What "pad" and "wrap" add comes once more; what "drop" leaves out is the end.
    for epoch, got in zip(expected, (begun + rest, following)):
        kept = epoch[:len(epoch) // size * size] if last == "drop" else epoch
        extra = len(got) - len(kept)
        assert extra == (-len(epoch) % size if last in ("pad", "wrap") and stop <= batches else 0)
        assert (got[:len(kept)] == kept) if options["in_order"] else (sorted(set(got)) == sorted(set(kept)))


@each("case", list(combinations(150)), ids=str)
def test_every_sample_comes_once(case):
    check(*case)


@each("case", list(combinations(12)), ids=str)
@each("workers, threads", [(1, False), (3, False), (2, True)], size=9)
def test_every_sample_comes_once_whatever_the_workers(case, workers, threads):
    check(*case, workers=workers, threads=threads)


def test_an_iterator_that_takes_all_begins_the_next_epoch():
    iterator = Iterator(Reader(range(7), True), batch_size=3)
    batches = [next(rounds) for rounds in [iter(iterator)] for _ in range(3)]
    state = iterator.state_dict()  # all is given out, the end has not been asked for
    other = Iterator(Reader(range(7), True), batch_size=3)
    other.load_state_dict(state)
    assert len(batches) == 3 and list(other) == [] and numbers(other) == list(Reader(range(7), True, epoch=1))


def test_draws_are_those_of_the_sample_whoever_draws():
    found = set()
    for workers, kind in ((0, "processes"), (1, "processes"), (3, "processes"), (2, "threads")):
        with Iterator(Reader(range(20), True, seed=5), with_draws, 4, workers=workers, kind=kind) as iterator:
            found.add(tuple(tuple(batch.tolist()) for _ in range(2) for batch in iterator))
    assert len(found) == 1 and len(set(itertools.chain(*found.pop()))) == 40


def test_global_random_numbers_do_not_depend_on_the_number_of_workers():
    def draw(sample):
        return sample, random.random(), np.random.rand()
    found = []
    for workers in (1, 3):
        with Iterator(range(20), draw, 4, workers=workers) as iterator:
            found.append([np.stack(batch).tolist() for batch in iterator])
    assert found[0] == found[1] and len({row[1] for batch in found[0] for row in np.transpose(batch)}) == 20


def test_samples_are_stacked_padded_and_bucketed_in_workers():
    lengths = [index * 7 % 11 for index in range(30)]
    for workers in (0, 2):
        with Iterator(Reader(lengths), stretch, Buckets(lengths, [4, 8], 5), PadSamples(-1), workers) as iterator:
            batches = list(iterator)
            assert sorted(int((row >= 0).sum()) for batch in batches for row in batch) == sorted(lengths)
            assert all(batch.shape[1] == max((row >= 0).sum() for row in batch) for batch in batches)
            assert all(batch.shape[1] <= {True: 3}.get((batch >= 0).sum(1).max() < 4, 10) for batch in batches)
            first = list(itertools.islice(iterator, 3))
            state = iterator.state_dict()
        with Iterator(Reader(lengths), stretch, Buckets(lengths, [4, 8], 5), PadSamples(-1), workers) as iterator:
            iterator.load_state_dict(state)
            assert [batch.tolist() for batch in first + list(iterator)] == [batch.tolist() for batch in batches]


@pytest.mark.parametrize("workers, kind", [(0, "processes"), (2, "processes"), (2, "threads")])
def test_samples_that_cannot_be_had_are_named_or_left_out(workers, kind):
    with Iterator(Reader(range(20)), broken, 4, workers=workers, kind=kind, errors="skip") as iterator:
        found = [[int(number) for number in batch[:, 0]] for batch in iterator]
        assert found == [[0, 1, 2], [4, 5, 6, 7], [8, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19]]
        report = iterator.report()
        assert report.skipped == 2 and report.samples == 18 and report.losses[0][0] == "sample 3 of range"
        assert "ValueError: three is not to my taste" in str(report) and "expected (2,)" in report.losses[1][1]
    with Iterator(Reader(range(20)), broken, 4, workers=workers, kind=kind) as iterator:
        with pytest.raises(ValueError, match="three is not to my taste") as caught:
            list(iterator)
        told = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
        assert "sample 3 of range" in told and (not workers or "broken" in told)  # the worker's own traceback
    with Iterator(Reader([9, 8, 9]), broken, 3, workers=workers, kind=kind, errors="skip") as iterator:
        assert [batch.tolist() for batch in iterator] == [[[9, 9, 9], [9, 9, 9]]]  # the first one's shape counts
    with Iterator(Reader([3, 3]), broken, 2, workers=workers, kind=kind, errors="skip") as iterator:
        assert list(iterator) == [] and iterator.report().skipped == 2


@pytest.mark.parametrize("workers, kind", [(0, "processes"), (2, "processes"), (2, "threads")])
def test_the_end_of_a_users_own_iterator_is_no_end_of_the_epoch(workers, kind):
    with Iterator(range(9), lambda number: next(iter(range(number % 3))), 2, workers=workers, kind=kind) as iterator:
        with pytest.raises(RuntimeError, match="got a StopIteration from sample 0 of range"):
            list(iterator)
    with Iterator(range(9), None, 2, workers=workers, kind=kind, deliver=lambda batch: next(iter(()))) as iterator:
        with pytest.raises(RuntimeError, match="StopIteration"):
            list(iterator)


class Whole(Transformer):
    """A transformer that makes batches itself."""

    def __call__(self, sample, draws=None):
        raise AssertionError("samples one by one are not asked for")

    def batch(self, samples, draws, allocate):
        if 13 in samples:
            raise ValueError("unlucky")
        made = np.frombuffer(allocate(8 * len(samples)), np.int64)
        made[:] = samples
        assert len({draw.bits() for draw in draws}) == len(samples)
        return made


def test_transformers_make_whole_batches():
    for workers in (0, 2):
        with Iterator(range(20), Whole(), 6, workers=workers, errors="skip") as iterator:
            assert numbers(iterator) == [number for number in range(20) if number != 13]
        with Iterator(range(20), Whole(), 6, workers=workers) as iterator:
            with pytest.raises(ValueError, match="unlucky") as caught:
                list(iterator)
            assert "sample 13 of range" in str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))


def test_reports_count_what_each_stage_took():
    """Only least times are certain: a busy machine makes any stage longer."""
    with Iterator(Reader(range(40)), lambda number: time.sleep(0.002) or number, 4, workers=2) as iterator:
        list(iterator)
        report = iterator.report()
        assert report.batches == 10 and report.samples == 40 and report.total == 10
        assert "10 of 10 batches, 40 samples" in str(report)
        assert report.shares["transforming"] * report.busy * report.seconds * 2 > 0.002 * 40 * 0.99
        time.sleep(0.05)
        assert iterator.report().seconds == report.seconds  # the epoch has ended
    with Iterator(Reader(number for number in range(40) if not time.sleep(0.002)), twice, 4, workers=2) as iterator:
        list(iterator)
        report = iterator.report()
        assert report.total is None and report.feeding * report.seconds > 0.002 * 40 * 0.99
    with Iterator(Reader(range(20)), None, 4, deliver=lambda batch: time.sleep(0.002) or batch) as iterator:
        list(iterator)
        report = iterator.report()
        assert report.delivering * report.seconds > 0.002 * 5 * 0.99 and report.seconds > 0.002 * 5 * 0.99


@pytest.mark.parametrize(["bottleneck", "counts"], [
    ("consumer", {"stages": [0.1, 0.1, 0.1]}),
    ("consumer", {"stages": [0.1, 0.1, 0.1], "feeding": 0.4}),
    ("transforming", {"stages": [0.1, 1.7, 0.1], "waiting": 0.8}),
    ("reading", {"stages": [1.7, 0.1, 0.1], "waiting": 0.8, "feeding": 0.01}),
    ("batching", {"stages": [0.1, 0.1, 1.7], "waiting": 0.8}),
    ("source", {"stages": [0.0, 0.1, 0.0], "waiting": 0.1, "feeding": 0.8}),
    ("source", {"stages": [0.0, 0.1, 0.0], "feeding": 0.8}),
    ("delivering", {"stages": [0.0, 0.1, 0.0], "delivering": 0.8}),
])
def test_reports_name_the_bottleneck(bottleneck, counts):
    counters = Counters(workers=2)
    vars(counters).update(counts, begin=0.0, end=1.0, batches=10, samples=40)
    report = Report(counters)
    assert report.bottleneck == bottleneck and report.seconds == 1 and report.rate == 40
    assert f"bottleneck: {bottleneck}; " in str(report)


def test_bursts_make_the_store_grow_and_calm_lets_it_shrink():
    with Iterator(Reader(range(400)), lambda number: time.sleep(0.002) or number, workers=2) as iterator:
        deepest = 0
        for turn, _ in enumerate(iterator):
            if turn % 40 == 0:
                time.sleep(0.1)  # everything gets ready, then much is asked for at once
            deepest = max(deepest, iterator.report().ahead)
        assert deepest > 8
    with Iterator(Reader(range(40)), twice, workers=2, prefetch=1) as iterator:
        for _ in iterator:
            assert iterator.report().ahead <= 2


def test_a_store_grows_no_larger_than_its_budget():
    def slow(number):
        time.sleep(0.002)
        return np.zeros(1000)
    with Iterator(Reader(range(200)), slow, workers=2, kind="threads", budget=6 * 8000) as iterator:
        for turn, batch in enumerate(iterator):
            if turn % 40 == 0:
                time.sleep(0.1)
            assert iterator.report().ahead <= 6 and batch.nbytes == 8000


def test_length_counts_batches():
    counts = [len(Iterator(range(10), batch_size=3, last=last)) for last in ("keep", "drop", "pad", "wrap")]
    assert counts == [4, 3, 4, 4]
    assert len(Iterator(Reader(range(10), shards=3), batch_size=2)) == 2
    with pytest.raises(TypeError, match="has no length"):
        len(Iterator(iter("abc")))


@each("options, message", [
    ({"errors": "ignore"}, r"got errors='ignore', expected one of \('raise', 'skip'\)"),
    ({"kind": "fibres"}, "got kind='fibres', expected 'processes' or 'threads'"),
    ({"workers": -1}, "got workers=-1"), ({"prefetch": 0}, "got prefetch=0"),
    ({"prefetch": "much"}, "got prefetch='much'"),
    ({"kind": "threads", "restarts": 1}, "got context=None and restarts=1 for threads, expected neither"),
    ({"batch_size": Buckets([], [3], 2), "drop_last": True}, "got last='drop' beside Buckets, expected it there"),
    ({"batch_size": 0}, "Batches: got size=0"), ({"last": "first"}, "Batches: got last='first'")])
def test_arguments_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Iterator(range(3), **options)


def test_sizes_are_whole_numbers_of_any_kind():
    assert [len(batch) for batch in Iterator(range(5), batch_size=np.int64(2))] == [2, 2, 1]
    assert list(Buckets([1, 5, 2], [4], np.int32(2))(range(3))) == [[0, 2], [1]]


def test_states_of_other_iterators_are_refused():
    state = Iterator(range(9), batch_size=2).state_dict()
    for other, message in (({}, "got version None, expected 1"), ({"version": 1}, "got a state without batches, bey"),
                           ({**state, "reader": {"version": 1}}, "Reader.load_state_dict: got a state without begin")):
        with pytest.raises(ValueError, match=message):
            Iterator(range(9), batch_size=2).load_state_dict(other)
    with pytest.raises(TypeError, match="Iterator.load_state_dict: got NoneType"):
        Iterator(range(9)).load_state_dict(None)
    with pytest.raises(ValueError, match="got a state of batches of 2 samples"):
        Iterator(range(9), batch_size=Buckets(list(range(9)), [3], 2)).load_state_dict(state)
    with pytest.raises(ValueError, match="count=9"):
        Iterator(range(8), batch_size=2).load_state_dict(state)


def test_batches_that_came_out_of_order_are_not_made_again():
    def slow_first(number):
        time.sleep(0.3 if number == 0 else 0)
        return number
    with Iterator(range(12), slow_first, 2, workers=2, in_order=False) as iterator:
        begun = list(itertools.islice(iterator, 3))
        state = iterator.state_dict()
    assert 0 not in numbers(begun) and state["beyond"]
    with Iterator(range(12), slow_first, 2, workers=2) as iterator:
        iterator.load_state_dict(state)
        assert sorted(numbers(begun) + numbers(iterator)) == list(range(12))
    with pytest.raises(ValueError, match="got a state of batches of 2 samples, expected those of this iterator, 3"):
        Iterator(range(12), batch_size=3).load_state_dict(state)


def test_another_size_of_batches_goes_on_as_well():
    iterator = Iterator(Reader(range(20), True), batch_size=3)
    begun = numbers(itertools.islice(iterator, 2))
    other = Iterator(Reader(range(20), True), batch_size=5)
    other.load_state_dict(iterator.state_dict())
    assert begun + numbers(other) == list(Reader(range(20), True))


def test_work_without_a_transform_only_stacks():
    made = Work(Reader(range(5)), None, list, "raise")((0, [3, 1]))
    assert made.value == [3, 1] and made.count == 2 and not made.skipped and len(made.seconds) == 3


def test_batches_go_to_a_device_one_ahead():
    folder = pathlib.Path(dragon._C.library_folder())
    if dragon._C.device_count("fake") == 0:
        dragon.load_library(str(folder / "libdragon_fake.so"))
    done, hand_over = [], ToDevice("fake:1", dragon.from_numpy)

    def deliver(batch):
        done.append(len(done))
        return hand_over(batch)
    deliver.ahead = hand_over.ahead
    samples = [{"x": np.full(3, number, np.float32), "y": (number, str(number))} for number in range(9)]
    with Iterator(samples, None, 2, workers=2, deliver=deliver) as iterator:
        for turn, batch in enumerate(iterator):
            assert len(done) == min(turn + 2, 5) and str(batch["x"].device) == str(batch["y"][0].device) == "fake:1"
            assert batch["y"][1] == [str(number) for number in range(2 * turn, min(2 * turn + 2, 9))]
            assert np.asarray(batch["x"].to("cpu"))[:, 0].tolist() == [float(text) for text in batch["y"][1]]
            if turn == 1:
                state = iterator.state_dict()  # what was handed over ahead is not given out
    with Iterator(samples, None, 2) as iterator:
        iterator.load_state_dict(state)
        assert [batch["y"][1] for batch in iterator] == [["4", "5"], ["6", "7"], ["8"]]
    plain = ToDevice("cpu")(samples[3])
    assert isinstance(plain["x"], dragon._C.Tensor) and plain["y"] == (3, "3")


@pytest.mark.parametrize("workers", [0, 2])
def test_one_epoch_at_a_time(workers):
    with Iterator(range(9), None, 2, workers=workers) as iterator:
        first = iter(iterator)
        next(first)
        second = iter(iterator)
        next(second)
        with pytest.raises(RuntimeError, match="that was left when another one began, expected one epoch at a time"):
            next(first)
        assert len(list(second)) == 4
