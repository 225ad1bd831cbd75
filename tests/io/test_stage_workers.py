"""Stages of `dragon.io` that work ahead: threads, processes, their depth, and what is counted of them."""
import gc
import itertools
import os
import sys
import threading
import time

import pytest

from dragon.core import modes
from dragon.io import WorkerDied
from dragon.io.depth import SETTLED_AFTER, Depth
from dragon.io.stages import batching, counting
from dragon.io.stages.failing import END, Failed, next_of
from dragon.io.stages.prefetching import Ahead
from dragon.io.stages.processes import map_in_processes
from dragon.io.stages.threads import Worker, map_in_threads
from dragon.io.stages.trial import Trial, tried
from harness.waiting import PATIENCE_SECONDS, wait_for


def fail_at(place, items):
    """Yield items, and raise at a place."""
    for number, item in enumerate(items):
        if number == place:
            raise KeyError(place)
        yield item


@pytest.mark.parametrize("size", [1, 4, 64])
def test_items_are_made_ahead_in_order(size):
    assert list(Ahead(range(200), size)) == list(range(200))
    assert list(Ahead((), size)) == []
    items = iter(Ahead(fail_at(3, itertools.count()), size))
    assert list(itertools.islice(items, 3)) == [0, 1, 2]
    with pytest.raises(KeyError):
        next(items)


def test_no_more_is_made_than_there_is_room_for():
    made = []
    ahead = iter(Ahead((made.append(item) or item for item in itertools.count()), 3))
    assert next(ahead) == 0
    assert wait_for(lambda: len(made) == 4)
    time.sleep(0.02)
    assert len(made) == 4


def test_threads_end_with_what_they_are_for():
    before = set(threading.enumerate())
    begun, unasked = iter(Ahead(itertools.count(), 2)), Ahead(itertools.count(), 2)
    never, mapped = iter(Ahead(itertools.count(), 2)), map_in_threads(abs, itertools.count(), 3)
    assert next(begun) == 0 and next(mapped) == 0 and len(set(threading.enumerate()) - before) == 6
    del begun, unasked, never, mapped
    gc.collect()
    assert wait_for(lambda: not set(threading.enumerate()) - before)


def test_threads_record_nothing():
    assert list(map_in_threads(lambda _: modes.is_recording(), iter(range(4)), 2)) == [False] * 4
    assert list(Ahead((modes.is_recording() for _ in range(4)), 2)) == [False] * 4


def test_calls_run_beside_each_other():
    meeting = threading.Barrier(3, timeout=PATIENCE_SECONDS)
    assert list(map_in_threads(lambda item: (meeting.wait(), item)[1], iter(range(9)), 3)) == list(range(9))
    slow_first = threading.Event()

    def late(item):
        if item == 0:
            slow_first.wait(20)
        elif item == 3:
            slow_first.set()
        return item
    assert sorted(map_in_threads(late, iter(range(6)), 2, keep_order=False)) == list(range(6))
    with pytest.raises(ZeroDivisionError):
        list(map_in_threads(lambda item: 1 // item, iter([1, 0, 1]), 2))
    with pytest.raises(KeyError):
        list(map_in_threads(abs, fail_at(1, itertools.count()), 2))


class Shaky:
    """An iterator that goes on after its errors: multiples of a number fail."""

    def __init__(self, count, bad):
        self._numbers, self._bad = iter(range(1, count + 1)), bad

    def __iter__(self):
        return self

    def __next__(self):
        number = next(self._numbers)
        if number % self._bad == 0:
            raise KeyError(number)
        return number


def read_all(items):
    """Return all items, and (error's class, its argument) in the places of errors."""
    found, items = [], iter(items)
    while (item := next_of(items)) is not END:
        found.append((type(item.error), item.error.args[0]) if isinstance(item, Failed) else item)
    return found


EXPECTED = [1, 2, 3, (KeyError, 4), 5, 6, 7, (KeyError, 8), 9]
STAGES = {
    "ahead": lambda: Ahead(Shaky(9, 4), 2),
    "depth": lambda: Ahead(Shaky(9, 4), Depth(size_of=lambda item: item + 1)),
    "threads": lambda: map_in_threads(abs, Shaky(9, 4), 3),
    "trial": lambda: tried(Shaky(9, 4), Trial(5, 0.0), lambda items: Ahead(items, 2)),
    "long trial": lambda: tried(Shaky(9, 4), Trial(50, 0.0), None),
    "quick": lambda: tried(Shaky(9, 4), Trial(2, 9.0), None),
    "counted": lambda: counting.Counted(Shaky(9, 4), counting.Counters("items")),
}


@pytest.mark.parametrize("name", STAGES)
def test_stages_go_on_after_errors(name):
    assert read_all(STAGES[name]()) == EXPECTED


def test_errors_of_calls_come_in_their_places():
    def call(item):
        if item % 4 == 0:
            raise KeyError(item)
        return item
    assert read_all(map_in_threads(call, iter(range(1, 10)), 3)) == EXPECTED
    assert read_all(batching.lists(Shaky(9, 4), 2)) == [[1, 2], (KeyError, 4), [5, 6], (KeyError, 8), [9]]
    assert read_all(batching.lists(Shaky(9, 4), 2, drop_last=True))[-1] == (KeyError, 8)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_what_ends_programs_comes_through(kind):
    def end(item):
        raise kind(item)
    for items in (Ahead(map(end, [1]), 1), map_in_threads(end, iter([1]), 1)):
        with pytest.raises(kind):
            list(items)


def test_as_many_are_ahead_as_was_asked_for():
    made = []
    mapped = map_in_threads(lambda item: made.append(item) or item, itertools.count(), 2, ahead=5)
    assert next(mapped) == 0
    assert wait_for(lambda: len(made) == 5)


@pytest.mark.parametrize("work", [
    lambda: map_in_threads(abs, iter([1]), 0), lambda: map_in_threads(abs, iter([1]), 1, ahead=0),
    lambda: map_in_processes(abs, iter([1]), 0, 1, "test"), lambda: map_in_processes(abs, iter([1]), 1, 0, "test"),
    lambda: Ahead([1], 0)])
def test_nobody_does_nothing(work):
    with pytest.raises(ValueError, match="expected one or more"):
        list(work())


def run_depth(depth, ready):
    """Tell a depth how many items were ready, one after the other."""
    for count in ready:
        count = min(count, depth.size)
        depth.learn(not count, count >= depth.size, count > 2)
    return depth.size


def test_depth_follows_the_need():
    depth = Depth()
    first = depth.size
    assert run_depth(depth, [0] * 100) == first  # never full: the maker is slow, and a larger buffer no help
    assert run_depth(depth, [first, 0]) == 2 * first
    assert run_depth(depth, [2 * first, 0, 4 * first, 0]) == 8 * first
    assert run_depth(depth, [64, 0] * 20) == 64
    assert run_depth(depth, [64] * SETTLED_AFTER * 100) < 4  # never empty
    assert depth.size >= 1


def test_depth_is_bounded_by_memory():
    depth = Depth(size_of=len, budget=100)
    depth.weigh(b"x" * 40)
    assert run_depth(depth, [4, 0, 4, 0]) == 2
    depth.weigh(b"x" * 500)
    assert run_depth(depth, [1, 0]) == 1


@pytest.mark.parametrize("bytes_each", [1, 1 << 29])
def test_items_come_whatever_the_depth(bytes_each):
    depth = Depth(size_of=lambda item: bytes_each)
    bursts = (time.sleep(0.01 * (item % 50 == 49)) or item for item in range(300))
    assert list(Ahead(bursts, depth)) == list(range(300))
    assert depth.size == 1 or bytes_each == 1


def test_trials():
    assert not Trial(2, 1e-9, warm=0).over
    slow, quick = Trial(2, 1e-4), Trial(2, 10.0)
    used = []

    def ahead(items):
        used.append(True)
        return items
    assert list(tried((time.sleep(0.001) or item for item in range(9)), slow, ahead)) == list(range(9))
    assert used == [True]
    assert list(tried(iter(range(9)), quick, ahead)) == list(range(9)) and used == [True]
    assert slow.over and slow.pays and quick.over and not quick.pays
    assert list(tried(iter("ab"), slow, ahead)) == ["a", "b"] and used == [True] * 2  # decided for those that follow
    assert list(tried(iter("a"), Trial(2, 0.0), ahead)) == ["a"] and len(used) == 2  # too few to tell
    assert list(tried(iter(()), Trial(2, 0.0), ahead)) == []


def slow(item):
    """Return an item after a while."""
    time.sleep(0.002)
    return item


def test_counters_tell_who_waits_for_whom():
    with counting.watched() as found:
        source = counting.counted(map(slow, range(20)), "source")
        ahead = counting.counted(Ahead(source, 4), "ahead")
        user = counting.counted(map(lambda item: item, ahead), "user")
        assert list(user) == list(range(20))
    assert [one.name for one in found] == ["source", "ahead", "user"] and [one.items for one in found] == [20] * 3
    source, ahead, user = found
    assert source.working > 0.035 > source.starved + source.full
    assert user.starved > user.working
    assert "source: 20 items" in repr(source)


def test_counters_know_threads_and_room():
    with counting.watched() as found:
        mapped = counting.counted(map_in_threads(slow, iter(range(20)), 2), "mapped")
        assert list(mapped) == list(range(20))
        counted = counting.counted(iter(()), "ahead")
        assert list(counted) == []

        def begin():
            yield from Ahead(range(20), 1)
        for _ in counting.counted(begin(), "full"):
            time.sleep(0.002)
    assert found[0].working > 0.035
    assert found[2].full > found[2].working


def test_nothing_is_counted_where_nobody_watches():
    items = iter(range(3))
    assert counting.counted(items, "items") is items and counting.current() is None


def test_processes_keep_the_order():
    assert list(map_in_processes(divmod_by_two, iter(range(50)), 3, 7, "test")) == [divmod(n, 2) for n in range(50)]
    assert list(map_in_processes(divmod_by_two, iter(()), 2, 4, "test")) == []
    assert len(set(map_in_processes(own_process, iter(range(8)), 2, 1, "test")) - {os.getpid()}) >= 1


def test_processes_fail_and_die():
    with pytest.raises(TypeError, match="(?s)in test worker process.*unsupported operand"):
        list(map_in_processes(divmod_by_two, iter([1, "a", 2]), 2, 4, "test"))
    with pytest.raises(WorkerDied, match="test worker"):
        list(map_in_processes(os._exit, iter([3]), 1, 1, "test"))


def test_processes_are_not_further_ahead_than_asked_for():
    read = []
    numbers = (read.append(item) or item for item in itertools.count())
    answers = map_in_processes(divmod_by_two, numbers, 2, 3, "test")
    assert [next(answers) for _ in range(2)] == [(0, 0), (0, 1)]
    assert len(read) <= 5
    answers.close()


def divmod_by_two(item):
    """Return a pair of numbers."""
    return divmod(item, 2)


def own_process(item):
    """Return which process this is."""
    return os.getpid()


def test_an_end_that_a_function_tells_of_is_an_error():
    for answers in (map_in_processes(ended, range(5), 2, 3, "test"), map_in_threads(ended, iter(range(5)), 2)):
        with pytest.raises(RuntimeError, match="StopIteration"):
            list(answers)


def ended(item):
    """Raise what iterators take for their end."""
    return next(iter(()))


@pytest.mark.parametrize("make", [lambda items: iter(Ahead(items, 2)), lambda items: map_in_threads(abs, items, 2)],
                         ids=["ahead", "threads"])
def test_interrupts_leave_no_lock_taken(make):
    """An interrupt within a function of `threading` may: once its threads run, no stage calls any."""
    called = []

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename == threading.__file__:
            called.append(frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name)
    items = make(iter(range(9)))
    assert next(items) == 0
    sys.setprofile(note)
    try:
        assert [next(items), next(items)] == [1, 2]
        del items
    finally:
        sys.setprofile(None)
    assert called == []


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt("stop"), None])
def test_an_interrupt_while_a_thread_starts_comes_out_as_it_is(interrupt, monkeypatch):
    def wait(_, timeout=None):
        try:
            if interrupt is not None:
                raise interrupt
        finally:
            raise RuntimeError("release unlocked lock")
    monkeypatch.setattr(threading.Event, "wait", wait)
    with pytest.raises(RuntimeError if interrupt is None else KeyboardInterrupt) as caught:
        Worker(print, (), print)
    assert interrupt is None or caught.value is interrupt
