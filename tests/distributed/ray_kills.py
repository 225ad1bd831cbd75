"""A training on a cluster of Ray's whose workers are killed: Ray starts them anew, and no loss changes.

`rank_kills.py` plays the rounds, where Ray is installed. One `Trainer.fit` bears them all: each kill is of one worker,
somewhere in a step or a checkpoint, and the next one comes when all have begun anew from the last checkpoint.
"""
import contextlib
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

from losses import find_difference, read_losses

LIMIT_SECONDS = 180  # of what never happens; Ray begins anew within seconds
LEAVING_SECONDS = 30  # for processes of a cluster whose program has ended
MARK = "DRAGON_RAY_KILLS"  # in the environment of all that belongs to a training
# Workers would stand behind all others of the machine, a token would be written into the user's home, and who runs this
# told to Ray's makers.
SETTINGS = {"RAY_worker_niceness": "0", "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_TRAIN_V2_ENABLED": "1", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "OMP_NUM_THREADS": "1"}
PROGRAM = """
import os, sys, tempfile
import ray
from dragon.ray import Trainer, WorldConfig
from ray.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
folder, size, steps, timeout = sys.argv[1], *map(int, sys.argv[2:])

def note(name, words):
    with open(os.path.join(folder, name), "a") as file:
        file.write(words + chr(10))

def train():
    from dragon import distributed
    from dragon.vm import torch
    world = distributed.world()
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    done, kept = 0, ray.train.get_checkpoint()
    if kept:
        with kept.as_directory() as place:
            state = torch.load(os.path.join(place, "state.pt"))
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["done"]
    world.barrier()
    note("ready", str(os.getpid()))
    is_last = False
    while not is_last:
        x = torch.randn(16, 8, generator=torch.Generator().manual_seed(1000 * done + world.rank))
        loss = (model(x) - x.sum(1, keepdim=True).sin()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        distributed.average([weight.grad for weight in model.parameters()], world)
        optimizer.step()
        total = distributed.all_reduce(loss.detach())
        done += 1
        if world.rank == 0:
            note("losses", f"{done} {total.item().hex()}")
        if done % 3 == 0:
            stop = torch.tensor(float(world.rank == 0 and os.path.exists(os.path.join(folder, "stop"))))
            is_last = done == steps or distributed.all_reduce(stop).item() > 0
            with tempfile.TemporaryDirectory() as place:
                if world.rank == 0:
                    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "done": done},
                               os.path.join(place, "state.pt"))
                ray.train.report({"done": done}, Checkpoint.from_directory(place) if world.rank == 0 else None)

ray.init("local", num_cpus=size, include_dashboard=False, log_to_driver=False)
Trainer(train, world_config=WorldConfig(timeout=timeout), scaling_config=ScalingConfig(num_workers=size),
        run_config=RunConfig(storage_path=os.path.join(folder, "storage"), name="run",
                             failure_config=FailureConfig(max_failures=-1),
                             checkpoint_config=CheckpointConfig(num_to_keep=2))).fit()
ray.shutdown()
"""


def is_there():
    """Return whether Ray is installed, with its part for training."""
    return all(importlib.util.find_spec(name) for name in ("ray", "pandas", "pyarrow"))


def belong_to(mark):
    """Return the numbers of the processes that have a mark in their environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path("/proc", name, "environ").read_bytes()
        except OSError:  # it has just ended, or is another user's
            continue
        if f"{MARK}={mark}".encode() in words and int(name) != os.getpid():
            found.append(int(name))
    return found


class RayTraining:
    """One training on a cluster of its own, whose workers are killed.

    Parameters
    ----------
    size : int
        How many workers there are.
    folder : pathlib.Path
        For checkpoints and losses.
    timeout : int
        Seconds that workers wait for each other.

    """

    def __init__(self, size, folder, timeout):
        self.size, self.folder, self.timeout = size, folder, timeout
        self.slowest, self.killed, self.moment, self.process = 0.0, 0, 0.0, None
        self.mark = uuid.uuid4().hex
        folder.mkdir(parents=True)

    slow = "slowest to begin anew"  # what is the slowest

    def close(self):
        """End whatever is still there."""
        for process in belong_to(self.mark):
            with contextlib.suppress(ProcessLookupError):  # its parent may have ended it
                os.kill(process, signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def start(self, steps=0):
        """Start the cluster and the training; 0 steps go on until a file "stop" is there."""
        (self.folder / "program.py").write_text(PROGRAM)
        root = pathlib.Path(__file__).resolve().parents[2]
        words = [str(self.folder), str(self.size), str(steps), str(self.timeout)]
        with open(self.folder / "said", "wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, str(self.folder / "program.py"), *words], cwd=self.folder, stdout=said, stderr=said,
                env={**os.environ, **SETTINGS, "PYTHONPATH": str(root), MARK: self.mark})

    def lines(self, name):
        """Return the whole lines of a file that workers write."""
        path = self.folder / name
        return path.read_text().split("\n")[:-1] if path.exists() else []

    def wait(self, condition, seconds=LIMIT_SECONDS):
        """Return whether a condition came true in time, while the training goes on."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline or self.process.poll() is not None:
                return bool(condition())
            time.sleep(0.005)
        return True

    def begin_anew(self):
        """Return whether all workers were there in time after the last kill."""
        if not self.wait(lambda: len(self.lines("ready")) == (self.killed + 1) * self.size):
            return False
        if self.killed:
            self.slowest = max(self.slowest, time.monotonic() - self.moment)
        return True

    def play(self, draw):
        """Kill one worker at a random moment; return what went wrong, or None."""
        if self.process is None:
            self.start()
        if not self.begin_anew():
            return f"did not begin {'anew ' * bool(self.killed)}in time: {self.tell()}"
        workers = [int(line) for line in self.lines("ready")[-self.size:]]
        steps, before = draw.randrange(1, 12), len(self.lines("losses"))
        if not self.wait(lambda: len(self.lines("losses")) >= before + steps):
            return f"made no {steps} steps in time: {self.tell()}"
        time.sleep(draw.random() * 0.1)
        os.kill(workers[draw.randrange(self.size)], signal.SIGKILL)
        self.moment, self.killed = time.monotonic(), self.killed + 1
        return None

    def tell(self):
        """Return the last words of the training."""
        return (self.folder / "said").read_text(errors="replace")[-2000:]

    def end(self):
        """Have the training end, and all that belongs to it; return what went wrong, or None."""
        told = None
        try:
            if self.process.wait(LIMIT_SECONDS):
                told = f"ended with {self.process.returncode}: {self.tell()}"
        except subprocess.TimeoutExpired:
            told = f"did not end in time: {self.tell()}"
        deadline = time.monotonic() + LEAVING_SECONDS
        while (left := belong_to(self.mark)) and time.monotonic() < deadline and not told:
            time.sleep(0.1)
        self.close()
        return told or (f"left the processes {left}" if left else None)

    def compare(self):
        """End, and train undisturbed as far as all rounds have come; return what differs, or None."""
        self.begin_anew()
        (self.folder / "stop").touch()
        told = self.end()
        if told:
            return told
        found = read_losses(self.folder)
        if not found:
            return "made no step"
        calm = RayTraining(self.size, self.folder / "calm", self.timeout)
        with contextlib.closing(calm):
            calm.start(max(found))
            told = calm.end()
        return f"the undisturbed training {told}" if told else find_difference(found, read_losses(calm.folder))
