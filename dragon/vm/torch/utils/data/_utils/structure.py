"""Walking nested data the way the loader does: one walk for collating, converting and pinning."""
import copy
from collections.abc import Mapping, MutableMapping, MutableSequence


def rebuild_mapping(like, changed):
    """Return a mapping of new values in the class of another one, a dict where the class does not allow it."""
    try:
        if isinstance(like, MutableMapping):
            # A copy keeps what the class holds beside its items.
            made = copy.copy(like)
            made.update(changed)
            return made
        return type(like)(changed)
    except TypeError:
        return changed


def rebuild_sequence(like, changed):
    """Return a sequence of new items in the class of another one, a list where the class does not allow it."""
    try:
        if isinstance(like, MutableSequence):
            made = copy.copy(like)
            for place, item in enumerate(changed):
                made[place] = item
            return made
        return type(like)(changed)
    except TypeError:
        return changed


def map_mapping(function, data):
    """Return a mapping with a function applied to its values."""
    assert isinstance(data, Mapping)
    return rebuild_mapping(data, {key: function(data[key]) for key in data})


def is_namedtuple(data):
    """Return whether data is a tuple with names."""
    return isinstance(data, tuple) and hasattr(data, "_fields")
