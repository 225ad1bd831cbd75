"""The names that Keras gives to what its user left unnamed: `dense`, `dense_1`."""
import collections
import re

from dragon.vm.keras.core import global_state


def _counts():
    counts = global_state.get_global_attribute("object_name_uids")
    if counts is None:
        counts = collections.defaultdict(int)
        global_state.set_global_attribute("object_name_uids", counts)
    return counts


def auto_name(prefix):
    """Return a name that no object has had since the session began."""
    return uniquify(to_snake_case(prefix))


def own_name(name, owner):
    """Return the name that an object was given, or one made of its class's."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{type(owner).__name__}: got name={name!r}, expected text")
    return name or auto_name(type(owner).__name__)


def uniquify(name):
    """Return a name, with a number behind it if it was given out before."""
    counts = _counts()
    unique = f"{name}_{counts[name]}" if name in counts else name
    counts[name] += 1
    return unique


def to_snake_case(name):
    """Return a class name in small letters with underscores."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def get_uid(prefix=""):
    """Return the next number of a prefix."""
    counts = _counts()
    counts[prefix] += 1
    return counts[prefix]


def reset_uids():
    """Count all names from the start again."""
    global_state.set_global_attribute("object_name_uids", collections.defaultdict(int))


def get_object_name(thing):
    """Return the name of an object, of a function, or of an object's class."""
    if hasattr(thing, "name"):
        return thing.name
    return to_snake_case(getattr(thing, "__name__", None) or type(thing).__name__)
