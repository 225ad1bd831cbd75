"""Attributes of an object as a pickle keeps them."""


def _get_obj_state(obj):
    """Return an object's attributes as a pickle keeps them: a dict, and a dict of slots if there are any."""
    state = getattr(obj, "__getstate__", None)
    if state is not None and type(obj).__getstate__ is not getattr(object, "__getstate__", None):
        return state()
    return dict(getattr(obj, "__dict__", None) or {})


def _set_obj_state(obj, state):
    """Give an object attributes: a dict of them, or (dict, dict of slots)."""
    if isinstance(state, tuple):
        if len(state) != 2:
            raise RuntimeError(f"set state: got a tuple of {len(state)}, expected a dict and a dict of slots")
        state, slots = state
    else:
        slots = None
    for name, value in {**(state or {}), **(slots or {})}.items():
        if name.startswith("__"):
            raise RuntimeError(f"set state: got the attribute {name!r}, expected none of Python's own")
        setattr(obj, name, value)
    return obj
