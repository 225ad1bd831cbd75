"""What happens to workers, parents and machines: errors that name it, nothing left behind, no end of time."""
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from dragon.io import Iterator, Reader, WorkerDied
from fuzz.io_kills import play, shared_files
from harness.waiting import is_gone, wait_for
from io_workers import Dies, lingering, twice

SOON_SECONDS = 20  # 2 on a machine that has nothing else to do


def run(program, folder):
    """Run a program elsewhere than in the checkout, so that what was installed is what runs."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path))
    return subprocess.run([sys.executable, "-c", program], env=environment, cwd=folder, capture_output=True, text=True,
                          timeout=120)


def start(program, folder):
    """Begin a program; return its process once it has printed a line, and the numbers in that."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path))
    process = subprocess.Popen([sys.executable, "-c", program], env=environment, cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    return process, [int(word) for word in process.stdout.readline().split()]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_killed_worker_is_named_with_its_task(method, tmp_path):
    context = multiprocessing.get_context(method)
    begin = time.monotonic()
    with Iterator(Reader(range(40)), Dies(13, tmp_path / "died"), 4, workers=2, context=context) as iterator:
        with pytest.raises(WorkerDied, match=r"Iterator worker \(pid \d+\) is killed by signal: Killed \(SIGKILL\)\. "
                                             r"Its task was \(0, \[12, 13, 14, 15\]\)"):
            list(iterator)
    assert time.monotonic() - begin < SOON_SECONDS


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("in_order", [True, False])
def test_a_killed_worker_is_replaced_and_nothing_is_lost_or_doubled(method, in_order, tmp_path):
    options = {"workers": 2, "context": multiprocessing.get_context(method), "in_order": in_order, "restarts": 1}
    with Iterator(Reader(range(40), True), Dies(13, tmp_path / "died"), 4, **options) as iterator:
        seen = np.concatenate(list(iterator)).tolist()
        assert (seen if in_order else sorted(seen)) == (list(Reader(range(40), True)) if in_order else list(range(40)))
        assert iterator.report().restarted == 1 and "replaced 1 workers that died" in str(iterator.report())
        assert len(np.concatenate(list(iterator))) == 40 and iterator.report().restarted == 0


def test_a_sample_that_kills_every_worker_is_named(tmp_path):
    with Iterator(Reader(range(40)), Dies(13), 4, workers=2, restarts=100) as iterator:
        with pytest.raises(WorkerDied, match=r"Its task was \(0, \[12, 13, 14, 15\]\)"):
            list(iterator)
    with Iterator(Reader(range(40)), twice, 4, workers=2) as iterator:
        assert len(list(iterator)) == 10  # others are not concerned


def test_a_worker_whose_child_lives_on_is_noticed(tmp_path):
    # The child holds the worker's end of the pipe, so that the pipe does not end with the worker.
    begin = time.monotonic()
    with Iterator(Reader([str(tmp_path / "child")]), lingering, workers=1) as iterator:
        with pytest.raises(WorkerDied, match="SIGKILL"):
            list(iterator)
    assert time.monotonic() - begin < SOON_SECONDS
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


def test_random_kills():
    before = shared_files()
    draw = random.Random(0)
    assert [trouble for trouble in (play(draw) for _ in range(8)) if trouble] == []
    assert shared_files() <= before


ENDLESS = """
import os, signal, time
from dragon.io import Iterator, Reader, pool
pool.PATIENCE_SECONDS = 200
signal.signal(signal.SIGINT, signal.default_int_handler)  # which who runs this may have had ignored

def forever(number):
    while number:
        time.sleep(0.01)
    return number
iterator = Iterator(Reader([0, 0, 1, 1, 1, 1]), forever, workers=2)
for batch in iterator:
    print(*[worker.process.pid for worker in iterator._pool.workers], flush=True)
"""


def test_busy_workers_end_with_their_parent(tmp_path):
    parent, pids = start(ENDLESS, tmp_path)
    parent.kill()
    parent.communicate()
    assert len(pids) == 2 and wait_for(lambda: all(map(is_gone, pids)))


def test_an_interrupt_ends_at_once(tmp_path):
    parent, pids = start(ENDLESS, tmp_path)
    time.sleep(0.5)  # until it waits for a worker
    begin = time.monotonic()
    os.kill(parent.pid, signal.SIGINT)  # not its group: the workers hear nothing of it
    _, error = parent.communicate(timeout=60)
    assert "KeyboardInterrupt" in error and time.monotonic() - begin < SOON_SECONDS
    assert wait_for(lambda: all(map(is_gone, pids)))


SHORT_OF_MEMORY = """
import resource
import numpy as np
from dragon.io import Iterator, Reader

def limit(number):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))  # of files, which shared memory is
    return np.zeros(1 << 20)
with Iterator(Reader(range(4)), limit, workers=1) as iterator:
    try:
        list(iterator)
    except MemoryError as error:
        print(error)
"""


def test_shared_memory_that_is_full_is_told(tmp_path):
    done = run(SHORT_OF_MEMORY, tmp_path)
    assert "bytes of shared memory, expected room for a batch; smaller batches" in done.stdout, done.stderr


MANY_FILES = """
import os, resource
from dragon.io import Iterator, Reader
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
files = [open(os.devnull) for _ in range(min(1500, min(hard, 4096) - 100))]
with Iterator(Reader(range(40)), None, 4, workers=2) as iterator:
    print(sum(batch.sum() for _ in range(3) for batch in iterator), len(files))
"""


def test_a_thousand_open_files_are_no_trouble(tmp_path):
    done = run(MANY_FILES, tmp_path)
    total, files = done.stdout.split()
    assert total == str(3 * sum(range(40))) and int(files) >= 500, done.stderr


THREADED_PARENT = """
import threading, time
from dragon.io import Iterator, Reader
stop = threading.Event()

def work():
    while not stop.is_set():
        sum(bytearray(1000))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for _ in range(3):
    with Iterator(Reader(range(40)), lambda number: number + 1, 4, workers=2) as iterator:
        print(sum(batch.sum() for batch in iterator))
stop.set()
"""


def test_a_parent_with_threads_forks(tmp_path):
    done = run(THREADED_PARENT, tmp_path)
    assert done.stdout.split() == [str(sum(range(41)))] * 3, done.stderr


def test_an_iterator_in_a_thread_of_its_own():
    found = []

    def work():
        with Iterator(Reader(range(40)), twice, 4, workers=2) as iterator:
            found.extend(np.concatenate(list(iterator)).tolist())
    import threading
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert found == list(range(0, 80, 2))


def test_memory_stays_as_it_was_over_epochs():
    def held():
        with open("/proc/self/statm") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with Iterator(Reader(range(64), True), wide, 8, workers=2) as iterator:
        for _ in range(10):
            for batch in iterator:
                batch.sum()
        before, descriptors = held(), len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            for batch in iterator:
                batch.sum()
        block = 8 * WIDTH * 8
        assert held() - before < 4 * block and len(os.listdir("/proc/self/fd")) <= descriptors + 4
        assert len(iterator._pool._mailbox.mapped) <= 16


WIDTH = 50000


def wide(number):
    return np.full(WIDTH, number)


def test_who_is_closed_begins_anew():
    iterator = Iterator(Reader(range(8)), twice, 2, workers=2)
    half = iter(iterator)
    next(half)
    iterator.close()
    with pytest.raises(RuntimeError, match="got a question to workers that have been ended, expected none"):
        list(half)
    assert len(list(iterator)) == 4
    iterator.close()
