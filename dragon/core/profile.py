"""A profile of time: calls noted while they run, eagerly or in a plan, as a table per operator or a chrome trace."""
import collections
import json
import os
import threading
import typing

from dragon._C import start_profile, stop_profile
from dragon.core import files


class Event(typing.NamedTuple):
    """One call that was noted. Times are nanoseconds of the system's monotonic clock."""

    name: str
    start: int
    end: int
    is_node: bool = False  # a node of the backward pass; else an operator
    bytes: int = 0  # of the results
    shapes: tuple = ()  # of the inputs, if they were asked for
    scope: str = ""  # where in the program a plan's call came from


class Line(typing.NamedTuple):
    """A table's line about one operator. Times are seconds; `own` leaves out what other noted calls took inside."""

    name: str
    count: int
    total: float
    own: float
    mean: float
    share: float
    bytes: int


class Profile:
    """Hold noted calls, and tell where the time went.

    Parameters
    ----------
    events : Iterable[Event]
        The calls, in any order; those of one thread, so that they follow or contain each other.

    """

    def __init__(self, events=()):
        self.events = list(events)

    @classmethod
    def of_plan(cls, noted):
        """Return a profile of what a plan noted.

        Parameters
        ----------
        noted : Iterable[Tuple[str, int, int, int, str]]
            What its `profile(inputs)` returned: name, start, end, bytes and scope of each call.

        Returns
        -------
        Profile
            The profile.

        """
        return cls(Event(name, start, end, bytes=size, scope=scope) for name, start, end, size, scope in noted)

    def lines(self):
        """Return the sums by operator, the one with the most time of its own first.

        Returns
        -------
        List[Line]
            One for each name; nodes of the backward pass stand apart from operators of the same name.

        """
        sums = collections.defaultdict(lambda: [0, 0, 0, 0])
        for event, own in self._own_times():
            line = sums["backward of " + event.name if event.is_node else event.name]
            for place, number in enumerate((1, event.end - event.start, own, event.bytes)):
                line[place] += number
        everything = sum(own for _, _, own, _ in sums.values()) or 1
        found = [Line(name, count, total * 1e-9, own * 1e-9, total * 1e-9 / count, own / everything, size)
                 for name, (count, total, own, size) in sums.items()]
        return sorted(found, key=lambda line: -line.own)

    def _own_times(self):
        """Yield each event with the nanoseconds that no event inside of it took."""
        order = sorted(self.events, key=lambda event: (event.start, -event.end))
        inside, open_events = [0] * len(order), []
        for number, event in enumerate(order):
            while open_events and order[open_events[-1]].end <= event.start:
                open_events.pop()
            if open_events:
                inside[open_events[-1]] += event.end - event.start
            open_events.append(number)
        for event, taken in zip(order, inside):
            yield event, event.end - event.start - taken

    def table(self, rows=None):
        """Return the sums by operator as text.

        Parameters
        ----------
        rows : int, optional
            How many operators to show; the others are summed up in the last line.

        Returns
        -------
        str
            One line per operator: count, total, own and mean time, the share of its own time in all of it.

        """
        lines = self.lines()
        shown, rest = (lines, []) if rows is None else (lines[:rows], lines[rows:])
        if rest:
            count, total = sum(line.count for line in rest), sum(line.total for line in rest)
            shown = shown + [Line(f"{len(rest)} others", count, total, sum(line.own for line in rest), total / count,
                                  sum(line.share for line in rest), sum(line.bytes for line in rest))]
        width = max([len(line.name) for line in shown] + [len("operator")])
        head = f"{'operator':{width}}  {'count':>6}  {'total ms':>10}  {'own ms':>10}  {'mean us':>10}  {'share':>6}"
        body = [f"{line.name:{width}}  {line.count:6}  {line.total * 1e3:10.3f}  {line.own * 1e3:10.3f}  "
                f"{line.mean * 1e6:10.1f}  {line.share:6.1%}" for line in shown]
        return "\n".join([head, *body])

    def chrome_trace(self):
        """Return the calls in the form that chrome://tracing and Perfetto read, as a dict."""
        process, thread = os.getpid(), threading.get_ident()
        first = min((event.start for event in self.events), default=0)
        return {"displayTimeUnit": "ms", "traceEvents": [
            {"ph": "X", "name": event.name, "cat": "backward" if event.is_node else "operator", "pid": process,
             "tid": thread, "ts": (event.start - first) / 1e3, "dur": (event.end - event.start) / 1e3,
             "args": _details(event)} for event in self.events]}

    def save_chrome_trace(self, path):
        """Write the calls as a JSON file for chrome://tracing and Perfetto.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            Where to write it.

        """
        with files.rewriting(path, "w", encoding="utf-8") as file:
            json.dump(self.chrome_trace(), file)

    def __len__(self):
        return len(self.events)

    def __repr__(self):
        return f"dragon.core.profile.Profile({len(self)} calls)"

    __str__ = table


def _details(event):
    """Return what a trace shows of an event besides its times."""
    shapes = [list(shape) for shape in event.shapes]
    return {"bytes": event.bytes, **({"shapes": shapes} if shapes else {}),
            **({"scope": event.scope} if event.scope else {})}


class profile(Profile):
    """Note the calls of this thread within a `with` block: those of operators, and the backward pass's nodes.

    Parameters
    ----------
    shapes : bool, optional, default=False
        Whether to note the shapes of the inputs.

    Examples
    --------
    >>> with dragon.profile() as found:
    ...     (x @ w).relu().sum()
    >>> print(found.table())

    """

    def __init__(self, shapes=False):
        super().__init__()
        self.shapes = shapes

    def __enter__(self):
        start_profile(self.shapes)
        return self

    def __exit__(self, *_):
        self.events += [Event(name, start, end, is_node, size, tuple(shapes))
                        for name, start, end, is_node, size, shapes in stop_profile()]
