"""Undo what a call changed in Python objects before the same call is made again for another graph."""
import functools
import threading

from dragon.core.capture.suppress_output import SuppressOutput
from dragon.core.capture.objects import is_filled
from dragon.core.capture.structure import ABSENT
from dragon.core.scopes import scope
from dragon.core.capture.dependency_analysis import ATTRIBUTE, CELL, CLASS, DICT, KEYS, LIST

_MISSING = object()
_local = threading.local()  # `rewinds`: the blocks that this thread is in, the innermost last


def _get(holder, name):
    return dict.get(holder, name, _MISSING)


def _new(function, before, now):
    known = set(map(id, before))
    return [value if id(value) in known or value is _MISSING else function(value) for value in now]


def _named(holder):
    """Return what reads, writes and deletes a name of a holder."""
    if isinstance(holder, dict):
        return (functools.partial(_get, holder), functools.partial(dict.__setitem__, holder),
                functools.partial(dict.__delitem__, holder))
    return (lambda name: getattr(holder, name, _MISSING), functools.partial(setattr, holder),
            functools.partial(delattr, holder))


class _Entries:
    """Some names of a dictionary, object or class."""

    def __init__(self, place):
        self._read, self._write, self._delete = _named(place.container)
        self._keys = list(place.keys)
        self.before = [_MISSING if mode == ABSENT else value for mode, value in place.checks]

    def now(self):
        """Return what they are."""
        return [self._read(key) for key in self._keys]

    def replaced(self, function):
        """Return what they are, with what a function makes of it in the place of all that is new."""
        return _new(function, self.before, self.now())

    def put(self, values):
        """Have them be what they were."""
        for key, value in zip(self._keys, values):
            if value is not _MISSING:
                self._write(key, value)
            elif self._read(key) is not _MISSING:
                self._delete(key)


class _Items:
    """All of a list."""

    def __init__(self, place):
        self._list = place.container
        self.before = [value for _, value in place.checks]

    def now(self):
        """Return what is in it."""
        return list(list.__iter__(self._list))

    def replaced(self, function):
        """Return what is in it, with what a function makes of it in the place of all that is new."""
        return _new(function, self.before, self.now())

    def put(self, values):
        """Have it hold what it did."""
        list.__setitem__(self._list, slice(None), values)


class _Pairs:
    """All of a dictionary."""

    def __init__(self, place):
        self._dict = place.container
        self.before = dict(zip(place.keys, (value for _, value in place.checks)))

    def now(self):
        """Return what is in it."""
        return dict(dict.items(self._dict))

    def replaced(self, function):
        """Return what is in it, with what a function makes of it in the place of all that is new."""
        now = self.now()
        return dict(zip(now, _new(function, list(self.before.values()), list(now.values()))))

    def put(self, values):
        """Have it hold what it did."""
        dict.clear(self._dict)
        dict.update(self._dict, values)


class _Cell:
    """What a function's own name stands for."""

    def __init__(self, place):
        self._cell = place.container
        self.before = _MISSING if place.checks[0][0] == ABSENT else place.checks[0][1]

    def now(self):
        """Return what it stands for."""
        return self._cell.cell_contents if is_filled(self._cell) else _MISSING

    def replaced(self, function):
        """Return what it stands for, or what a function makes of it if that is new."""
        return _new(function, [self.before], [self.now()])[0]

    def put(self, value):
        """Have it stand for what it did."""
        if value is not _MISSING:
            self._cell.cell_contents = value
        elif is_filled(self._cell):
            del self._cell.cell_contents


_KEEPERS = {LIST: _Items, DICT: _Pairs, KEYS: _Entries, ATTRIBUTE: _Entries, CLASS: _Entries, CELL: _Cell}


class Rollback:
    """What a call has changed in Python, and how it was before.

    Parameters
    ----------
    guards : Guards
        Made before the call.
    changes : Sequence[Change]
        What the call has changed, as these guards tell it.
    sets_back : bool, optional, default=True
        Whether a call that is made again finds everything as the first one did, rather than as it is.

    """

    def __init__(self, guards, changes, sets_back=True):
        places = {change.place: guards.places[change.place] for change in changes if change.place is not None}
        self.is_whole = len([change for change in changes if change.place is None]) == 0 and all(
            place.kind in _KEEPERS for place in places.values())
        self._keepers = [_KEEPERS[place.kind](place) for place in places.values() if place.kind in _KEEPERS]
        self._sets_back = sets_back

    def begin_again(self, stack):
        """Have a block make the call again, in silence; afterwards all is as if it had not been made."""
        self._now = self._all()
        stack.callback(self._put_back)
        if self._sets_back:
            self.undo()
        stack.push(_local.__dict__.setdefault("rollbacks", []), self)
        self._hushed = SuppressOutput()
        stack.enter(self._hushed)

    def _all(self):
        return [keeper.now() for keeper in self._keepers]

    def _put_back(self):
        self._put(self._now)

    def _note_now(self):
        self._now = self._all()

    def undo(self):
        """Have everything be as it was before the call."""
        self._put([keeper.before for keeper in self._keepers])

    def replace(self, function):
        """Put what a function makes of it in the place of everything that the call has put somewhere."""
        for keeper in self._keepers:
            keeper.put(keeper.replaced(function))

    def _put(self, values):
        for keeper, value in zip(self._keepers, values):
            keeper.put(value)

    def _pause(self, stack):
        stack.callback(self._put, self._all())
        stack.callback(self._note_now)
        self._put_back()
        stack.enter(self._hushed.lifted())


@scope
def made_again(stack, rollback):
    """Have a call made again in a `with` block; `rollback` is what takes it back, None where nothing has to."""
    if rollback is not None:
        rollback.begin_again(stack)


@scope
def for_good(stack):
    """Have what a `with` block does last, also where a call is made again: it belongs to the run, not to the trace."""
    for rollback in reversed(getattr(_local, "rollbacks", ())):
        rollback._pause(stack)
