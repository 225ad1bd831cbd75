"""`torchrun`: ranks by the environment, restarts, ends that take all others along, and no orphans."""
import os
import signal
import subprocess
import sys

import pytest
from harness.waiting import is_gone, wait_for

PROGRAM = """
import os, signal, sys, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(2) * dist.get_rank()
dist.all_reduce(x)
attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
said = dist.get_rank(), x.tolist(), os.environ["LOCAL_RANK"], os.environ["WORLD_SIZE"], attempt, sys.argv[1:]
sys.stdout.write(" ".join(map(str, said)) + "\\n")  # in one piece, beside what the others say
if sys.argv[1:] == ["die"] and dist.get_rank() == 1 and attempt == "0":
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1:] == ["wait"]:
    sys.stdout.write(f"pid {os.getpid()}\\n")
    time.sleep(100)
dist.barrier()
"""


@pytest.fixture
def launch(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def begin(*words):
        command = [sys.executable, "-m", "dragon", "run", "-m", "torch.distributed.run", *words]
        return subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return begin


def test_ranks_are_told_by_the_environment(launch):
    process = launch("--standalone", "--nproc_per_node=2", "program.py", "--epochs", "3")
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert sorted(output.splitlines()) == [f"{rank} [1.0, 1.0] {rank} 2 0 ['--epochs', '3']" for rank in (0, 1)]


def test_a_process_that_dies_takes_all_along_and_is_named(launch):
    process = launch("--standalone", "--nproc-per-node", "2", "program.py", "die")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1 and "rank 1 (process" in errors and "SIGKILL" in errors


def test_all_are_started_anew(launch):
    process = launch("--standalone", "--nproc-per-node", "2", "--max-restarts", "1", "program.py", "die")
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert sorted(line.split()[5] for line in output.splitlines()) == ["0", "0", "1", "1"]


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_launcher_leaves_no_orphans(launch, which):
    # A shell without job control has its children ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = launch("--standalone", "--nproc-per-node", "2", "program.py", "wait")
    finally:
        signal.signal(signal.SIGINT, before)
    pids = []
    while len(pids) < 2:
        words = process.stdout.readline().split()
        assert words, process.stderr.read()
        pids += [int(words[1])] if words[0] == "pid" else []
    os.kill(process.pid, which)
    assert wait_for(lambda: all(map(is_gone, pids)))
    process.communicate(timeout=60)


@pytest.mark.parametrize("words, said", [(("--nnodes=2:1",), "nnodes=2:1"), (("--nproc-per-node=0",), "0 processes"),
                                         (("--nproc-per-node=x",), "nproc_per_node value: x")])
def test_mistakes_are_told(launch, words, said):
    process = launch(*words, "program.py")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2 and said in errors


def test_outputs_go_to_files(launch, tmp_path):
    process = launch("--standalone", "--nproc-per-node", "2", "--log-dir", "logs", "-r", "3", "--rdzv-id", "mine",
                     "program.py")
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert not output
    for rank in (0, 1):
        text = (tmp_path / f"logs/mine/attempt_0/{rank}/stdout.log").read_text()
        assert text == f"{rank} [1.0, 1.0] {rank} 2 0 []\n"
