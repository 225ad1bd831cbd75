"""A timer that finds out by itself how often to run."""
import math
import statistics
import timeit
from dataclasses import dataclass, field
from typing import Optional

from dragon.vm import torch

BLOCK_SECONDS, LARGEST_COUNT = 1e-3, 10 ** 7
UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


@dataclass(frozen=True)
class TaskSpec:
    """The task that was timed."""

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    label: Optional[str] = None
    sub_label: Optional[str] = None
    description: Optional[str] = None
    env: Optional[str] = None
    num_threads: int = 1

    title = property(lambda self: self.label or f"stmt: ({self.stmt})", doc="The label, or the statement.")


@dataclass
class Measurement:
    """Times of one statement: each of `number_per_run` runs together, in seconds."""

    number_per_run: int
    raw_times: list
    task_spec: TaskSpec
    metadata: dict = field(default_factory=dict)

    times = property(lambda self: [seconds / self.number_per_run for seconds in self.raw_times],
                     doc="The seconds per run.")
    mean = property(lambda self: statistics.fmean(self.times), doc="The mean of the seconds per run.")
    median = property(lambda self: statistics.median(self.times), doc="The median of the seconds per run.")

    @property
    def iqr(self):
        """How far the middle half of the times is spread, in seconds."""
        if len(self.raw_times) < 2:
            return 0.0
        quarters = statistics.quantiles(self.times, n=4, method="inclusive")
        return quarters[2] - quarters[0]

    num_threads = property(lambda self: self.task_spec.num_threads, doc="How many threads ran it.")
    title = property(lambda self: self.task_spec.title, doc="What was timed.")
    as_row_name = property(lambda self: self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]",
                           doc="What its row in a table is called.")

    @property
    def significant_figures(self):
        """How many figures of the median the spread allows."""
        count = len(self.raw_times)
        spread = self.iqr / 1.35 / math.sqrt(count) * 1.645 if count > 1 else 0.0  # nine in ten, were it normal
        if spread <= 0:
            return 5 if count > 1 else 2
        return max(min(math.floor(math.log10(self.median / (2 * spread))) + 1, 5), 1)

    @staticmethod
    def merge(measurements):
        """Return one measurement for each task, of all its times."""
        groups = {}
        for one in measurements:
            groups.setdefault(one.task_spec, []).extend(one.times)
        return [Measurement(1, times, task) for task, times in groups.items()]

    def __repr__(self):
        unit, scale = next((pair for pair in UNITS if self.median >= pair[1]), UNITS[-1])
        many = len(self.raw_times) > 1
        lines = [f"<{type(self).__module__}.{type(self).__name__}>",
                 self.title, f"  {'Median' if many else ''}{': ' if many else ''}{self.median / scale:.2f} {unit}"]
        if many:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit}")
        threads = self.num_threads
        lines.append(f"  {len(self.raw_times)} measurement{'s' * many}, {self.number_per_run} runs per measurement, "
                     f"{threads} thread{'s' * (threads > 1)}")
        return "\n".join(lines)


class Timer:
    """Time a statement.

    Parameters
    ----------
    stmt : str, optional, default="pass"
        What to time.
    setup : str, optional, default="pass"
        What to run before.
    global_setup : str, optional, default=""
        Only for C++, which is not timed here.
    timer : Callable, optional
        The clock.
    globals : dict, optional
        Names that the statement sees.
    label, sub_label, description, env : str, optional
        What to call it.
    num_threads : int, optional, default=1
        How many threads operators may use meanwhile.
    language : str, optional, default="python"
        The statement's language.

    """

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timeit.default_timer, globals=None,
                 label=None, sub_label=None, description=None, env=None, num_threads=1, language="python"):
        if str(language).lower() not in ("python", "py", "language.python"):
            raise NotImplementedError(f"Timer: got language={language!r}, expected 'python'")
        names = dict(globals or {})
        names.setdefault("torch", torch)
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _run(self, number):
        before = torch.get_num_threads()
        torch.set_num_threads(self._task_spec.num_threads)
        try:
            return self._timer.timeit(number)
        finally:
            torch.set_num_threads(before)

    def timeit(self, number=1_000_000):
        """Run the statement a number of times; return one measurement."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._task_spec)

    def _block(self):
        """Return how many runs take so long that the clock reads them well."""
        number = 1
        while self._run(number) < BLOCK_SECONDS and number < LARGEST_COUNT:
            number *= 10
        return number

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Run blocks of the statement for some seconds; return their measurements together."""
        number, times = self._block(), []
        while sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Run blocks of the statement until their times agree to a share of the median, or time is up."""
        number, times = self._block(), []
        while sum(times) < max_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
            found = Measurement(number, times, self._task_spec)
            if sum(times) >= min_run_time and len(times) >= 4 and found.iqr / found.median < threshold:
                break
        return Measurement(number, times, self._task_spec)
