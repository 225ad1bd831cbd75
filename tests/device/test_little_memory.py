"""Little memory left: LAPACK, oneDNN and OpenMP ask the system for some, and end the process where they get none."""
import os
import subprocess
import sys

import pytest

# The code runs in a thread, whose stack is mapped whole: that of a process grows, and ends it where it cannot.
HEAD = """
import gc, resource, sys, threading
from dragon.vm import torch
def leave(mebibytes):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (mebibytes << 20), resource.RLIM_INFINITY))
"""
LINALG = """
x = torch.rand(200, 200) + 20 * torch.eye(200)
calls = dict(inv=lambda: torch.linalg.inv(x), svd=lambda: torch.linalg.svd(x), eigh=lambda: torch.linalg.eigh(x),
             qr=lambda: torch.linalg.qr(x), eig=lambda: torch.linalg.eig(x), cholesky=lambda: torch.linalg.cholesky(x),
             lstsq=lambda: torch.linalg.lstsq(x, x), solve=lambda: torch.linalg.solve(x, x))
"""
TRY = """
outcomes = []
for name, call in calls.items():
    try:
        call()
        outcomes.append("fine")
    except MemoryError:
        outcomes.append("MemoryError")
print(sorted(set(outcomes)))
"""


def run(code, **environment):
    thread = f"thread = threading.Thread(target=exec, args=({code!r}, globals()))\nthread.start()\nthread.join()\n"
    done = subprocess.run([sys.executable, "-c", HEAD + thread], capture_output=True, text=True, timeout=120, cwd="/",
                          env={"OMP_NUM_THREADS": "1", **os.environ, **environment})
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("mebibytes", [0, 8, 60, 120])
def test_lapack_is_loaded_into_little_memory(mebibytes):
    assert "MemoryError" in run(f"{LINALG}\nleave({mebibytes})\n{TRY}")


def test_lapack_that_is_loaded_needs_no_more():
    assert "fine" in run(f"{LINALG}\ntorch.linalg.inv(x)\ncalls['svd']()\nleave(4)\n{TRY}")
    assert "fine" in run(f"{LINALG}\ntorch.linalg.inv(torch.eye(2))\nleave(24)\n{TRY}")


def test_lapack_from_several_threads():
    out = run(f"""{LINALG}
torch.linalg.inv(x)
right = torch.linalg.inv(x)
wrong = []
def work():
    for _ in range(20):
        try:
            if not torch.equal(torch.linalg.inv(x), right):
                wrong.append(1)
        except MemoryError:
            pass
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
leave(16)
for t in threads: t.join()
print("wrong:", len(wrong))
""", OMP_NUM_THREADS="2")
    assert out == "wrong: 0\n"


def test_a_batch_shared_among_threads():
    out = run("""
x = torch.rand(64, 60, 60) + 9 * torch.eye(60)
torch.linalg.inv(x[0])
leave(12)
for _ in range(3):
    try:
        torch.linalg.inv(x)
    except MemoryError:
        pass
print("whole")
""", OMP_NUM_THREADS="2")
    assert out == "whole\n"


def test_threads_that_cannot_start_are_done_without():
    assert run("""
x = torch.rand(3_000_000)
leave(30)
resource.setrlimit(resource.RLIMIT_AS, (int(open("/proc/self/statm").read().split()[0]) * 4096 + (30 << 20), -1))
print(torch.isfinite(x.add_(1).sum()).item())
""", OMP_NUM_THREADS="64") == "True\n"


@pytest.mark.parametrize("mebibytes", [0, 2, 20])
def test_convolutions_and_products_in_little_memory(mebibytes):
    out = run(f"""
x, w, a = torch.rand(2, 16, 40, 40), torch.rand(16, 16, 3, 3), torch.rand(300, 300)
calls = dict(conv=lambda: torch.nn.functional.conv2d(x, w), mm=lambda: a @ a, big=lambda: torch.rand(3000, 3000),
             lstm=torch.nn.LSTM(16, 16) and (lambda: torch.nn.LSTM(16, 16)(torch.rand(50, 8, 16))))
leave({mebibytes})
{TRY}""")
    assert out.startswith("[")


def test_a_limit_of_our_own():
    out = run(f"""
import dragon
{LINALG}
dragon.set_memory_limit(dragon.memory_stats()["reserved"])
dragon.empty_cache()
{TRY}""")
    assert "MemoryError" in out


def test_a_team_stays_whole_whatever_is_asked_of_it():
    """OpenMP ends the threads that a smaller region leaves out, and would start them anew at the next large one."""
    assert run("""
import os
small, large = torch.rand(70_000), torch.rand(4_000_000)
small.add(1), large.add(1)
before = set(os.listdir("/proc/self/task"))
for _ in range(10):
    small.add(1), large.add(1)
print(set(os.listdir("/proc/self/task")) == before, len(before) >= 4)
""", OMP_NUM_THREADS="4") == "True True\n"
