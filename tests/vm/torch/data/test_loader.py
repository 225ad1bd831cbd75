"""torch.utils.data beside PyTorch: same seed, same order and values, same errors."""
import collections
import itertools
import os
import random
import signal
import time
import warnings

import numpy as np
import pytest
import torch
import torch.utils.data  # noqa: F401 the oracle

from dragon.vm import torch as dt
from harness.waiting import PATIENCE_SECONDS

Point = collections.namedtuple("Point", "x y")
BOTH = (dt, torch)


class Samples:
    """A dataset of either library, with random numbers of all three streams in its samples."""

    def __init__(self, library, length=23):
        self.library, self.length = library, length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return {"x": self.library.rand(2, 3) + index, "i": index, "n": np.random.rand(2), "f": float(index),
                "s": str(index), "p": Point(self.library.tensor([index]), np.float32(index)), "l": [index, (index,)]}


def plain(value):
    """Return nested data as plain Python, with the classes of its containers."""
    if hasattr(value, "numpy"):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [plain(item) for item in value]
    return value


def run(library, epochs=2, length=23, **options):
    """Return what a loader yields in some epochs, from a fixed seed."""
    library.manual_seed(11)
    np.random.seed(3)
    if "generator" in options:
        options["generator"] = library.Generator().manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loader = library.utils.data.DataLoader(Samples(library, length), **options)
        return [[plain(batch) for batch in loader] for _ in range(epochs)]


OPTIONS = [
    dict(), dict(batch_size=4), dict(batch_size=4, shuffle=True), dict(batch_size=4, drop_last=True, shuffle=True),
    dict(batch_size=None), dict(batch_size=None, shuffle=True), dict(batch_size=5, shuffle=True, num_workers=2),
    dict(batch_size=5, shuffle=True, generator=1), dict(batch_size=5, shuffle=True, generator=1, num_workers=1),
    dict(batch_size=3, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=1),
    dict(batch_sampler=[[1, 2], [5], [0, 0, 3]]), dict(sampler=[4, 2, 0], batch_size=2, num_workers=1),
    dict(batch_size=4, num_workers=1, in_order=False), dict(batch_size=4, pin_memory=True),
    dict(batch_size=4, num_workers=2, timeout=240, prefetch_factor=4, length=7),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_loader_gives_the_same_batches(options):
    assert run(dt, **options) == run(torch, **options)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_loader_with_spawned_workers(method):
    data = dt.utils.data.TensorDataset(dt.arange(6.0).view(3, 2))
    loader = dt.utils.data.DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context=method)
    assert [batch.tolist() for batch, in loader] == [[[0, 1], [2, 3]], [[4, 5]]]


SAMPLERS = [
    lambda data: data.SequentialSampler(range(5)), lambda data: data.RandomSampler(range(9)),
    lambda data: data.RandomSampler(range(9), num_samples=20), lambda data: data.RandomSampler(range(9), True, 70),
    lambda data: data.SubsetRandomSampler([3, 1, 4, 1, 5]),
    lambda data: data.WeightedRandomSampler([0.1, 0.7, 0.2], 10),
    lambda data: data.WeightedRandomSampler([0.1, 0.7, 0.2], 3, replacement=False),
    lambda data: data.BatchSampler(data.SequentialSampler(range(7)), 3, False),
    lambda data: data.BatchSampler(data.RandomSampler(range(7)), 3, True),
    lambda data: data.DistributedSampler(range(10), 3, 1), lambda data: data.DistributedSampler(range(10), 3, 2, False),
    lambda data: data.DistributedSampler(range(10), 3, 0, drop_last=True, seed=4),
    lambda data: data.DistributedSampler(range(2), 5, 4), lambda data: data.DistributedSampler(range(9), 3, 1, False),
]


@pytest.mark.parametrize("make", SAMPLERS)
def test_samplers_give_the_same_indices(make):
    found = []
    for library in BOTH:
        library.manual_seed(2)
        sampler = make(library.utils.data)
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(3)
        found.append((list(sampler), list(sampler), len(sampler)))
    assert found[0] == found[1]


@pytest.mark.parametrize("lengths", [[3, 7], [0.3, 0.7], [0.5, 0.25, 0.25], [10, 0]])
@pytest.mark.parametrize("seeded", [False, True])
def test_random_split(lengths, seeded):
    found = []
    for library in BOTH:
        library.manual_seed(7)
        options = {"generator": library.Generator().manual_seed(1)} if seeded else {}
        found.append([list(part) for part in library.utils.data.random_split(range(10), lengths, **options)])
    assert found[0] == found[1]


def test_datasets():
    for library in BOTH:
        data = library.utils.data
        tensors = data.TensorDataset(library.arange(6).view(3, 2), library.tensor([1, 2, 3]))
        assert len(tensors) == 3 and tensors[1][1].item() == 2
        both = tensors + data.TensorDataset(library.zeros(2, 2), library.zeros(2))
        assert isinstance(both, data.ConcatDataset) and len(both) == 5 and both[-1][0].tolist() == [0, 0]
        assert both.cumulative_sizes == [3, 5]
        stacked = data.StackDataset(range(4), data.Subset(range(10, 20), [3, 1, 2, 0]))
        assert stacked[1] == (1, 11) and stacked.__getitems__([0, 3]) == [(0, 13), (3, 10)]
        assert data.StackDataset(a=[1, 2], b=[3, 4]).__getitems__([1]) == [{"a": 2, "b": 4}]
        assert data.Subset(range(10), [5, 6])[1] == 6
        assert data.Dataset[int] and data.IterableDataset[int]


class Numbers(dt.utils.data.IterableDataset):
    """Yield a worker's part of a range."""

    def __init__(self, stop, said=None):
        self.stop, self.said = stop, said

    def __iter__(self):
        info = dt.utils.data.get_worker_info()
        return iter(range(self.stop)) if info is None else iter(range(info.id, self.stop, info.num_workers))

    def __len__(self):
        if self.said is None:
            raise TypeError("no length")
        return self.said


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_iterable_datasets(workers, persistent):
    loader = dt.utils.data.DataLoader(Numbers(11), batch_size=3, num_workers=workers,
                                      persistent_workers=persistent and workers > 0)
    for _ in range(2):
        assert sorted(number for batch in loader for number in batch.tolist()) == list(range(11))
    chained = dt.utils.data.DataLoader(Numbers(2) + Numbers(3), batch_size=None)
    assert list(chained) == [0, 1, 0, 1, 2]


def yield_parts(library, **options):
    """Return what a loader yields in two epochs from an iterable dataset with uneven parts and random numbers."""
    class Parts(library.utils.data.IterableDataset):
        def __iter__(self):
            info = library.utils.data.get_worker_info()
            first, step = (0, 1) if info is None else (info.id, info.num_workers)
            return ((number, random.random()) for number in range(first, 17 + 7 * first, step))
    library.manual_seed(3)
    random.seed(1)
    loader = library.utils.data.DataLoader(Parts(), **options)
    return [[plain(batch) for batch in loader] for _ in range(2)]


@pytest.mark.parametrize("options", [dict(batch_size=3), dict(batch_size=3, num_workers=2, drop_last=True),
                                     dict(batch_size=None, num_workers=2),
                                     dict(batch_size=2, num_workers=2, persistent_workers=True, prefetch_factor=3)],
                         ids=str)
def test_iterable_datasets_give_the_same_batches(options):
    assert yield_parts(dt, **options) == yield_parts(torch, **options)


def test_wrong_lengths_warn():
    loader = dt.utils.data.DataLoader(Numbers(4, said=2))
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="Length of IterableDataset"):
        list(loader)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        iter(dt.utils.data.DataLoader(range(3), pin_memory=True))
    with pytest.warns(UserWarning, match="suggested max number"):
        dt.utils.data.DataLoader(range(3), num_workers=1000)


WRONG = [
    lambda data: data.DataLoader(range(3), num_workers=-1), lambda data: data.DataLoader(range(3), timeout=-1),
    lambda data: data.DataLoader(range(3), prefetch_factor=2),
    lambda data: data.DataLoader(range(3), num_workers=1, prefetch_factor=-2),
    lambda data: data.DataLoader(range(3), persistent_workers=True),
    lambda data: data.DataLoader(range(3), multiprocessing_context="fork"),
    lambda data: data.DataLoader(range(3), num_workers=1, multiprocessing_context="nothing"),
    lambda data: data.DataLoader(range(3), num_workers=1, multiprocessing_context=3),
    lambda data: data.DataLoader(range(3), sampler=[1], shuffle=True),
    lambda data: data.DataLoader(range(3), batch_sampler=[[1]], batch_size=2),
    lambda data: data.DataLoader(range(3), batch_size=None, drop_last=True),
    lambda data: data.DataLoader(range(3), batch_size=0), lambda data: data.DataLoader(range(0), shuffle=True),
    lambda data: data.DataLoader(data.IterableDataset(), shuffle=True),
    lambda data: data.DataLoader(data.IterableDataset(), batch_sampler=[[1]]),
    lambda data: setattr(data.DataLoader(range(3)), "batch_size", 3),
    lambda data: data.RandomSampler(range(3), replacement=1), lambda data: data.RandomSampler(range(3), num_samples=0),
    lambda data: data.BatchSampler(range(3), 2, 1), lambda data: data.WeightedRandomSampler([[1.0]], 1),
    lambda data: data.WeightedRandomSampler([1.0], True), lambda data: data.DistributedSampler(range(3), 2, 2),
    lambda data: data.random_split(range(3), [1, 1]), lambda data: data.random_split(range(3), [1.5, -0.5]),
    lambda data: data.StackDataset(), lambda data: data.StackDataset([1], a=[2]), lambda data: data.ConcatDataset([]),
    lambda data: data.StackDataset([1], [2, 3]), lambda data: data.Dataset()[0], lambda data: iter(data.Sampler()),
    lambda data: data.default_collate([object()]), lambda data: data.default_collate([[1], [1, 2]]),
    lambda data: data.default_collate([np.array("a")]), lambda data: data.ConcatDataset([[1, 2]])[-3],
]


@pytest.mark.parametrize("act", WRONG)
def test_what_is_wrong_raises_the_same(act):
    raised = []
    for library in BOTH:
        with pytest.raises(Exception) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            act(library.utils.data)
        raised.append((caught.type, str(caught.value).replace("dragon.vm.", "").split(" object at")[0]))
    assert raised[0] == raised[1]


class Troubled:
    """A dataset with one bad sample."""

    def __init__(self, trouble):
        self.trouble = trouble

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 2:
            self.trouble()
        return index


class Own(Exception):
    """A class that takes no text alone."""

    def __init__(self, one, two):
        super().__init__(one, two)


def fail(error):
    """Raise an error."""
    raise error


@pytest.mark.parametrize("error, kind", [(ValueError("bad sample"), ValueError), (KeyError("bad sample"), KeyError),
                                         (Own("bad sample", 2), RuntimeError)])
def test_a_worker_s_failure_keeps_its_traceback(error, kind):
    loader = dt.utils.data.DataLoader(Troubled(lambda: fail(error)), num_workers=1)
    with pytest.raises(kind, match="(?s)in DataLoader worker process 0.*Original Traceback.*bad sample"):
        list(loader)
    loader = dt.utils.data.DataLoader(range(3), num_workers=1, worker_init_fn=lambda index: fail(error))
    with pytest.raises(kind, match="bad sample"):
        list(loader)


def test_killed_and_late_workers_are_noticed():
    loader = dt.utils.data.DataLoader(Troubled(lambda: os.kill(os.getpid(), signal.SIGKILL)), num_workers=1)
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"):
        list(loader)
    loader = dt.utils.data.DataLoader(Troubled(lambda: time.sleep(PATIENCE_SECONDS)), num_workers=1, timeout=0.1)
    with pytest.raises(RuntimeError, match="timed out after 0.1 seconds"):
        list(loader)


def test_batches_outlive_the_loader_and_are_not_written_again():
    data = dt.arange(64.0).view(16, 4)
    kept = [batch for epoch in range(3) for batch, in dt.utils.data.DataLoader(
        dt.utils.data.TensorDataset(data), batch_size=4, num_workers=2)]
    for number, batch in enumerate(kept):
        assert batch.tolist() == data[number % 4 * 4:number % 4 * 4 + 4].tolist()
    kept[0] += 1


def test_breaking_off_and_reading_twice():
    loader = dt.utils.data.DataLoader(range(50), batch_size=2, num_workers=2, persistent_workers=True)
    for batch in loader:
        break
    assert [batch.tolist()[0] for batch in loader] == list(range(0, 50, 2))


@pytest.mark.parametrize("data", [
    [1, 2], [1.5], ["a"], [True], [np.float64(2)], [np.arange(2)], [{"a": 1}], [(1, "b")], [[1, 2], [3, 4]],
    [Point(1, 2)], [b"x"], [np.array(3)]], ids=str)
def test_collate_and_convert(data):
    for name in ("default_collate", "default_convert"):
        mine, theirs = (getattr(library.utils.data, name)(data) for library in BOTH)
        assert plain(mine) == plain(theirs)
    mine, theirs = (library.utils.data._utils.collate.collate(
        data, collate_fn_map={object: lambda batch, *, collate_fn_map: len(batch)}) for library in BOTH)
    assert mine == theirs


def test_pipes_of_a_user_s_own():
    data = dt.utils.data

    @data.functional_datapipe("doubled_for_test")
    class Doubled(data.IterDataPipe):
        def __init__(self, source):
            self.source = source

        def __iter__(self):
            return (2 * item for item in self.source)

    class Source(data.IterDataPipe):
        def __iter__(self):
            return iter(range(4))
    assert [batch.tolist() for batch in data.DataLoader(Source().doubled_for_test(), batch_size=2)] == [[0, 2], [4, 6]]
    with pytest.raises(AttributeError, match="nothing_such"):
        Source().nothing_such
    with pytest.raises(TypeError):
        data.functional_datapipe("x")(int)


@pytest.mark.parametrize("library", BOTH)
@pytest.mark.parametrize("replacement", (False, True))
def test_ten_billion_samples_are_drawn_as_they_are_asked_for(library, replacement):
    sampler = library.utils.data.RandomSampler(range(5), replacement, 10**10, library.Generator().manual_seed(3))
    assert len(sampler) == 10**10
    first = list(itertools.islice(sampler, 50))
    assert set(first) == set(range(5))
    genuine = torch.utils.data.RandomSampler(range(5), replacement, 50, torch.Generator().manual_seed(3))
    assert first == list(genuine)


@pytest.mark.parametrize("processors, said", [(2, "current system is 2 (`cpuset` is not taken into account), which"),
                                              (None, "not able to compute a suggested max number"), (3, None)])
def test_too_many_workers_where_no_system_tells_of_affinity(processors, said, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dt.utils.data.DataLoader(range(2), num_workers=3)
        dt.utils.data.DataLoader(range(2), num_workers=0)
    assert [said in str(warning.message) for warning in caught] == ([] if said is None else [True])
