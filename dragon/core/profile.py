"""A profile of time: calls noted while they run, eagerly or in a plan, as a table per operator or a chrome trace."""
import collections
import json
import os
import threading
import typing

from dragon._C import start_profile, stop_profile
from dragon.core import files
from dragon.core.capture.scopes import stack


class Event(typing.NamedTuple):
    """One call that was noted. Times are nanoseconds of the system's monotonic clock."""

    name: str
    start: int
    end: int
    is_node: bool = False  # a node of the backward pass; else an operator
    bytes: int = 0  # of the results
    shapes: tuple = ()  # of the inputs, if they were asked for
    scope: str = ""  # where in the program a plan's call came from
    where: str = ""  # the user's functions around the call, "main (train.py:30);forward (net.py:8)", if asked for


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

        def slice_of(name, category, start, end, details):
            return {"ph": "X", "name": name, "cat": category, "pid": process, "tid": thread,
                    "ts": (start - first) / 1e3, "dur": (end - start) / 1e3, "args": details}
        slices = [slice_of(event.name, "backward" if event.is_node else "operator", event.start, event.end,
                           _details(event)) for event in self.events]
        slices += [slice_of(name, "python", start, end, {}) for name, start, end in self._callers()]
        return {"displayTimeUnit": "ms", "traceEvents": slices}

    def _callers(self):
        """Yield (name, start, end) of the user's functions, from their first noted call to the last in a row."""
        running, end = [], 0  # (name, start), the outermost first
        for event in sorted(self.events, key=lambda event: (event.start, -event.end)):
            if event.end <= end:
                continue  # within the call before
            callers = event.where.split(";") if event.where else []
            same = next((place for place, (one, other) in enumerate(zip(running, callers)) if one[0] != other),
                        min(len(running), len(callers)))
            yield from ((name, start, end) for name, start in reversed(running[same:]))
            running[same:] = [(name, event.start) for name in callers[same:]]
            end = event.end
        yield from ((name, start, end) for name, start in reversed(running))

    def flame(self, title="Where the time goes"):
        """Return a flame graph: the user's functions, within them operators, within those what they call.

        Parameters
        ----------
        title : str, optional, default="Where the time goes"
            What stands above.

        Returns
        -------
        dragon.core.pictures.flame.FlamePicture
            Its `show()`, `save(path)`, `html()`, `svg()` and `text`.

        """
        from dragon.core.pictures.flame import FlamePicture
        return FlamePicture(self.events, title)

    def _repr_html_(self):
        return self.flame()._repr_html_()

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
            **({"scope": event.scope} if event.scope else {}), **({"where": event.where} if event.where else {})}


class profile(Profile):
    """Note the calls of this thread within a `with` block: those of operators, and the backward pass's nodes.

    Parameters
    ----------
    shapes : bool, optional, default=False
        Whether to note the shapes of the inputs.
    lines : bool, optional, default=False
        Whether to note the user's functions around each call, for flame graphs. It takes some microseconds a call,
        which count for the functions, not for the operators.

    Examples
    --------
    >>> x, w = dragon.ones((2, 3)), dragon.ones((3, 4))
    >>> with dragon.profile() as found:
    ...     y = (x @ w).relu().sum()
    >>> [event.name for event in found.events]
    ['matmul', 'relu', 'sum']

    `print(found.table())` shows how often each was called and how long it took.

    """

    def __init__(self, shapes=False, lines=False):
        super().__init__()
        self.shapes, self.lines_noted = shapes, lines

    def __enter__(self):
        start_profile(self.shapes, stack if self.lines_noted else None)
        return self

    def __exit__(self, *_):
        self.events += [Event(name, start, end, is_node, size, tuple(shapes), where=where)
                        for name, start, end, is_node, size, shapes, where in stop_profile()]


def profile_calls(call, where):
    """Call a function, and return what was noted meanwhile.

    Parameters
    ----------
    call : Callable[[], Any]
        The function.
    where : Callable[[], str]
        Says, before each call of an operator, where it stands.

    Returns
    -------
    List[tuple]
        Name, start, end, whether it is a backward node, bytes of the results, shapes of the tensors, and what `where`
        said, of each.

    """
    start_profile(True, where)
    try:
        call()
    finally:
        noted = stop_profile()
    return noted
