"""Processes of one program on this machine: started together, watched, started anew, and ended together."""
import ctypes
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

from dragon.distributed.errors import DistributedError

POLL_SECONDS = 0.05
PATIENCE_SECONDS = 10.0  # for a process to end when asked to
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class RankFailed(DistributedError):
    """A process ended badly, and all others were ended.

    Parameters
    ----------
    failures : List[Failure]
        Those that ended badly by themselves, the first one first.

    """

    def __init__(self, failures):
        self.failures = failures
        first = failures[0]
        others = f" (after it {', '.join(str(one.rank) for one in failures[1:])})" if failures[1:] else ""
        super().__init__(f"{first.who} {first.how}{others}, expected it to end well; all others were ended")


@dataclass
class Failure:
    """How a process ended badly."""

    rank: int
    local_rank: int
    process: int
    code: int
    when: float = field(default_factory=time.time)
    is_final = False  # whether starting anew would not help

    @property
    def who(self):
        """The process, in words."""
        return f"rank {self.rank} (process {self.process})"

    @property
    def how(self):
        """What became of it, in words."""
        if self.code < 0:
            return f"was killed by signal {-self.code} ({signal.Signals(-self.code).name})"
        return f"ended with exit code {self.code}"


def die_with(parent):
    """Run in a new process: end it when its parent ends, however that does."""
    ctypes.CDLL(None, use_errno=True).prctl(DIES_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class Launcher:
    """The processes of one machine.

    Parameters
    ----------
    command : Sequence[str]
        The program and its arguments.
    count : int
        How many processes run here.
    first_rank : int, optional, default=0
        The rank of the first of them.
    world_size : int, optional
        How many there are on all machines; as many as here by default.
    environment : Dict[str, str], optional
        What each process finds in its environment besides its rank.
    restarts : int, optional, default=0
        How often all are started anew after one has ended badly.
    output : Callable[[int, int], Tuple], optional
        Gives the files of a process's output and errors, by its local rank and the number of restarts so far.

    """

    restart_name = "RESTART_COUNT"  # where a process finds how often all have been started anew

    def __init__(self, command, count, first_rank=0, world_size=None, environment=None, restarts=0, output=None):
        if count < 1:
            raise ValueError(f"Launcher: got {count} processes, expected one or more")
        self.command, self.count, self.first_rank = list(command), count, first_rank
        self.world_size = count if world_size is None else world_size
        self.environment, self.restarts, self.output = dict(environment or {}), restarts, output
        self.restarted, self.processes = 0, []
        self.patience = PATIENCE_SECONDS
        self.signals = (signal.SIGTERM, signal.SIGHUP)  # that end all, and then the launcher; an interrupt does anyhow
        self.special = lambda local: {}  # what a process finds in its environment that others do not
        self.nodes = None  # the machines, where there are several: `dragon.distributed.nodes.Nodes`
        self.words_of = lambda place: {}  # what processes find in their environment of a place among machines

    def run(self):
        """Run until all have ended well; raise `RankFailed` when one has not, and nothing is left to be tried."""
        before = {which: signal.signal(which, self._on_signal) for which in self.signals} if _in_main_thread() else {}
        try:
            while True:
                self._start()
                failures = self._watch()
                if self.nodes is not None:
                    failures = self._agree(failures)
                self.end()
                if not failures:
                    return
                if self.restarted >= self.restarts or failures[0].is_final:
                    raise RankFailed(failures)
                self.restarted += 1
        finally:
            self.end()
            for which, handler in before.items():
                signal.signal(which, handler)

    @staticmethod
    def _on_signal(which, _):
        raise SystemExit(128 + which)

    def _agree(self, failures):
        """Tell the other machines of failures here, or wait for them; return the failures, or the one elsewhere."""
        if failures:
            self.nodes.tell(failures)
            return failures
        elsewhere = self.nodes.finish()
        return [elsewhere] if elsewhere else []

    def _start(self):
        if self.nodes is not None:
            place = self.nodes.gather(self.restarted)
            self.first_rank, self.world_size = place.first_rank, place.world_size
            self.environment.update(self.words_of(place))
        for local in range(self.count):
            environment = {**self.environment, "LOCAL_RANK": str(local), "RANK": str(self.first_rank + local),
                           "LOCAL_WORLD_SIZE": str(self.count), "WORLD_SIZE": str(self.world_size),
                           self.restart_name: str(self.restarted), **self.special(local)}
            outputs = self.output(local, self.restarted) if self.output else (None, None)
            self.processes.append(self._begin(local, environment, outputs))
            for output in filter(None, outputs):
                output.close()  # the process has it

    def _begin(self, local, environment, outputs):
        """Start a process, and return it."""
        me = os.getpid()
        return subprocess.Popen(self.command, env={**os.environ, **environment}, stdout=outputs[0], stderr=outputs[1],
                                preexec_fn=lambda: die_with(me))

    def _watch(self):
        """Wait until all have ended well, or one has not; return the failures."""
        while True:
            codes = [process.poll() for process in self.processes]
            failures = [Failure(self.first_rank + local, local, process.pid, code) for local, (process, code) in
                        enumerate(zip(self.processes, codes)) if code]
            if failures or all(code == 0 for code in codes):
                return failures
            elsewhere = self.nodes.look() if self.nodes is not None else None
            if elsewhere:
                return [elsewhere]
            time.sleep(POLL_SECONDS)

    def end(self):
        """End all that run: politely, then by force."""
        running = [process for process in self.processes if process.poll() is None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + self.patience
        for process in running:
            try:
                process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []


def _in_main_thread():
    return threading.current_thread() is threading.main_thread()
