"""Ranks that are killed while they train: the others say who and in what, nothing is left, and training goes on the same.

    python tests/distributed/rank_kills.py 100 [--seed 0] [--kind ddp]

Each round starts the processes from the last checkpoint and kills one of them somewhere in the middle of a step, or of a
checkpoint. In the end the losses of all rounds are those of a run that nobody disturbed, to the last bit.
"""
import argparse
import functools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness.ranks import find_port  # noqa: E402
from harness.waiting import is_gone  # noqa: E402

LIMIT_SECONDS = 60  # of what never happens
TIMEOUT_SECONDS = 20  # of collectives; a death is noticed at once
KINDS = ("ddp", "fsdp", "fully_shard")
COLLECTIVES = "all_reduce|all_gather|reduce_scatter|broadcast|barrier|gather|scatter|all_to_all|send|recv|message|store"
PROGRAM = """
import dragon.vm
dragon.vm.install()
import json, os, sys, warnings
warnings.simplefilter("ignore")
from datetime import timedelta
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.nn.parallel import DistributedDataParallel
kind, folder, rank, size, port, steps, limit = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size,
                        timeout=timedelta(seconds=limit))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
if kind == "ddp":
    model = DistributedDataParallel(model)
elif kind == "fsdp":
    model = FullyShardedDataParallel(model, use_orig_params=True)
else:
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer)
    fully_shard(model)
optimizer = torch.optim.Adam(model.parameters(), 0.01)
done, last = 0, os.path.join(folder, "last")

def train():
    global done
    if os.path.exists(last):
        kept = json.load(open(last))
        weights, state = get_state_dict(model, optimizer)
        dcp.load({"model": weights, "optimizer": state}, checkpoint_id=os.path.join(folder, kept["name"]))
        set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=state)
        done = kept["done"]
    dist.barrier()
    print("ready", flush=True)
    while steps == 0 or done < steps:
        generator = torch.Generator().manual_seed(1000 * done + rank)
        x = torch.randn(16, 8, generator=generator)
        loss = (model(x) - x.sum(1, keepdim=True).sin()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        done += 1
        if done % 3 == 0 or done == steps:
            weights, state = get_state_dict(model, optimizer)
            name = str(done // 3 % 2)  # beside the last one, which stays until this one is whole
            dcp.save({"model": weights, "optimizer": state}, checkpoint_id=os.path.join(folder, name))
            if rank == 0:
                with open(last + ".new", "w") as file:
                    json.dump({"name": name, "done": done}, file)
                os.replace(last + ".new", last)
            dist.barrier()
        if rank == 0:
            with open(os.path.join(folder, "losses"), "a") as file:
                file.write(f"{done} {total.item().hex()}\\n")
    dist.barrier()

try:
    train()
except RuntimeError as error:
    print("survivor", str(error).replace("\\n", " "), flush=True)
    os._exit(3)
"""


def shared_files():
    """Return the names of Dragon's in the folder of shared memory."""
    found = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in found if "dragon" in name}


def read_losses(folder):
    """Return {step: its losses, one for each time that it was made}."""
    found = {}
    path = folder / "losses"
    for line in path.read_text().splitlines() if path.exists() else ():
        words = line.split()
        if len(words) == 2 and words[1].startswith(("0x", "-0x")) and "p" in words[1]:
            found.setdefault(int(words[0]), []).append(words[1])
    return found


class Training:
    """One training, which is killed and begun anew.

    Parameters
    ----------
    kind : str
        How the model is shared out, one of `KINDS`.
    size : int
        How many processes there are.
    folder : pathlib.Path
        For checkpoints and losses.

    """

    def __init__(self, kind, size, folder):
        self.kind, self.size, self.folder, self.slowest = kind, size, folder, 0.0
        folder.mkdir(parents=True)
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM, encoding="utf-8")

    def start(self, steps=0):
        """Start all processes from the last checkpoint; 0 steps go on for ever."""
        port = find_port()
        environment = dict(os.environ, OMP_NUM_THREADS="1",
                           PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
        words = [str(self.size), str(port), str(steps), str(TIMEOUT_SECONDS)]
        return [subprocess.Popen([sys.executable, str(self.program), self.kind, str(self.folder), str(rank), *words],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                 cwd=self.folder) for rank in range(self.size)]

    def play(self, draw):
        """Kill one process at a random moment; return what went wrong, or None."""
        processes, before = self.start(), shared_files()
        try:
            for process in processes:
                if process.stdout.readline() != "ready\n":
                    return f"did not begin: {process.communicate(timeout=LIMIT_SECONDS)[1][-2000:]}"
            victim = draw.randrange(self.size)
            self._go_on(draw.randrange(12))
            time.sleep(draw.random() * 0.03)
            os.kill(processes[victim].pid, signal.SIGKILL)
            killed, told = time.monotonic(), []
            for rank, process in enumerate(processes):
                out, errors = process.communicate(timeout=LIMIT_SECONDS)
                if rank == victim:
                    continue
                self.slowest = max(self.slowest, time.monotonic() - killed)
                named = re.search(rf"\brank {victim}\b", out) and str(processes[victim].pid) in out
                if process.returncode != 3 or not named or not re.search(COLLECTIVES, out):
                    told.append(f"rank {rank} ended with {process.returncode} after rank {victim} (process "
                                f"{processes[victim].pid}) was killed: {out!r} {errors[-1500:]}")
            if not told and self.slowest > TIMEOUT_SECONDS:
                told.append(f"survivors ended {self.slowest:.1f} s after the death")
            if not told and not all(is_gone(process.pid) for process in processes):
                told.append("a process lives on")
            left = shared_files() - before
            return "; ".join(told) or (f"left in shared memory: {sorted(left)}" if left else None)
        except subprocess.TimeoutExpired:
            return f"no end {LIMIT_SECONDS} s after a death"
        finally:
            self._end(processes)

    def _go_on(self, steps):
        """Wait until some steps were made."""
        deadline, begun = time.monotonic() + LIMIT_SECONDS, self._lines()
        while self._lines() < begun + steps and time.monotonic() < deadline:
            time.sleep(0.002)

    def _lines(self):
        path = self.folder / "losses"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    @staticmethod
    def _end(processes):
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def compare(self):
        """Train undisturbed as far as all rounds have come; return what differs, or None."""
        found = read_losses(self.folder)
        calm = Training(self.kind, self.size, self.folder / "calm")
        steps = max(found, default=0)
        processes = calm.start(steps)
        try:
            for process in processes:
                _, errors = process.communicate(timeout=600)
                if process.returncode:
                    return f"the undisturbed training failed: {errors[-2000:]}"
        finally:
            self._end(processes)
        expected = read_losses(calm.folder)
        for step, losses in found.items():
            if set(losses) != set(expected[step]):
                return f"step {step}: got losses {losses}, expected {expected[step]}"
        return None if sorted(found) == list(range(1, steps + 1)) else f"steps are missing up to {steps}"


def play_rounds(kind, size, rounds, seed, folder, tell):
    """Play rounds of one kind, and tell of each that went wrong and of all together; return how many did."""
    training, wrong = Training(kind, size, pathlib.Path(folder) / f"{kind}-{size}"), 0
    for number in range(rounds):
        trouble = training.play(random.Random(f"{seed} {kind} {size} {number}"))
        if trouble:
            wrong += 1
            tell(f"{kind} in {size} processes, round {number}: {trouble}")
    trouble = training.compare()
    if trouble:
        wrong += 1
        tell(f"{kind} in {size} processes: {trouble}")
    found = read_losses(training.folder)
    tell(json.dumps({"kind": kind, "processes": size, "kills": rounds, "wrong": wrong, "steps": max(found, default=0),
                     "made again": sum(len(losses) - 1 for losses in found.values()),
                     "slowest survivor, seconds": round(training.slowest, 2)}))
    return wrong


def main():
    """Play rounds and print those that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rounds", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    options = parser.parse_args()
    kinds = [(kind, size) for kind in ([options.kind] if options.kind else KINDS) for size in (2, 3)]
    before, wrong, tell = shared_files(), 0, functools.partial(print, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for place, (kind, size) in enumerate(kinds):
            rounds = options.rounds // len(kinds) + (place < options.rounds % len(kinds))
            wrong += play_rounds(kind, size, rounds, options.seed, folder, tell) if rounds else 0
    left = shared_files() - before
    print(f"{options.rounds} kills, {wrong} went wrong, left in shared memory: {sorted(left) or 'nothing'}")
    return bool(wrong or left)


if __name__ == "__main__":
    sys.exit(main())
