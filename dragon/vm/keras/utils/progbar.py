"""A progress bar in the terminal, as people know it from `fit`."""
import os
import sys
import time

from dragon.vm.keras.core.messages import print_msg

_BOLD, _GREEN, _WHITE, _END = "\x1b[1m", "\x1b[32m", "\x1b[37m", "\x1b[0m"


def _plain_length(text):
    for code in (_BOLD, _GREEN, _WHITE, _END):
        text = text.replace(code, "")
    return len(text)


class Progbar:
    """Show how far a loop is, how long it will take, and its latest numbers.

    Parameters
    ----------
    target : Optional[int]
        How many steps there are, None where nobody knows.
    width : int, optional, default=20
        The bar's length in characters.
    verbose : int, optional, default=1
        0: nothing; 1: a bar that moves; 2: one line at the end.
    interval : float, optional, default=0.05
        Seconds between two pictures.
    stateful_metrics : Iterable[str], optional
        Numbers that are shown as they are; others are averaged over the steps.
    stateless_metrics : Iterable[str], optional
        The other way round: these are averaged, others shown as they are.
    unit_name : str, optional, default="step"
        What the loop counts.

    """

    def __init__(self, target, width=20, verbose=1, interval=0.05, stateful_metrics=None, stateless_metrics=None,
                 unit_name="step"):
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError("Only one of `stateful_metrics` or `stateless_metrics` can be provided. Received: "
                             f"stateful_metrics={stateful_metrics}, stateless_metrics={stateless_metrics}")
        self.target, self.width, self.verbose = target, width, verbose
        self.interval, self.unit_name = interval, unit_name
        self.stateless_metrics = None if stateless_metrics is None else set(stateless_metrics)
        self.stateful_metrics = set(stateful_metrics or ()) if stateless_metrics is None else None
        self._dynamic_display = (getattr(sys.stdout, "isatty", bool)() or "ipykernel" in sys.modules
                                 or "posix" in sys.modules or "PYCHARM_HOSTED" in os.environ)
        self._seen_so_far = 0
        self._values = {}  # name -> (sum, steps)
        self._start = time.time()
        self._last_update = 0
        self._time_after_first_step = None
        self._prev_total_width = 0

    def is_due(self):
        """Return whether `update` would show something now."""
        return time.time() - self._last_update >= self.interval

    def update(self, current, values=None, finalize=None):
        """Show that a number of steps is done.

        Parameters
        ----------
        current : int
            How many.
        values : Iterable[Tuple[str, float]], optional
            The latest numbers.
        finalize : bool, optional
            Whether this is the last picture; by default, once the target is reached.

        """
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for name, value in values or ():
            self._note(name, value, current, finalize)
        self._seen_so_far = current
        now = time.time()
        duration = self._estimate_step_duration(current, now)
        if self.verbose == 1:
            if now - self._last_update < self.interval and not finalize:
                return
            self._draw(current, finalize, now, duration)
        elif self.verbose == 2 and finalize and self.target:
            line = f"{current:{len(str(self.target))}d}/{self.target} - {now - self._start:.0f}s"
            print_msg(line + f" - {self._format_time(duration)}{self._format_values()}\n", line_break=False)
        self._last_update = now

    def add(self, n, values=None):
        """Show that some more steps are done."""
        self.update(self._seen_so_far + n, values)

    def _note(self, name, value, current, finalize):
        averaged = name not in self.stateful_metrics if self.stateful_metrics is not None else (
            name in self.stateless_metrics)
        if not averaged or finalize:
            self._values[name] = (value, 1)
            return
        steps = max(current - self._seen_so_far, 1)
        total, count = self._values.get(name, (0.0, 0))
        self._values[name] = (total + value * steps, count + steps)

    def _draw(self, current, finalize, now, duration):
        known = bool(self.target)
        bar = self._bar(current) if known else f"{current:7d}/Unknown"
        left = self._format_left(duration * (self.target - current)) if known and not finalize else (
            f"{now - self._start:.0f}s")
        info = f" {_BOLD}{left}{_END} {self._format_time(duration)}{self._format_values()}"
        width = _plain_length(bar) + _plain_length(info)
        head = "\b" * self._prev_total_width + "\r" if self._dynamic_display else "\n"
        tail = " " * max(self._prev_total_width - width, 0) + ("\n" if finalize else "")
        print_msg(head + bar + info + tail, line_break=False)
        self._prev_total_width = width

    def _bar(self, current):
        done = int(self.width * current / self.target)
        return (f"{_BOLD}{current:{len(str(self.target))}d}/{self.target}{_END} "
                + (f"{_GREEN}{'━' * done}{_END}" if done > 0 else "") + f"{_WHITE}{'━' * (self.width - done)}{_END}")

    def _format_values(self):
        text = ""
        for name, (total, count) in self._values.items():
            if not isinstance(total, float):
                total = _mean(total)
            average = total / max(1, count)
            large = abs(average) > 1e-3 if self.verbose == 1 else average > 1e-3
            text += f" - {name}: {average:.4f}" if large else f" - {name}: {average:.4e}"
        return text

    @staticmethod
    def _format_left(seconds):
        if seconds > 3600:
            return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d}:{int(seconds % 60):02d}"
        if seconds > 60:
            return f"{int(seconds // 60)}:{int(seconds % 60):02d}"
        return f"{int(seconds)}s"

    def _format_time(self, seconds):
        if seconds >= 1 or seconds == 0:
            return f"{seconds:.0f}s/{self.unit_name}"
        if seconds >= 1e-3:
            return f"{seconds * 1e3:.0f}ms/{self.unit_name}"
        return f"{seconds * 1e6:.0f}us/{self.unit_name}"

    def _estimate_step_duration(self, current, now):
        """Return seconds for a step; the first one, which builds everything, does not count."""
        if not current:
            return 0
        if self._time_after_first_step is not None and current > 1:
            duration = (now - self._time_after_first_step) / (current - 1)
        else:
            duration = (now - self._start) / current
        if current == 1:
            self._time_after_first_step = now
        return duration


def _mean(value):
    import numpy
    return float(numpy.mean(value))
