"""What loaders of other packages take of PyTorch's private parts: each does what the genuine one does."""
import multiprocessing
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import unittest
from typing import Any, Callable

import pytest
import torch
import torch.utils.data.datapipes.iter  # noqa: F401 the oracle

from dragon.vm import torch as dt
from dragon.vm.torch.utils.data import _utils, dataloader, iterators
from dragon.vm.torch.utils.data._utils import pin_memory, signal_handling
from dragon.vm.torch.utils.data._utils.worker import ManagerWatchdog
from dragon.vm.torch.utils.data.datapipes import datapipe, iter as pipes
from harness.waiting import PATIENCE_SECONDS

BOTH = (dt, torch)


def leave(code, told=None):
    """End, where a pipe is given once something can be read from it."""
    if told is not None:
        os.read(told, 1)
    os._exit(code)


def wait_for_ever(code):
    time.sleep(10 * PATIENCE_SECONDS)


def end_of_worker(signals, work, code=0, kill=None):
    """Return how a worker's death is told, and its exit code."""
    process = multiprocessing.get_context("fork").Process(target=work, args=(code,))
    process.start()
    signals._set_worker_pids(1, (process.pid,))
    said = None
    try:
        if kill:
            os.kill(process.pid, kill)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        signals._error_if_any_worker_fails()
    except RuntimeError as error:
        said = str(error).replace(str(process.pid), "PID")
        signals._error_if_any_worker_fails()  # it is told once
    finally:
        process.join()
        signals._remove_worker_pids(1)
    return said, process.exitcode


@pytest.mark.parametrize("options", [
    dict(work=leave), dict(work=leave, code=3), dict(work=wait_for_ever, kill=signal.SIGKILL),
    dict(work=wait_for_ever, kill=signal.SIGBUS)])
def test_deaths_of_workers(options):
    told = [end_of_worker(library.utils.data._utils.signal_handling, **options) for library in BOTH]
    assert told[0] == told[1]


@pytest.mark.parametrize("calls", [
    [("_set_worker_pids", 1, [2])], [("_remove_worker_pids", 7)],
    [("_set_worker_pids", 5, (1,)), ("_set_worker_pids", 5, (1,))]])
def test_wrong_workers(calls):
    told = []
    for library in BOTH:
        signals = library.utils.data._utils.signal_handling
        with pytest.raises(Exception) as error:
            for name, *arguments in calls:
                getattr(signals, name)(*arguments)
        told.append((error.type, str(error.value)))
        if len(calls) > 1:
            signals._remove_worker_pids(5)
    assert told[0] == told[1]


def test_a_death_interrupts_whoever_waits(monkeypatch):
    before = signal.getsignal(signal.SIGCHLD)
    heard = []
    monkeypatch.setattr(signal_handling, "_handler_set", False)
    signal.signal(signal.SIGCHLD, lambda number, frame: heard.append(number))
    read, write = os.pipe()
    process = multiprocessing.get_context("fork").Process(target=leave, args=(3, read))
    try:
        signal_handling._set_SIGCHLD_handler()
        process.start()
        signal_handling._set_worker_pids(1, (process.pid,))
        with pytest.raises(RuntimeError, match="exited unexpectedly with exit code 3"):
            threading.Timer(0.1, os.write, (write, b"x")).start()
            time.sleep(PATIENCE_SECONDS)
        process.join()
        well = multiprocessing.get_context("fork").Process(target=leave, args=(0,))
        well.start()
        well.join()
        assert heard == [signal.SIGCHLD]  # the handler that was there before is asked where nothing is wrong
    finally:
        signal.signal(signal.SIGCHLD, before)
        signal_handling._remove_worker_pids(1)
        os.close(read)
        os.close(write)


def test_a_thread_sets_no_handler(monkeypatch):
    monkeypatch.setattr(signal_handling, "_handler_set", False)
    before = signal.getsignal(signal.SIGCHLD)
    thread = threading.Thread(target=signal_handling._set_SIGCHLD_handler)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGCHLD) is before and not signal_handling._handler_set


CRASH = """
import os, signal
from dragon.vm.torch.utils.data._utils import signal_handling
def work():
    signal_handling._set_worker_signal_handlers()
    os.kill(os.getpid(), signal.SIGSEGV)
work()
"""


def test_a_worker_that_crashes_says_where(tmp_path):
    ended = subprocess.run([sys.executable, "-c", CRASH], cwd=tmp_path, capture_output=True, text=True,
                           timeout=PATIENCE_SECONDS)
    assert ended.returncode == -signal.SIGSEGV and "in work" in ended.stderr


def test_python_is_not_ending():
    assert _utils.python_exit_status is False
    try:
        _utils._set_python_exit_flag()
        assert _utils.python_exit_status is True
    finally:
        _utils.python_exit_status = False


def test_an_orphan_knows(monkeypatch):
    watchdog = ManagerWatchdog()
    assert watchdog.is_alive()
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert not watchdog.is_alive()
    monkeypatch.undo()
    assert not watchdog.is_alive()  # who is dead stays dead


class Pinned:
    """A batch that knows that it was pinned."""

    def __init__(self, trouble=False):
        self.pinned, self.trouble = False, trouble

    def pin_memory(self):
        if self.trouble:
            raise ValueError("no pages left")
        self.pinned = True
        return self


def test_batches_are_pinned_in_a_thread(monkeypatch):
    monkeypatch.setattr(dt.accelerator, "set_device_index", lambda index: None)
    given, taken, done = queue.Queue(), queue.Queue(), threading.Event()
    error = dt._utils.ExceptionWrapper((ValueError, ValueError("in a worker"), None))
    for pair in enumerate((Pinned(), [Pinned(), "text"], error, Pinned(trouble=True))):
        given.put(pair)
    thread = threading.Thread(target=pin_memory._pin_memory_loop, args=(given, taken, 0, done, "cuda"), daemon=True)
    thread.start()
    batches = [taken.get(timeout=PATIENCE_SECONDS) for _ in range(4)]
    done.set()
    given.put((None, None))
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive() and [number for number, _ in batches] == [0, 1, 2, 3]
    assert batches[0][1].pinned and batches[1][1][0].pinned and batches[2][1] is error
    with pytest.raises(ValueError, match="in pin memory thread for device 0.*\n(.*\n)*.*no pages left"):
        batches[3][1].reraise()


def test_pipes_are_sent():
    wrapped = datapipe._IterDataPipeSerializationWrapper(pipes.IterableWrapper(range(3)))
    assert len(wrapped) == 3 and list(pickle.loads(pickle.dumps(wrapped))) == [0, 1, 2]
    with pytest.raises(AssertionError, match="call __iter__"):
        next(datapipe._IterDataPipeSerializationWrapper(pipes.IterableWrapper(range(3))))
    with pytest.raises(TypeError, match="_IterDataPipeSerializationWrapper instance doesn't have valid length"):
        len(datapipe._IterDataPipeSerializationWrapper(pipes.IterableWrapper(iter([1]))))
    assert datapipe._MapDataPipeSerializationWrapper({"a": 1})["a"] == 1
    with pytest.raises(Exception, match="lambda|local object|pickle"):
        pickle.dumps(datapipe._MapDataPipeSerializationWrapper({"a": threading.Lock()}))


@pytest.mark.parametrize("options", [dict(num_workers=0), dict(num_workers=2),
                                     dict(num_workers=2, persistent_workers=True)])
def test_pipes_draw_as_in_pytorch(options):
    drawn = []
    for library in BOTH:
        library.manual_seed(0)
        parts = library.utils.data.datapipes.iter.IterableWrapper(range(20)).shuffle().sharding_filter()
        loader = library.utils.data.DataLoader(parts, batch_size=3, shuffle=True, **options)
        drawn.append([[batch.tolist() for batch in loader] for _ in range(3)])
    assert drawn[0] == drawn[1] and len({str(epoch) for epoch in drawn[0]}) == 3


def test_iterators_have_the_fields_that_others_read():
    loader = dt.utils.data.DataLoader(range(3))
    iterator = dataloader._BaseDataLoaderIter(loader)
    assert (iterator._world_size, iterator._rank, iterator._shared_seed) == (1, 0, None)
    assert (iterator._pin_memory, iterator._pin_memory_device) == (False, None)
    assert iterators._get_distributed_settings() == (1, 0)
    assert dataloader._collate_fn_t[int] == Callable[[list[int]], Any]
    assert dataloader._worker_init_fn_t == Callable[[int], None]


def test_tests_are_loaded():
    class Some(unittest.TestCase):
        def test_one(self):
            pass
    from dragon.vm.torch.testing._internal.common_utils import load_tests
    some = unittest.defaultTestLoader.loadTestsFromTestCase(Some)
    assert load_tests(None, [unittest.TestSuite(), some], None).countTestCases() == 1


def test_vitals_are_no_more():
    with pytest.warns(UserWarning, match="'set_vital' is deprecated, please do not call"):
        assert dt.set_vital("Dataloader", "enabled", "True") is None
