"""Who is told when the first ragged or sparse tensor of a process is about to be made."""
_listeners, _told = [], []
namespaces = []  # of guests, in which functions that learn of such tensors are replaced


def when_made(namespace, listener):
    """Have a function called before the first ragged or sparse tensor is made; at once where there have been some.

    Parameters
    ----------
    namespace : dict
        The names of a guest, among which functions are replaced.
    listener : Callable
        Called without arguments.

    """
    namespaces.append(namespace)
    _listeners.append(listener)
    if _told:
        tell()


def tell():
    """Call those who wait."""
    _told.append(True)
    while _listeners:
        _listeners.pop(0)()
