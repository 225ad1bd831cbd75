"""torch.multiprocessing: tensors in queues share memory, failures come home."""
import multiprocessing

import pytest
import torch_workers

from dragon.vm import torch as dt


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_tensors_travel_through_shared_memory(method):
    mp = dt.multiprocessing
    context = mp.get_context(method)
    queue, event = context.SimpleQueue(), context.Event()
    shared = dt.zeros(2).share_memory_()
    started = mp.start_processes(torch_workers.put_tensors, (queue, shared, event), 2, join=False, start_method=method)
    received = {rank: (tensor, empty) for rank, tensor, empty in (queue.get(), queue.get())}
    event.set()
    while not started.join():
        pass
    assert len(started.pids()) == 2 and started.join()
    for rank, (tensor, empty) in received.items():
        assert tensor.tolist() == [rank] * 3 and tensor.is_shared() and empty.shape == (0, 2)
    assert shared.tolist() == [5, 6]


def test_both_ends_see_what_either_writes():
    reader, writer = multiprocessing.Pipe(duplex=False)
    sent = dt.arange(6.0).reshape(2, 3).clone().share_memory_()
    dt.multiprocessing.reductions.init_reductions()
    writer.send((sent.t(), dt.nn.Parameter(dt.ones(1))))
    received, parameter = reader.recv()
    sent[0, 0] = 9
    assert received[0, 0].item() == 9 and received.shape == (3, 2) and received.stride() == (1, 3)
    assert isinstance(parameter, dt.nn.Parameter) and parameter.requires_grad
    with pytest.raises(RuntimeError, match="non-leaf"):
        writer.send(parameter * 2)


class Passing:
    """Parts of a tensor, and tensors that are made when they are sent and that nobody else holds."""

    def __init__(self, whole):
        self.whole = whole

    def __reduce__(self):
        return list, ([self.whole, self.whole[1:], *self.whole.split(2), dt.ones(1000), dt.ones(5)],)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_new_processes_are_given_each_block_once(method):
    context = dt.multiprocessing.get_context(method)
    queue, whole = context.SimpleQueue(), dt.arange(6.0).share_memory_()
    started = dt.multiprocessing.start_processes(torch_workers.put_sums, (queue, Passing(whole)), join=False,
                                                 start_method=method)
    assert queue.get() == ([15, 15, 1, 5, 9, 1000, 5], True)
    while not started.join():
        pass
    assert whole[1].item() == 100


def test_parts_of_one_block_are_one_block_in_a_message():
    reader, writer = multiprocessing.Pipe(duplex=False)
    whole = dt.arange(6.0).share_memory_()
    for _ in range(3):
        writer.send([whole, *whole.split(1)] * 2)
        received = reader.recv()
        assert [len(part) for part in received] == [6, *[1] * 6] * 2
        received[0][0] = 7
        assert received[1].item() == received[8].item() == whole[0].item() == 7
        whole[0] = 0


def test_failures_come_home():
    mp = dt.multiprocessing
    with pytest.raises(mp.ProcessRaisedException, match="(?s)-- Process 1 terminated.*ValueError: no good") as caught:
        mp.spawn(torch_workers.fail, nprocs=2)
    assert caught.value.error_index == 1 and caught.value.pid > 0
    with pytest.raises(mp.ProcessExitedException, match="SIGKILL") as caught:
        mp.start_processes(torch_workers.die, nprocs=1, start_method="fork")
    assert caught.value.signal_name == "SIGKILL" and caught.value.exit_code == -9
    with pytest.warns(FutureWarning):
        mp.spawn(torch_workers.fail, nprocs=1, start_method="fork")


def test_strategies_and_pools():
    mp = dt.multiprocessing
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(AssertionError):
        mp.set_sharing_strategy("nothing")
    with mp.get_context("fork").Pool(2) as pool:
        assert [tensor.item() for tensor in pool.map(abs, [dt.tensor(-1.0), dt.tensor(2.0)])] == [1, 2]


def test_futures():
    futures = dt.futures
    first, second = futures.Future(), futures.Future()
    after = first.then(lambda done: done.value() + 1)
    together = futures.collect_all([first, second])
    first.set_result(1)
    assert after.wait() == 2 and not together.done()
    second.set_exception(ValueError("late"))
    assert together.done()
    with pytest.raises(ValueError, match="late"):
        second.wait()
    with pytest.raises(RuntimeError):
        first.set_result(2)
    assert futures.wait_all([first, after]) == [1, 2]
