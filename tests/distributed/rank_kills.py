"""Ranks that are killed while they train: all others say who and in what, nothing is left, and no loss changes.

    python tests/distributed/rank_kills.py 100 [--seed 0] [--kind ddp]

Each round starts the processes from the last checkpoint and kills one of them somewhere in a step or a checkpoint. In
the end the losses of all rounds are those of a run that nobody disturbed, to the last bit.
"""
import argparse
import contextlib
import functools
import json
import os
import pathlib
import random
import re
import signal
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ray_kills  # noqa: E402
from harness.ranks import find_port  # noqa: E402
from losses import find_difference, read_losses  # noqa: E402

LIMIT_SECONDS = 60  # of what never happens
TIMEOUT_SECONDS = 20  # of collectives; a death is noticed at once
KINDS = ("ddp", "fsdp", "fully_shard") + ("ray",) * ray_kills.is_there()
BEGIN = {"__name__": "program"}  # what the imports have given
COLLECTIVES = "all_reduce|all_gather|reduce_scatter|broadcast|barrier|gather|scatter|all_to_all|send|recv|message|store"
# What all processes begin with: they are forked from one that has imported it.
IMPORTS = """
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
"""
PROGRAM = """
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


class Rank:
    """A process that trains, forked from this one, which runs nothing itself.

    Parameters
    ----------
    words : Sequence[str]
        Those of the program.
    path : pathlib.Path
        Where what it says goes.

    """

    def __init__(self, words, path):
        self.path, self.status = path, None
        path.write_bytes(b"")
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(words)

    def _run(self, words):
        try:
            said = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            os.dup2(said, 1)
            os.dup2(said, 2)
            sys.argv = ["program", *words]
            exec(compile(PROGRAM, "program", "exec"), BEGIN)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    def read(self):
        """Return what it has said so far."""
        return self.path.read_text(errors="replace")

    def has_ended(self):
        """Return whether it has ended."""
        if self.status is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if found else None
        return self.status is not None

    def kill(self):
        """Kill it, if it has not ended, and see its end."""
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            self.wait(LIMIT_SECONDS)

    def wait(self, seconds, condition=None):
        """Return whether it ended, or a condition came true, in time."""
        deadline, condition = time.monotonic() + seconds, condition or self.has_ended
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True


def shared_files():
    """Return the names of Dragon's in the folder of shared memory."""
    found = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in found if "dragon" in name}


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

    slow = "slowest survivor"  # what is the slowest

    def close(self):
        """Each round has ended its processes."""

    def start(self, steps=0):
        """Start all processes from the last checkpoint; 0 steps go on for ever."""
        words = [str(self.size), str(find_port()), str(steps), str(TIMEOUT_SECONDS)]
        return [Rank([self.kind, str(self.folder), str(rank), *words], self.folder / f"said-{rank}")
                for rank in range(self.size)]

    def play(self, draw):
        """Kill one process at a random moment; return what went wrong, or None."""
        before, processes = shared_files(), self.start()
        try:
            for process in processes:
                process.wait(LIMIT_SECONDS, lambda: process.has_ended() or "ready" in process.read())
                if process.has_ended() or "ready" not in process.read():
                    return f"did not begin: {process.read()[-2000:]}"
            victim = draw.randrange(self.size)
            self._go_on(draw.randrange(12))
            time.sleep(draw.random() * 0.03)
            os.kill(processes[victim].pid, signal.SIGKILL)
            killed, told = time.monotonic(), []
            for rank, process in enumerate(processes):
                if not process.wait(LIMIT_SECONDS):
                    told.append(f"rank {rank} lives on {LIMIT_SECONDS} s after rank {victim} was killed")
                elif rank != victim:
                    self.slowest = max(self.slowest, time.monotonic() - killed)
                    told.extend(self._complain(rank, process, victim, processes[victim].pid))
            if not told and self.slowest > TIMEOUT_SECONDS:
                told.append(f"survivors ended {self.slowest:.1f} s after the death")
            left = shared_files() - before
            return "; ".join(told) or (f"left in shared memory: {sorted(left)}" if left else None)
        finally:
            for process in processes:
                process.kill()

    @staticmethod
    def _complain(rank, process, victim, pid):
        """Return what is wrong with the end of a process that has survived another one."""
        said = process.read()
        words = said[said.rfind("survivor"):]
        if process.status == 3 and re.search(rf"\brank {victim} \(process {pid}\)", words) and re.search(
                COLLECTIVES, words):
            return []
        return [f"rank {rank} ended with {process.status} after rank {victim} (process {pid}) was killed: "
                f"{said[-2000:]!r}"]

    def _go_on(self, steps):
        """Wait until some steps were made."""
        deadline, begun = time.monotonic() + LIMIT_SECONDS, self._lines()
        while self._lines() < begun + steps and time.monotonic() < deadline:
            time.sleep(0.002)

    def _lines(self):
        path = self.folder / "losses"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def compare(self):
        """Train undisturbed as far as all rounds have come; return what differs, or None."""
        found = read_losses(self.folder)
        steps = max(found, default=0)
        if not steps:  # all rounds ended in the first step
            return None
        calm = Training(self.kind, self.size, self.folder / "calm")
        processes = calm.start(steps)
        try:
            for process in processes:
                if not process.wait(600) or process.status:
                    return f"the undisturbed training failed: {process.read()[-2000:]}"
        finally:
            for process in processes:
                process.kill()
        return find_difference(found, read_losses(calm.folder))


def play_rounds(kind, size, rounds, seed, folder, tell):
    """Play rounds of one kind, and tell of each that went wrong and of all together; return how many did."""
    place, wrong = pathlib.Path(folder) / f"{kind}-{size}", 0
    with contextlib.closing(ray_kills.RayTraining(size, place, TIMEOUT_SECONDS) if kind == "ray" else
                            Training(kind, size, place)) as training:
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
                     f"{training.slow}, seconds": round(training.slowest, 2)}))
    return wrong


def main():
    """Play rounds and print those that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rounds", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    exec(compile(IMPORTS, "imports", "exec"), BEGIN)
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
