"""Python that runs whenever a graph does, in the order of its calls: printing, checks."""
import contextlib
import itertools
import threading

from dragon import _C
from dragon.core.capture.rewind import for_good
from dragon.core.capture.settings import captures, is_exporting

_functions = {}  # by number; they stay, since nobody knows which graphs have them
_numbers = itertools.count(1)
_local = threading.local()
_known = {}  # what functions do: their number, so that two captures of one program are alike


def _call(number, tensors):
    function = _functions.get(number)
    if function is None:
        raise NotImplementedError(f"host_call: got function {number}, expected one of this process; files do not hold "
                                  "functions")
    with for_good():
        function(tensors)


class Note:
    """What a model of another format has in the place of a function of Python's.

    Parameters
    ----------
    kind : str
        "print" or "assert".
    tensors : Sequence[Tensor]
        What it is about.
    **details : Any
        What else is to be told.

    """

    def __init__(self, kind, tensors, **details):
        self.kind, self.tensors, self.details = kind, list(tensors), details


@contextlib.contextmanager
def noting():
    """Note within a `with` block what a function that becomes a model does besides computing; gives the notes."""
    previous, _local.notes = getattr(_local, "notes", None), []
    try:
        yield _local.notes
    finally:
        _local.notes = previous


def _keep_note(note):
    if note is None:
        raise NotImplementedError("the function calls Python whenever it runs, which a file does not hold; have it "
                                  "compute with tensors alone")
    if not getattr(captures()[-1], "exports", False):
        raise NotImplementedError(f"the function has a {note.kind} within a branch or a loop, which a file does not "
                                  "hold yet; move it out")
    _local.notes.append(note)


def when_run(ops, function, tensors, key=None, note=None):
    """Have a function called whenever the graph that is captured runs, and now.

    Parameters
    ----------
    ops : dragon._C.Ops
        The face's operators.
    function : Callable
        Called with a list of tensors. They are the graph's: whoever wants to keep one copies it.
    tensors : Sequence[Tensor]
        What the function wants to know.
    key : Hashable, optional
        Functions with the same key do the same.
    note : Callable[[], Note], optional
        What a model of another format has instead.

    Returns
    -------
    bool
        Whether it is so; False where nothing is captured, and the caller does it at once.

    """
    if captures() and is_exporting() and getattr(_local, "notes", None) is not None:
        _keep_note(note and note())
        return True
    if not captures() or is_exporting():
        return False
    number = next(_numbers) if key is None or key not in _known else _known[key]
    _functions.setdefault(number, function)
    if key is not None:
        _known[key] = number
    ops.host_call([tensor.detach() for tensor in tensors], function=number)
    return True


_C.set_host(_call)
