"""Steps of a program that runs for real: what each took, and what their calls took, noted in every other one."""
import statistics
import time

from dragon.command.planning.timeline import arrange
from dragon.command.planning.watcher import Enough
from dragon.core import config
from dragon.core.profile import start_profile, stop_profile
from dragon.vm.torch.optim import optimizer as optimizers


class Stopwatch:
    """Times of steps: those of the first optimizer, of which the first one warms up.

    Parameters
    ----------
    steps : int
        After how many steps, besides the first, the program ends.

    """

    def __init__(self, steps):
        self.limit, self.steps, self.step = steps, -1, None
        self.times, self.noted, self._first, self._noting = [], [], None, False
        self._began, self._worked = time.perf_counter(), time.process_time()

    def start(self):
        """Watch the program from now on."""
        optimizers.register_optimizer_step_post_hook(self._after_step)

    def _after_step(self, optimizer, args, kwargs):
        share = self._share(time.perf_counter())
        self._first = self._first or optimizer
        if optimizer is not self._first:
            return
        self.steps += 1
        if self._noting:
            self.noted.append((stop_profile(), share))
        elif self.steps:
            self.times.append(self._took * share)
        if self.steps >= self.limit and self.times and self.noted:
            raise Enough
        self._noting = self.steps % 2 == 1
        if self._noting:
            start_profile(True, None)
        self._began, self._worked = time.perf_counter(), time.process_time()

    def _share(self, now):
        """Return the share of a step's time in which the process had its processor: what others took does not count."""
        self._took = now - self._began
        worked = time.process_time() - self._worked
        return min(worked / self._took, 1.0) if self._took > 0 and config.get_num_threads() == 1 else 1.0

    def tell(self):
        """Return {"calls", "seconds", "peak"}; None before there is a step that was timed, and one that was noted."""
        if not (self.times and self.noted):
            return None
        calls = []
        for events, share in self.noted:
            calls += [[row["name"], 0, "", row["bytes"], row["shapes"], row["view"],
                       (row["end"] - row["start"]) * 1e-9 * share] for row in arrange(events)[0]]
        return {"calls": calls, "repeats": len(self.noted), "seconds": statistics.median(self.times),
                "times": self.times, "peak": config.memory_stats()["peak"]}
