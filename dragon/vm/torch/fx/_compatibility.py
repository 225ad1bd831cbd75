"""`torch.fx._compatibility`: marks of functions whose use will not change."""
_BACK_COMPAT_OBJECTS = {}
_MARKED_WITH_COMPATIBILITY = {}


def compatibility(is_backward_compatible):
    """Return a decorator that notes whether the use of a function or class will stay as it is."""
    def mark(thing):
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(thing)
        _MARKED_WITH_COMPATIBILITY.setdefault(thing)
        return thing
    return mark
