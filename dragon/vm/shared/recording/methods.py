"""Functions that were bound to objects, as methods are.

Their graphs hold the object, so that the object itself is what keeps them: a table beside it would let go of neither.
"""
import weakref

NAME = "_functions_of_this_object"  # among an object's attributes
_without_attributes = weakref.WeakKeyDictionary()  # objects with slots, say, and what they would keep


class _Bound:
    """What one object keeps; a copy of the object, or one that a pickle makes, begins with nothing."""

    __slots__ = ("owner", "functions")

    def __init__(self, owner=None):
        self.owner, self.functions = owner, {}

    def __reduce__(self):
        return _Bound, ()


def method_of(function, instance, bind):
    """Return a function bound to an object, the same one each time.

    Parameters
    ----------
    function : Function
        The function that its class has.
    instance : Any
        The object.
    bind : Callable
        Binds the function, given what returns the object.

    Returns
    -------
    Function
        The function with its first argument given.

    """
    attributes = getattr(instance, "__dict__", None)
    table, key = (attributes, NAME) if type(attributes) is dict else (_without_attributes, instance)
    try:
        kept = table.get(key)
        if kept is None or kept.owner is None or kept.owner() is not instance:
            kept = table[key] = _Bound(weakref.ref(instance))
    except TypeError:  # an object that nothing refers to weakly
        return bind(lambda: instance)
    found = kept.functions.get(function)
    if found is None:
        found = kept.functions[function] = bind(kept.owner)
    return found
