"""Every operator, called with hundreds of hostile argument sets: only the promised errors may come, and no crash."""
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import dragon

WORKER = pathlib.Path(__file__).with_name("worker.py")
SEED = int(os.environ.get("DRAGON_FUZZ_SEED", "0"))
COUNT = int(os.environ.get("DRAGON_FUZZ_COUNT", "200"))
QUICK_COUNT = 20
CHUNK = 12
NAMES = sorted(dragon._C.op_names())
CHUNKS = [NAMES[start:start + CHUNK] for start in range(0, len(NAMES), CHUNK)]


def run_worker(names, count, status):
    """Return (findings, crash) of one worker; a crash is a sentence or None."""
    command = [sys.executable, str(WORKER), "--seed", str(SEED), "--count", str(count), "--status", str(status), *names]
    environment = dict(os.environ, DRAGON_ALLOCATOR="naive", OMP_NUM_THREADS="2")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280)
    findings = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0:
        return findings, None
    name, index = (status.read_text().split() + ["?", "?"])[:2]
    what = "did not return" if done.returncode == -signal.SIGALRM else f"ended with {done.returncode}"
    return findings, (f"{name}: {what}; again: python tests/fuzz/worker.py --seed {SEED} --only {index} {name}\n"
                      + done.stderr[-2000:])


def check(names, count, tmp_path):
    """Run a worker; after a crash, go on behind the operator that caused it."""
    troubles, left = [], list(names)
    while left:
        status = tmp_path / "status"
        findings, crash = run_worker(left, count, status)
        troubles += [f"{f['operator']}: {f['class']}: {f['message']!r} ({f['trouble']}) for {f['call']}"
                     for f in findings]
        if crash is None:
            break
        troubles.append(crash)
        name = crash.split(":")[0]
        if name not in left:
            break
        left = left[left.index(name) + 1:]
    if troubles:
        shown = "\n".join(troubles[:40])
        pytest.fail(f"{len(troubles)} hostile calls were not answered as they should be:\n{shown}", pytrace=False)


@pytest.mark.parametrize("names", CHUNKS, ids=[f"{chunk[0]} to {chunk[-1]}" for chunk in CHUNKS])
def test_few_hostile_calls(names, tmp_path):
    check(names, QUICK_COUNT, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("names", CHUNKS, ids=[f"{chunk[0]} to {chunk[-1]}" for chunk in CHUNKS])
def test_many_hostile_calls(names, tmp_path):
    check(names, COUNT, tmp_path)
