"""How far long work is: a line on the terminal with what is done, how fast, and how long it will take yet.

`tqdm` draws it where it is installed; else a plain line does. Nothing is shown where nobody looks: standard error is no
terminal, TERM is "dumb", or DRAGON_PROGRESS is 0; DRAGON_PROGRESS=1 shows it all the same. There are no colours in it,
so NO_COLOR has nothing to take away.
"""
import os
import shutil
import sys
import time

from dragon.core.units import count_bytes

_DELAY = 0.5  # seconds: shorter work needs no line
_INTERVAL = 0.1  # seconds between two pictures of a terminal
_LOG_INTERVAL = 10.0  # seconds between two lines of a log


def is_shown():
    """Return whether somebody looks."""
    asked = os.environ.get("DRAGON_PROGRESS", "")
    if asked:
        return asked != "0"
    return _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"


def _is_terminal(stream):
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError, OSError):  # closed, or something of the user's
        return False


def _amount(number, unit):
    """Return a number of things as text; of bytes in a unit that suits it."""
    if unit != "B":
        return f"{number:,.0f} {unit}" if number >= 10 or number == int(number) else f"{number:.2f} {unit}"
    return count_bytes(number, digits=1)


def _clock(seconds):
    """Return seconds as 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def length_of(answer):
    """Return how many bytes an answer of the network has, or None where it does not say."""
    length = answer.headers.get("Content-Length", "") if getattr(answer, "headers", None) is not None else ""
    return int(length) if str(length).isdigit() and int(length) else None


class _Line:
    """The plain line, for machines without tqdm."""

    def __init__(self, what, total, unit):
        self._what, self._total, self._unit = what, total, unit
        self._stream = sys.stderr
        self._moves = _is_terminal(self._stream) and os.environ.get("TERM") != "dumb"
        self._begin = time.monotonic()
        self._next = self._begin + _DELAY
        self._done, self._width = 0, 0

    def update(self, count):
        self._done += count
        now = time.monotonic()
        if now >= self._next:
            self._next = now + (_INTERVAL if self._moves else _LOG_INTERVAL)
            self._draw(now)

    def close(self):
        now = time.monotonic()
        if now - self._begin >= _DELAY:
            self._draw(now, last=True)

    def text(self, now):
        """Return the line."""
        passed = max(now - self._begin, 1e-9)
        speed = self._done / passed
        parts = [f"{self._what}:" if self._what else "", _amount(self._done, self._unit)]
        if self._total:
            parts.append(f"of {_amount(self._total, self._unit)} ({min(self._done / self._total, 1):.0%})")
        parts.append(f"{_clock(passed)}, {_amount(speed, self._unit)}/s")
        if self._total and 0 < self._done < self._total:
            parts.append(f"left {_clock((self._total - self._done) / speed)}")
        return " ".join(filter(None, parts))

    def _draw(self, now, last=False):
        line = self.text(now)
        if self._moves:
            line = line[:max(shutil.get_terminal_size().columns - 1, 10)]
            shown = "\r" + line.ljust(self._width) + ("\n" if last else "")
            self._width = len(line)
        else:
            shown = line + "\n"
        try:
            self._stream.write(shown)
            self._stream.flush()
        except (ValueError, OSError):  # nobody looks any more
            self._next = float("inf")


def _bar_of_tqdm(what, total, unit):
    """Return a bar of tqdm, or None where it is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    if not _is_terminal(sys.stderr):
        return None  # it would write a line for every picture into a log
    scale = {"unit_scale": True, "unit_divisor": 1024} if unit == "B" else {}
    return tqdm(desc=what or None, total=total, unit=unit if unit == "B" else f" {unit}", delay=_DELAY, leave=True,
                file=sys.stderr, dynamic_ncols=True, **scale)


class Progress:
    """Show how far work is, within a `with` block or around what is gone through.

    Parameters
    ----------
    items : Iterable, optional
        What is gone through; each counts one.
    total : int, optional
        How much there is to do; by default the length of the items, where they have one.
    what : str, optional
        What is done.
    unit : str, optional, default="items"
        What is counted; "B" for bytes.
    shown : bool, optional
        Whether to show it; by default, where somebody looks.

    Examples
    --------
    >>> for path in dragon.seeing.progress(paths, what="packing", unit="files"):
    ...     pack(path)

    """

    def __init__(self, items=None, total=None, what="", unit="items", shown=None):
        if total is None and hasattr(items, "__len__"):
            total = len(items)
        self._items = items
        shown = is_shown() if shown is None else shown and is_shown()
        self._line = (_bar_of_tqdm(what, total, unit) or _Line(what, total, unit)) if shown else None

    def update(self, count=1):
        """Say that so much more is done.

        Parameters
        ----------
        count : int, optional, default=1
            How much.

        """
        if self._line is not None:
            self._line.update(count)

    def close(self):
        """Leave the line as it is; further work is not shown."""
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        try:
            for item in self._items:
                yield item
                self.update()
        finally:
            self.close()
