"""What stages do, in numbers: counted while somebody watches, and at no other time."""
import threading
import time

from dragon.core.scopes import contextmanager


class Counters:
    """What one stage has done.

    Parameters
    ----------
    name : str
        What it is called.

    """

    def __init__(self, name):
        self.name, self.items = name, 0
        self.working = self.starved = self.full = 0.0
        self._lock = threading.Lock()

    def add(self, field, seconds):
        """Add to "working", "starved" (waiting for its input) or "full" (waiting for room); any thread may."""
        with self._lock:
            setattr(self, field, getattr(self, field) + seconds)

    def timed(self, field, function):
        """Return a function whose time is added to a field."""
        def call(*args):
            begin = time.perf_counter()
            try:
                return function(*args)
            finally:
                self.add(field, time.perf_counter() - begin)
        return call

    def __repr__(self):
        return (f"{self.name}: {self.items} items, {self.working:.3f} s working, {self.starved:.3f} s waiting for "
                f"input, {self.full:.3f} s waiting for room")


class _Frame:
    """A stage that is being asked for an item, in one thread."""

    __slots__ = ("counters", "starved", "aside")

    def __init__(self, counters):
        self.counters, self.starved, self.aside = counters, 0.0, 0.0


class _Here(threading.local):
    frame = None


watchers, _here = [], _Here()


@contextmanager
def watched():
    """Return a block in which stages that begin are counted; its value is the list of their `Counters`."""
    found = []
    watchers.append(found)
    try:
        yield found
    finally:
        watchers.remove(found)


def counted(items, name):
    """Return an iterator over the same items, which is counted if somebody watches."""
    if not watchers:
        return items
    counters = Counters(name)
    for found in watchers:
        found.append(counters)
    return Counted(items, counters)


def current():
    """Return the counters of the stage that is being asked for an item, or None where nobody watches."""
    return None if _here.frame is None else _here.frame.counters


def aside(function):
    """Return a function whose time is not the stage's that calls it: it waits for what other threads count."""
    def call(*args):
        begin = time.perf_counter()
        try:
            return function(*args)
        finally:
            if _here.frame is not None:
                _here.frame.aside += time.perf_counter() - begin
    return call


class Counted:
    """An iterator whose items and seconds are counted; the time of a counted input is its waiting.

    Parameters
    ----------
    items : Iterator
        What is iterated over.
    counters : Counters
        Where the numbers go.

    """

    def __init__(self, items, counters):
        self._items, self._counters = iter(items), counters

    def __iter__(self):
        return self

    def __next__(self):
        outer, frame = _here.frame, _Frame(self._counters)
        _here.frame, begin = frame, time.perf_counter()
        try:
            item = next(self._items)
            self._counters.items += 1
            return item
        finally:
            spent = time.perf_counter() - begin
            _here.frame = outer
            self._counters.add("working", spent - frame.starved - frame.aside)
            self._counters.add("starved", frame.starved)
            if outer is not None:
                outer.starved += spent
