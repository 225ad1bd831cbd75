"""Python that runs whenever a graph does, in the order of its calls: printing, checks."""
import itertools

from dragon import _C
from dragon.core.capture.rewind import for_good
from dragon.core.capture.settings import captures, is_exporting

_functions = {}  # by number; they stay, since nobody knows which graphs have them
_numbers = itertools.count(1)
_known = {}  # what functions do: their number, so that two captures of one program are alike


def _call(number, tensors):
    function = _functions.get(number)
    if function is None:
        raise NotImplementedError(f"host_call: got function {number}, expected one of this process; files do not hold "
                                  "functions")
    with for_good():
        function(tensors)


def when_run(ops, function, tensors, key=None):
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

    Returns
    -------
    bool
        Whether it is so; False where nothing is captured, and the caller does it at once.

    """
    if not captures() or is_exporting():
        return False
    number = next(_numbers) if key is None or key not in _known else _known[key]
    _functions.setdefault(number, function)
    if key is not None:
        _known[key] = number
    ops.host_call([tensor.detach() for tensor in tensors], function=number)
    return True


_C.set_host(_call)
