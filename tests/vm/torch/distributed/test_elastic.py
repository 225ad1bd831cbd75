"""Processes that are started anew, the errors that they leave, and training that goes on from its last checkpoint."""
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

TRAINING = """
import os, sys, warnings
warnings.simplefilter("ignore")
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel
folder, steps = sys.argv[1], int(sys.argv[2])

@record
def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    state = {"model": model.module, "optimizer": optimizer, "losses": []}
    if os.path.exists(f"{folder}/.metadata"):
        # The first step makes the optimizer's state, which a checkpoint is then read into.
        model(torch.ones(1, 8)).sum().backward(); optimizer.step()
        dcp.load(state, checkpoint_id=folder)
    losses = state["losses"]
    with open(f"{folder}.pids", "a") as file:
        file.write(f"{os.getpid()}\\n")
    for step in range(len(losses), steps):
        generator = torch.Generator().manual_seed(1000 * step + dist.get_rank())
        x = torch.randn(16, 8, generator=generator)
        loss = (model(x) - x.prod(1, keepdim=True)).square().mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        total = loss.detach().clone(); dist.all_reduce(total)
        losses.append(total.item())
        dcp.save({**state, "losses": losses}, checkpoint_id=folder)
    if dist.get_rank() == 0:
        weights = [number for parameter in model.parameters() for number in parameter.flatten().tolist()]
        torch.save([losses, weights], f"{folder}.end")
    dist.barrier()
main()
"""


def start(folder, path, steps, restarts):
    command = [sys.executable, "-m", "dragon", "run", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
               "2", "--max-restarts", str(restarts), str(path), str(folder), str(steps)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def read_end(folder):
    from dragon.vm import torch
    return torch.load(f"{folder}.end")


def kill_now_and_then(process, folder, kills, generator):
    """Kill processes at random moments; return how often."""
    done, seen = 0, 0
    while process.poll() is None:
        time.sleep(0.01)
        pids = open(f"{folder}.pids").read().split() if os.path.exists(f"{folder}.pids") else []
        if done < kills and len(pids) >= seen + 2:
            time.sleep(generator.uniform(0.0, 0.3))
            try:
                os.kill(int(generator.choice(pids[-2:])), signal.SIGKILL)
            except ProcessLookupError:
                continue
            done, seen = done + 1, len(pids)
    return done


@pytest.mark.long("killed processes start anew, and import everything, three times")
@pytest.mark.parametrize("kills", [3])
def test_training_goes_on_from_the_last_checkpoint(tmp_path, kills):
    (tmp_path / "program.py").write_text(TRAINING)
    ends = []
    for name, often in (("calm", 0), ("wild", kills)):
        process = start(tmp_path / name, tmp_path / "program.py", 150, often)
        assert kill_now_and_then(process, tmp_path / name, often, random.Random(0)) == often
        assert process.wait(60) == 0, process.stderr.read()
        ends.append(read_end(tmp_path / name))
    assert ends[0] == ends[1] and len(ends[0][0]) == 150


ERRORS = """
import dragon.vm
dragon.vm.install()
import os, sys
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record
from torch.distributed.launcher.api import LaunchConfig, elastic_launch
import torch
import torch.distributed as dist

def work(number, what):
    dist.init_process_group("gloo")
    x = torch.ones(2) * (dist.get_rank() + number)
    dist.all_reduce(x)
    os.write(1, f"printed {dist.get_rank()}\\n".encode())  # in one piece, beside what the others say
    if what == "raise" and dist.get_rank() == 1:
        raise ValueError("a mistake of the function's")
    if what == "again" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        os._exit(3)
    dist.barrier()
    dist.destroy_process_group()
    return x.tolist(), os.environ["LOCAL_RANK"], os.environ["ROLE_RANK"]

if __name__ == "__main__":
    def launch(what, restarts=0, method="fork", **options):
        config = LaunchConfig(1, 1, 2, max_restarts=restarts, start_method=method, run_id="mine", **options)
        return elastic_launch(config, work)(5, what)
    print(launch(""))
    print(launch("again", 1, "spawn"))
    print(launch("", virtual_local_rank=True, shutdown_timeout=2, signals_to_handle="SIGTERM"))
    try:
        launch("raise")
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        print(type(error).__name__, failure.exitcode, failure.message["message"])
        text = str(error)
        assert "work FAILED" in text and "a mistake of the function's" in text and "exitcode  : 1" in text
        assert "def work" not in text and "in work" in text
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
    launch("", logs_specs=DefaultLogsSpecs(log_dir=sys.argv[1], redirects=Std.ALL))
    print(sorted(open(f"{sys.argv[1]}/mine/attempt_0/{rank}/stdout.log").read() for rank in range(2)))
    print(elastic_launch(LaunchConfig(1, 1, 2, max_restarts=0), "true")())
    for call in (lambda: LaunchConfig(1, 1, 1, shutdown_timeout=-1),
                 lambda: elastic_launch(LaunchConfig(2, 1, 1), "true")(), lambda: ChildFailedError("x", {}),
                 lambda: launch("", method="nothing"),
                 lambda: elastic_launch(LaunchConfig(1, 1, 2, max_restarts=0), "false")()):
        try:
            call(); print("no error")
        except Exception as error:
            print(type(error).__name__)
"""


def test_functions_in_several_processes(tmp_path):
    (tmp_path / "program.py").write_text(ERRORS)
    said = subprocess.run([sys.executable, str(tmp_path / "program.py"), str(tmp_path / "logs")], text=True,
                          capture_output=True, timeout=200, cwd=tmp_path)
    lines = [line for line in said.stdout.splitlines() if not line.startswith("printed")]
    assert said.returncode == 0, said.stderr
    both = "{0: ([11.0, 11.0], '0', '0'), 1: ([11.0, 11.0], '1', '1')}"
    virtual = both.replace("'1', '1'", "'0', '1'")
    assert lines == [both, both, virtual, "ChildFailedError 1 ValueError: a mistake of the function's",
                     "['printed 0\\n', 'printed 1\\n']", "{0: None, 1: None}", "ValueError", "ValueError",
                     "AssertionError", "ValueError", "ChildFailedError"]


def test_recorded_errors_are_pytorchs(tmp_path, monkeypatch):
    from torch.distributed.elastic.multiprocessing import errors as theirs

    from dragon.vm.torch.distributed.elastic.multiprocessing import errors as ours
    found = {}
    for side in (ours, theirs):
        path = tmp_path / f"{side.__name__}.json"
        monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))

        @side.record
        def fail():
            raise KeyError("missing")

        @side.record
        def leave(code):
            sys.exit(code)
        with pytest.raises(KeyError):
            fail()
        assert leave(0) is None
        with pytest.raises(SystemExit):
            leave(3)
        data = json.loads(path.read_text())
        assert "in fail" in data["message"]["extraInfo"]["py_callstack"]
        data["message"]["extraInfo"] = sorted(data["message"]["extraInfo"])
        failures = {0: side.ProcessFailure(0, 11, 1, str(path)), 1: side.ProcessFailure(1, 12, -9, "nowhere"),
                    2: side.ProcessFailure(2, 13, 4, "nowhere")}
        told = side.ChildFailedError("job", failures).format_msg().splitlines()
        root = told.index("Root Cause (first observed failure):")
        kept = [" ".join(line.split()) for line in told[:root + 2] + told[-1:] if "  time" not in line
                and "https" not in line]
        found[side] = data, kept, failures[1].message, failures[1].signal_name(), failures[2].signal_name()
    assert found[ours] == found[theirs]


def test_samples_that_are_left():
    from torch.distributed.elastic.utils.data import ElasticDistributedSampler as Theirs

    from dragon.vm.torch.distributed.elastic.utils.data import ElasticDistributedSampler as Ours
    for kind in (Ours, Theirs):
        with pytest.raises(ValueError, match="Start index 10"):
            kind(range(10), 2, 0, 10)
        samplers = [kind(list(range(11)), 3, rank, start_index=4) for rank in range(3)]
        taken = [list(sampler) for sampler in samplers]
        assert [len(sampler) for sampler in samplers] == [3] * 3 == list(map(len, taken))
        assert set().union(*taken) == set(range(4, 11))
