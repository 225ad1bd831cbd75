"""Names under which files find the classes and functions of users."""
import inspect

from dragon.vm.keras.core import global_state

_objects, _names = {}, {}


class CustomObjectScope:
    """Let files find classes and functions by name within a `with` block.

    Parameters
    ----------
    custom_objects : Dict[str, Any]
        Classes and functions by name.

    """

    def __init__(self, custom_objects):
        self.custom_objects = custom_objects or {}

    def __enter__(self):
        self._before = global_state.get_global_attribute("custom_objects_scope_dict")
        global_state.set_global_attribute("custom_objects_scope_dict", {**(self._before or {}), **self.custom_objects})
        return self

    def __exit__(self, *_):
        global_state.set_global_attribute("custom_objects_scope_dict", self._before)


custom_object_scope = CustomObjectScope


def get_custom_objects():
    """Return the registered classes and functions by name; the dict may be changed."""
    return _objects


def register_keras_serializable(package="Custom", name=None):
    """Return a decorator that lets files find a class or a function.

    Parameters
    ----------
    package : str, optional, default="Custom"
        What stands before the name.
    name : str, optional
        The name; the object's own without it.

    """
    def register(thing):
        if inspect.isclass(thing) and not hasattr(thing, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method. "
                             f"Received: {thing}")
        full = f"{package}>{name or thing.__name__}"
        _objects[full], _names[thing] = thing, full
        return thing
    return register


def get_registered_name(obj):
    """Return the name a class or function was registered under, or its own."""
    if not hasattr(obj, "__name__"):
        raise TypeError(f"get_registered_name: got {obj!r}, expected a class or a function")
    return _names.get(obj) or obj.__name__


def get_registered_object(name, custom_objects=None, module_objects=None):
    """Return the class or function of a name, or None."""
    for table in (global_state.get_global_attribute("custom_objects_scope_dict"), _objects, custom_objects,
                  module_objects):
        if table and name in table:
            return table[name]
    return None
