"""Containers that tell a layer what is put into them, and the collections that it is told of."""
import collections

from dragon.core.scopes import contextmanager
from dragon.vm.keras.core import global_state


class Tracked:
    """What knows a tracker, or none, and tells it what comes in and goes out."""

    def _in(self, value):
        return self.tracker.track(value) if self.tracker else value

    def _out(self, value):
        if self.tracker:
            self.tracker.untrack(value)


class TrackedList(Tracked, list):
    """A list in an attribute of a layer: layers and variables put into it belong to the layer."""

    def __init__(self, values=None, tracker=None):
        self.tracker = tracker
        super().__init__(_track_all(tracker, values or []))

    def append(self, value):
        """Put a value at the end."""
        super().append(self._in(value))

    def insert(self, index, value):
        """Put a value before a place."""
        super().insert(index, self._in(value))

    def extend(self, values):
        """Put values at the end."""
        super().extend(_track_all(self.tracker, values))

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __setitem__(self, index, value):
        for old in self[index] if isinstance(index, slice) else [self[index]]:
            self._out(old)
        super().__setitem__(index, _track_all(self.tracker, value) if isinstance(index, slice) else self._in(value))

    def __delitem__(self, index):
        for old in self[index] if isinstance(index, slice) else [self[index]]:
            self._out(old)
        super().__delitem__(index)

    def remove(self, value):
        """Take the first equal value away."""
        for index, own in enumerate(self):
            if own is value or own == value:
                del self[index]
                return
        raise ValueError(f"list.remove(x): x not in list. Received: {value}")

    def pop(self, index=-1):
        """Take a value away and return it."""
        value = super().pop(index)
        self._out(value)
        return value

    def clear(self):
        """Take all values away."""
        for value in self:
            self._out(value)
        super().clear()

    def __reduce__(self):
        return list, (list(self),)


class TrackedDict(Tracked, dict):
    """A dict in an attribute of a layer: layers and variables put into it belong to the layer."""

    def __init__(self, values=None, tracker=None):
        self.tracker = tracker
        super().__init__({key: self._in(value) for key, value in dict(values or ()).items()})

    def __setitem__(self, key, value):
        if key in self:
            self._out(self[key])
        super().__setitem__(key, self._in(value))

    def update(self, *mappings, **named):
        """Put values under their keys."""
        for key, value in dict(*mappings, **named).items():
            self[key] = value

    def setdefault(self, key, default=None):
        """Return the value of a key, which is the default if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def __delitem__(self, key):
        self._out(self[key])
        super().__delitem__(key)

    def pop(self, key, *default):
        """Take a value away and return it."""
        if key in self:
            self._out(self[key])
        return super().pop(key, *default)

    def popitem(self):
        """Take the last pair away and return it."""
        key, value = super().popitem()
        self._out(value)
        return key, value

    def clear(self):
        """Take all values away."""
        for value in self.values():
            self._out(value)
        super().clear()

    def __reduce__(self):
        return dict, (dict(self),)


class TrackedOrderedDict(TrackedDict, collections.OrderedDict):
    """An OrderedDict in an attribute of a layer: layers and variables put into it belong to the layer."""

    def popitem(self, last=True):
        """Take the last pair, or the first, away and return it."""
        key, value = collections.OrderedDict.popitem(self, last)
        self._out(value)
        return key, value

    def __reduce__(self):
        return collections.OrderedDict, (list(self.items()),)


class TrackedSet(Tracked, set):
    """A set in an attribute of a layer: layers and variables put into it belong to the layer."""

    def __init__(self, values=None, tracker=None):
        self.tracker = tracker
        super().__init__({self._in(value) for value in values or ()})

    def add(self, value):
        """Put a value in."""
        super().add(self._in(value))

    def update(self, values):
        """Put values in."""
        for value in values:
            self.add(value)

    def remove(self, value):
        """Take a value away."""
        super().remove(value)
        self._out(value)

    def pop(self):
        """Take some value away and return it."""
        value = super().pop()
        self._out(value)
        return value

    def clear(self):
        """Take all values away."""
        for value in self:
            self._out(value)
        super().clear()

    def __reduce__(self):
        return set, (set(self),)


def _track_all(tracker, values):
    return [tracker.track(value) for value in values] if tracker else list(values)


class Tracker:
    """Sorts what a layer gets as attributes into collections.

    Parameters
    ----------
    config : Dict[str, Tuple[Callable, list]]
        For each collection a test of values, and the list to put them in.
    exclusions : Dict[str, Sequence[str]], optional
        Collections that take nothing that another one holds.

    """

    def __init__(self, config, exclusions=None):
        self.config, self.exclusions = config, exclusions or {}
        self.locked, self._message = False, None

    def _holds(self, name, value):
        return any(own is value for own in self.config[name][1])

    def track(self, value):
        """Note a value; returns it, or the container that stands for it."""
        if global_state.get_global_attribute("tracking_off"):
            return value
        for name, (fits, _) in self.config.items():
            if fits(value):
                if any(self._holds(other, value) for other in self.exclusions.get(name, ())):
                    continue
                if not self._holds(name, value):
                    self.add_to_store(name, value)
                return value
        kind = type(value)
        if kind is tuple or isinstance(value, tuple) and hasattr(value, "_fields"):
            made = [self.track(item) for item in value]
            return kind(made) if kind is tuple else kind(*made)
        if isinstance(value, Tracked) and value.tracker is self:
            return value
        container = next((own for plain, own in _CONTAINERS if isinstance(value, plain)), None)
        return value if container is None else container(value, self)

    def untrack(self, value):
        """Forget a value."""
        for _, collection in self.config.values():
            collection[:] = [own for own in collection if own is not value]

    def add_to_store(self, name, value):
        """Put a value into a collection."""
        if self.locked:
            raise ValueError(f"{self._message} Received: {value!r}")
        self.config[name][1].append(value)

    def lock(self, msg=None):
        """Refuse new values from now on."""
        self.locked = True
        self._message = msg or self._message or "You cannot add new elements of state to a layer that is already built."

    def unlock(self):
        """Take new values again."""
        self.locked = False

    def replace_tracked_value(self, name, old, new):
        """Put a value in another one's place."""
        if name not in self.config:
            raise ValueError(f"Unknown collection. Expected one of {sorted(self.config)}. Received: {name}")
        collection = self.config[name][1]
        collection[next(number for number, own in enumerate(collection) if own is old)] = new


_CONTAINERS = [(list, TrackedList), (collections.OrderedDict, TrackedOrderedDict), (dict, TrackedDict),
               (set, TrackedSet)]


@contextmanager
def tracking_off():
    """Put attributes into no collection within."""
    before = global_state.get_global_attribute("tracking_off")
    global_state.set_global_attribute("tracking_off", True)
    try:
        yield
    finally:
        global_state.set_global_attribute("tracking_off", before)
