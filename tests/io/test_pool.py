"""Workers of `dragon.io`: answers, failures, deaths, time-outs, and nothing left behind."""
import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from dragon.io import Iterator, Reader, Transformer, WorkerDied, WorkerPool
from io_workers import Start, answer
from harness.waiting import is_gone, wait_for


@pytest.fixture(params=["fork", "spawn"])
def pool(request):
    with WorkerPool(2, Start(answer), multiprocessing.get_context(request.param), "test") as made:
        yield made


def test_arrays_come_back_through_shared_memory(pool):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": [np.arange(10)[::2], np.zeros((0, 3))], "c": "text"}
    pool.put(1, "key", ("echo", arrays))
    worker, key, back = pool.get(20)
    assert (worker, key, back["c"]) == (1, "key", "text")
    np.testing.assert_array_equal(back["a"], arrays["a"])
    np.testing.assert_array_equal(back["b"][0], arrays["b"][0])
    assert back["b"][1].shape == (0, 3)
    back["a"][0, 0] = 7  # the memory is the receiver's own


def test_failures_keep_class_and_traceback():
    with WorkerPool(1, Start(answer), name="test") as pool:
        for kind in (ValueError, KeyError, ZeroDivisionError):
            pool.put(0, None, ("raise", kind("what went wrong")))
            with pytest.raises(kind, match="(?s)Caught .* in test worker process 0.*Traceback.*what went wrong"):
                pool.get(10)[2].reraise()


def test_a_killed_worker_is_named():
    with WorkerPool(2, Start(answer), name="test") as pool:
        pool.put(0, None, ("die", signal.SIGKILL))
        with pytest.raises(WorkerDied, match=rf"pid {pool.workers[0].process.pid}.*SIGKILL"):
            pool.get(10)
    with WorkerPool(1, Start(answer), name="test") as pool:
        pool.put(0, None, ("exit", 3))
        with pytest.raises(WorkerDied, match="exit code 3"):
            pool.get(10)


def test_waiting_has_an_end():
    with WorkerPool(1, Start(answer), name="test") as pool:
        pool.put(0, None, ("sleep", 0.3))
        with pytest.raises(TimeoutError):
            pool.get(0.05)


def test_large_tasks_and_answers_do_not_block_each_other():
    with WorkerPool(1, Start(answer), name="test") as pool:
        text = "x" * 300_000
        for number in range(4):
            pool.put(0, number, ("echo", text))
        assert [pool.get(10)[1] for _ in range(4)] == list(range(4))


def test_blocks_are_used_again_and_memory_in_use_is_left_alone():
    with WorkerPool(1, Start(answer), name="test") as pool:
        kept = []
        for number in range(12):
            pool.put(0, number, ("echo", np.full(5000, number)))
            back = pool.get(10)[2]
            if number % 4 == 0:
                kept.append((number, back))
        assert all((array == number).all() for number, array in kept)
        assert len(pool._mailbox.mapped) <= len(kept) + 2


def test_batches_that_are_kept_take_no_descriptors():
    with WorkerPool(1, Start(answer), name="test") as pool:
        def count():
            return max(len(os.listdir(f"/proc/{pid}/fd")) for pid in ("self", pool.workers[0].process.pid))
        kept, before = [], count()
        for number in range(100):
            pool.put(0, number, ("echo", np.full(10, number)))
            kept.append(pool.get(10)[2])
        assert count() <= before + 3
        assert all((array == number).all() for number, array in enumerate(kept))


def test_iterator_stacks_transformed_samples_in_order():
    reader = Reader(list(range(10)))
    double = Transformer(lambda number: {"x": np.full(3, number), "y": number}, lambda sample: sample)
    for workers in (0, 2):
        iterator = Iterator(reader, double, batch_size=4, workers=workers)
        for _ in range(2):
            batches = list(iterator)
            assert [batch["y"].tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
            assert batches[1]["x"].tolist() == [[4] * 3, [5] * 3, [6] * 3, [7] * 3]
        iterator.close()
    iterator = Iterator(reader, double, batch_size=3, workers=2, in_order=False, drop_last=True)
    assert sorted(number for batch in iterator for number in batch["y"].tolist()) == list(range(9))
    iterator.close()


PROGRAM = """
import sys
from dragon.io import WorkerPool
from io_workers import Start, answer
pool = WorkerPool(2, Start(answer))
print(*[worker.process.pid for worker in pool.workers], flush=True)
if sys.argv[1] == "hang":
    pool.get()
"""


@pytest.mark.parametrize("how", ["end", "hang"])
def test_workers_end_with_their_parent(how, tmp_path):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    # Elsewhere than in the checkout, so that what was installed is what runs.
    parent = subprocess.Popen([sys.executable, "-c", PROGRAM, how], env=environment, cwd=tmp_path,
                              stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    if how == "hang":
        parent.kill()
    parent.wait()
    parent.stdout.close()
    assert wait_for(lambda: all(map(is_gone, pids)))
