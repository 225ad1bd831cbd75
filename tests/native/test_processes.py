"""Threads that share tensors, children that inherit them, and memory that has an end."""
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import dragon
from dragon import _C

THREADS = 8


def run_threads(body):
    """Run body(index) in many threads at once; what one raises is raised here."""
    errors, start = [], threading.Barrier(THREADS)

    def guarded(index):
        try:
            start.wait()
            body(index)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_many_threads_compute():
    shared = dragon.arange(1000.0)
    wanted = (np.arange(1000.0, dtype="f4") * 2 + 1).sum()

    def body(index):
        for _ in range(200):
            assert np.isclose((shared * 2 + 1).sum().item(), wanted)
            assert (shared[index:index + 3] @ shared[index:index + 3]).item() >= 0
    run_threads(body)


def test_a_thread_may_free_before_it_allocates():
    # Blocks of the allocator and of the object lists, small and large.
    held = [dragon.ones((size,)) for size in (1, 100, 100_000, 3_000_000)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert not held and dragon.ones((4,)).sum().item() == 4


def test_many_threads_compute_large():
    shared = dragon.ones((300, 300))

    def body(index):
        for _ in range(10):
            assert (shared @ shared)[index, index].item() == 300
            assert (shared + index).sum().item() == 90000 * (1 + index)
    run_threads(body)


def test_many_threads_run_backward_into_one_leaf():
    x = dragon.zeros((100,), requires_grad=True)

    def body(index):
        for _ in range(50):
            (x * (index + 1)).sum().backward()
    run_threads(body)
    assert x.grad.tolist() == [50.0 * sum(range(1, THREADS + 1))] * 100


def test_many_threads_share_one_graph():
    x = dragon.ones((50,), requires_grad=True)
    y = (x.exp() * x).sum()

    def body(index):
        for _ in range(20):
            (g,) = dragon.grad(y, x, retain_graph=True)
            assert np.allclose(g.tolist(), 2 * np.e)
    run_threads(body)


def test_recording_is_switched_per_thread():
    x = dragon.ones((2,), requires_grad=True)

    def body(index):
        if index % 2:
            with dragon.no_grad():
                for _ in range(100):
                    assert not (x * 2).requires_grad
        else:
            for _ in range(100):
                assert (x * 2).requires_grad
    run_threads(body)


def test_generators_are_safe_to_share():
    def body(index):
        for _ in range(100):
            assert 0 <= dragon.random.rand((10,)).min().item()
    run_threads(body)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_computes_and_differentiates():
    program = """
import os, sys
import dragon
x = dragon.ones((500, 500), requires_grad=True)
(x @ x).sum().backward()          # the team of threads is awake now
child = os.fork()
if child == 0:
    x.grad = None
    y = (x @ x).tanh().sum() + x.sum()
    y.backward()
    os._exit(0 if x.grad.isfinite().all() and (x.detach() + 1).sum().item() == 500000 else 1)
_, status = os.waitpid(child, 0)
assert (x.detach() @ x.detach())[0, 0].item() == 500
sys.exit(os.waitstatus_to_exitcode(status))
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd="/")


def test_out_of_memory_is_an_error_and_passes():
    before = dragon.memory_stats()["limit"]
    dragon.set_memory_limit(64 << 20)
    try:
        with pytest.raises(MemoryError) as caught:
            dragon.zeros((1 << 30,))
        assert str(caught.value)
        assert dragon.ones((10,)).sum().item() == 10
    finally:
        dragon.set_memory_limit(before)


@pytest.mark.parametrize("shape", [(2**40, 2**40), (2**62, 8), (-1,), (2**63,)], ids=str)
def test_impossible_sizes(shape):
    with pytest.raises((ValueError, MemoryError, OverflowError, TypeError)) as caught:
        dragon.zeros(shape)
    assert "zeros" in str(caught.value)


def test_the_poisoning_allocator_runs_a_model():
    program = """
import dragon
model = dragon.nn.Sequential(dragon.nn.Linear(8, 16), dragon.nn.ReLU(), dragon.nn.Linear(16, 4))
optimizer = dragon.optimizers.Adam(model.parameters())
for _ in range(3):
    loss = (model(dragon.ones((5, 8))) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite().item()
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd="/",
                   env=dict(os.environ, DRAGON_ALLOCATOR="naive"))


ERRORS = {
    "InvalidValue": lambda: dragon.ops.cat([dragon.ones((2, 3)), dragon.ones((4, 3))], 1),
    "InvalidType": lambda: dragon.ops.matmul(dragon.ones((2, 2)), "two"),
    "InvalidIndex": lambda: dragon.ones((2, 3)).sum(4),
    "Unsupported": lambda: dragon.ops.logsumexp(dragon.ones((2,), dtype="complex64"), 0),
    "EngineError": lambda: dragon.ones((2,)).sum().backward(),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_cross_processes(name):
    with pytest.raises(Exception) as raised:
        ERRORS[name]()
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is type(raised.value) and str(again) == str(raised.value)


@pytest.mark.parametrize("name", [name for name, value in vars(_C).items()
                                  if isinstance(value, type) and issubclass(value, Exception)])
def test_errors_are_found_by_the_name_that_they_say(name):
    error = getattr(_C, name)
    assert f"{error.__module__}.{error.__name__}" == f"dragon.{name}" and getattr(dragon, name) is error


ALONE = """
import os, threading
import dragon
from dragon.core import config

def count_started():
    before = len(os.listdir("/proc/self/task"))
    assert (dragon.ones((3000, 1000)) * 2).sum().item() == 6e6
    print(len(os.listdir("/proc/self/task")) - before)

def compute():
    assert not config.work_alone(True)
    count_started()
    assert config.work_alone(False)
    count_started()

# No thread ends before the others have counted: its own would be on their way out meanwhile.
counted = [threading.Event(), threading.Event()]

def run(function, mine):
    function()
    mine.set()
    counted[1].wait()

for function, mine in zip((compute, count_started), counted):
    threading.Thread(target=run, args=(function, mine)).start()
    mine.wait(60)
"""


def test_a_thread_that_works_alone_starts_no_others(tmp_path):
    environment = {**os.environ, "DRAGON_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=120, env=environment,
                          cwd=tmp_path)
    assert done.stdout.split() == ["0", "2", "2"], done.stderr
