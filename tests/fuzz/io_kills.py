"""Workers and parents that are killed at random moments: nothing hangs, nothing is lost or doubled, nothing is left.

    python tests/fuzz/io_kills.py 200 [--seed 0]

Each round runs an epoch in a process of its own, or two, and kills a worker or that process somewhere in the middle.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness.waiting import is_gone  # noqa: E402

LIMIT_SECONDS = 60
EPOCH = """
import os, sys, time
import numpy as np
from dragon.io import Iterator, Reader, WorkerDied

def change(number):
    time.sleep(0.001)
    return np.full(2000, number)

with Iterator(Reader(range(200), True), change, 4, workers=3, restarts={restarts}, in_order={in_order}) as iterator:
    seen, told = [], False
    try:
        for batch in iterator:
            seen += batch[:, 0].tolist()
            if not told:
                print(*[worker.process.pid for worker in iterator._pool.workers], flush=True)
                told = True
    except WorkerDied as death:
        print("died", death.pid, len(seen) == len(set(seen)), flush=True)
    else:
        print("done", sorted(seen) == list(range(200)), flush=True)
"""


def shared_files():
    """Return the names in the folder of shared memory: nothing of ours may be there."""
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def play(draw):
    """Run one round; return what went wrong, or None."""
    whom = draw.choice(["worker", "worker", "parent"])
    restarts = draw.choice([0, 2]) if whom == "worker" else 0
    program = EPOCH.format(restarts=restarts, in_order=draw.choice([True, False]))
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=environment, cwd=tempfile.gettempdir())
    try:
        pids = [int(word) for word in parent.stdout.readline().split()]
        time.sleep(draw.random() * 0.08)
        victim = draw.choice(pids) if whom == "worker" else parent.pid
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            victim = None  # it was quicker
        killed = time.monotonic()
        out, error = parent.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        parent.kill()
        return f"{whom} with restarts={restarts}: no end after {LIMIT_SECONDS} s"
    while not all(map(is_gone, pids)):
        if time.monotonic() - killed > LIMIT_SECONDS:
            return f"{whom}: workers {[pid for pid in pids if not is_gone(pid)]} live on"
        time.sleep(0.01)
    if whom == "parent" or out == "done True\n":
        return None
    # The worker that was killed is the one that is named, and no sample has come twice.
    expected = f"died {victim} True\n"
    return None if not restarts and out == expected else f"{whom}, restarts={restarts}: got {out!r} {error[-2000:]}"


def main():
    """Play rounds and print those that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rounds", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    before, wrong = shared_files(), 0
    for number in range(options.rounds):
        trouble = play(random.Random(f"{options.seed} {number}"))
        if trouble:
            wrong += 1
            print(f"round {number}: {trouble}", flush=True)
    left = shared_files() - before
    print(f"{options.rounds} rounds, {wrong} went wrong, left in shared memory: {sorted(left) or 'nothing'}")
    return bool(wrong or left)


if __name__ == "__main__":
    sys.exit(main())
