"""What happens on Python's side whenever a graph runs: checks of its numbers."""
import functools

from dragon import _C
from dragon.core.capture.control import is_open
from dragon.core.capture.host_calls import Note, when_run
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import as_tensor, ops

_PLAIN = (str, bytes, int, float, bool, type(None))
_AS_IN_C = str.maketrans({"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def holds(condition):
    """Return whether a condition is true everywhere."""
    if not isinstance(condition, _C.Tensor):
        return bool(condition)
    return not _C.Tensor.size.__get__(condition) or bool(ops.all(condition))


def key_of(*parts):
    """Return a key of what a step of a graph does, such that steps with equal keys do the same; None if there is none.

    Functions that graphs call are kept for good: without a key, each capture of one program would keep another.

    Parameters
    ----------
    *parts : Any
        Plain values, tensors, whose place alone counts, functions of modules, partial ones, lists of all of these.

    """
    found = []
    for part in parts:
        if isinstance(part, _C.Tensor):
            found.append((_C.Tensor,))
        elif type(part) in _PLAIN:
            found.append((type(part), repr(part)))
        elif isinstance(part, functools.partial) and not part.keywords:
            found.append(key_of(part.func, *part.args))
        elif isinstance(part, dict):
            found.append(key_of("dict", *part, *part.values()))
        elif isinstance(part, (list, tuple)):
            found.append(key_of(type(part).__name__, *part))
        elif getattr(part, "__qualname__", "<").isidentifier():
            found.append((part.__module__, part.__qualname__))
        else:
            return None
    return None if None in found else tuple(found)


def require(condition, error, *values):
    """Raise an error unless a condition holds everywhere: now, or whenever the graph runs that is captured.

    Parameters
    ----------
    condition : Union[Tensor, bool]
        The condition.
    error : Callable
        Makes the error of the values.
    *values : Any
        What it shows.

    """
    if is_open(condition):
        places = [place for place, value in enumerate(values) if isinstance(value, _C.Tensor)]
        others = [None if isinstance(value, _C.Tensor) else value for value in values]  # graphs have the tensors

        def check(tensors):
            if not holds(tensors[0]):
                shown = list(others)
                for place, tensor in zip(places, tensors[1:]):
                    shown[place] = as_tensor(tensor)
                raise error(*shown)
        tensors = [values[place] for place in places]
        if when_run(ops, check, [condition, *tensors], key_of("require", error, *values),
                    lambda: _note_of(condition, error, values, tensors)):
            return
    if not holds(condition):
        raise error(*values)


def _note_of(condition, error, values, tensors):
    """Return what a model has for a check."""
    words = [word for word in (*getattr(error, "args", ()), *values) if isinstance(word, str)]
    return Note("assert", [ops.all(condition).detach(), *(ops.clone(tensor).detach() for tensor in tensors)],
                text="\n".join(words) or "The claim of a function does not hold.")


def assert_true(expression, data):
    """Raise an InvalidArgumentError, when the graph runs, unless a condition holds."""
    require(convert_to_tensor(expression), failed_assertion, *data)


def failed_assertion(*values):
    """Return the InvalidArgumentError of a condition that does not hold; texts in it are as in C."""
    shown = [value.translate(_AS_IN_C) if isinstance(value, str) else str(value) for value in values]
    return invalid_argument("assertion failed: [" + " ".join(shown) + "]")
