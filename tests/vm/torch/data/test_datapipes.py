"""torch.utils.data.datapipes: pipes of samples, their graphs, and loaders of them."""
import pytest
import torch as gt

from dragon.vm import torch as dt
from dragon.vm.torch.utils.data import graph_settings
from dragon.vm.torch.utils.data.datapipes import iter as pipes
from dragon.vm.torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from dragon.vm.torch.utils.data.graph import traverse_dps
from harness.subresults import each


def both(make):
    """Return what a function makes of the pipes of Dragon and of genuine PyTorch."""
    from torch.utils.data.datapipes import iter as genuine
    return list(make(pipes)), list(make(genuine))


@each("make", [
    lambda p: p.IterableWrapper(range(7)).map(twice).filter(halves_evenly, input_col=None),
    lambda p: p.IterableWrapper(range(7)).batch(3),
    lambda p: p.IterableWrapper(range(7)).batch(3, drop_last=True).unbatch(),
    lambda p: p.IterableWrapper([[[1], [2, 3]], [[4]]]).unbatch(unbatch_level=-1),
    lambda p: p.IterableWrapper([(1, 2), (3, 4)]).map(sum_of, input_col=[0, 1]),
    lambda p: p.IterableWrapper([(1, 2), (3, 4)]).map(sum_of, input_col=[0, 1], output_col=-1),
    lambda p: p.IterableWrapper([{"a": 1}, {"a": 2}]).map(twice, "a", "b"),
    lambda p: p.IterableWrapper(range(3)).concat(p.IterableWrapper("ab")),
    lambda p: p.IterableWrapper(range(3)).zip(p.IterableWrapper("ab")),
    lambda p: p.IterableWrapper(range(20)).shuffle(buffer_size=4).set_seed(5),
    lambda p: p.IterableWrapper(range(20)).shuffle().set_shuffle(False),
    lambda p: p.Sampler(p.IterableWrapper(range(3)))], ids=range(12))
def test_pipes_give_what_pytorch_s_give(make):
    ours, theirs = both(make)
    assert ours == theirs


def twice(number):
    """Return a number twice."""
    return number * 2


def halves_evenly(number):
    """Return whether a number's half is even."""
    return number % 4 == 0


def sum_of(*parts):
    """Return the sum of parts."""
    return sum(parts)


def test_lengths_and_letters():
    pipe = pipes.IterableWrapper(range(7))
    assert [len(one) for one in (pipe.batch(3), pipe.batch(3, drop_last=True), pipe.map(str), pipe.shuffle())] == [
        3, 2, 7, 7]
    assert repr(pipe.batch(3)) == "BatcherIterDataPipe" and "shuffle" in dir(pipe)
    for wrong, kind in ((lambda: pipe.batch(0), AssertionError), (lambda: pipe.shuffle(buffer_size=0), ValueError),
                        (lambda: pipe.concat([1]), TypeError), (lambda: list(pipe.filter(lambda x: 1)), ValueError),
                        (lambda: list(pipe.unbatch()), IndexError), (lambda: pipe.map(str, None, 1), ValueError)):
        with pytest.raises(kind):
            wrong()


def test_parts_of_a_pipe():
    ours = []
    for count, place in ((3, 0), (3, 1), (3, 2)):
        pipe = pipes.IterableWrapper(range(8)).sharding_filter().map(str)
        graph_settings.apply_sharding(pipe, count, place)
        ours.append(list(pipe))
    assert ours == [["0", "3", "6"], ["1", "4", "7"], ["2", "5"]]
    pipe = pipes.IterableWrapper(range(8)).sharding_filter()
    graph_settings.apply_sharding(pipe, 2, 1, SHARDING_PRIORITIES.DISTRIBUTED)
    graph_settings.apply_sharding(pipe, 2, 1, SHARDING_PRIORITIES.MULTIPROCESSING)
    assert list(pipe) == [3, 7] and len(pipe) == 2
    with pytest.raises(RuntimeError, match="mix DEFAULT"):
        pipe.apply_sharding(2, 1)
    with pytest.raises(RuntimeError, match="Sharding twice"):
        graph_settings.apply_sharding(pipe.sharding_filter(), 2, 1, SHARDING_PRIORITIES.DISTRIBUTED)


def test_graphs_of_pipes():
    first = pipes.IterableWrapper(range(4))
    last = first.shuffle().zip(first.map(str))
    graph = traverse_dps(last)
    assert [type(pipe).__name__ for pipe in graph_settings.get_all_graph_pipes(graph)] == [
        "ZipperIterDataPipe", "ShufflerIterDataPipe", "IterableWrapperIterDataPipe", "MapperIterDataPipe"]
    with pytest.raises(RuntimeError, match="IterDataPipe"):
        traverse_dps([first])
    graph_settings.apply_shuffle_settings(last, False)
    assert list(last) == [(0, "0"), (1, "1"), (2, "2"), (3, "3")]
    with pytest.warns(UserWarning, match="Shuffler"):
        assert type(graph_settings.apply_shuffle_settings(first, True)).__name__ == "ShufflerIterDataPipe"


def test_seeds_come_from_a_generator():
    orders = []
    for torch, settings in ((dt, graph_settings), (gt, gt.utils.data.graph_settings)):
        from torch.utils.data.datapipes.iter import IterableWrapper
        pipe = (IterableWrapper if torch is gt else pipes.IterableWrapper)(range(20)).shuffle()
        orders.append(list(settings.apply_random_seed(pipe, torch.Generator().manual_seed(3))))
    assert orders[0] == orders[1]


@pytest.mark.parametrize("workers", [0, 2])
def test_loaders_share_pipes_out(workers):
    pipe = pipes.IterableWrapper(range(8)).shuffle().sharding_filter()
    ordered = dt.utils.data.DataLoader(pipe, batch_size=2, shuffle=False, num_workers=workers)
    assert sorted(dt.cat(list(ordered)).tolist()) == list(range(8))
    mixed = dt.utils.data.DataLoader(pipe, batch_size=None, shuffle=True, num_workers=workers)
    assert sorted(int(item) for item in mixed) == list(range(8))


def test_decorators():
    class Drawing(dt.utils.data.IterDataPipe):
        def __init__(self, source=None):
            self.source = source

        def __iter__(self):
            return iter(())

    checked = dt.utils.data.non_deterministic(Drawing)
    sometimes = dt.utils.data.non_deterministic(lambda source: source is not None)(Drawing)
    assert isinstance(checked(), Drawing)
    with dt.utils.data.guaranteed_datapipes_determinism():
        assert isinstance(sometimes(None), Drawing)
        for make in (checked, lambda: sometimes(1)):
            with pytest.raises(TypeError, match="non-deterministic"):
                make()
    assert isinstance(sometimes(1), Drawing)

    @dt.utils.data.argument_validation
    def take(pipe: dt.utils.data.IterDataPipe, number: int):
        return number
    assert take(checked(), 3) == 3
    with pytest.raises(TypeError, match="'pipe' as a IterDataPipe"):
        take([1], 3)

    class Numbers(dt.utils.data.IterDataPipe):
        type = int

        @dt.utils.data.runtime_validation
        def __iter__(self):
            yield from (1, "a")
    with pytest.raises(RuntimeError, match="subtype of"):
        list(Numbers())
    with dt.utils.data.runtime_validation_disabled():
        assert list(Numbers()) == [1, "a"]
