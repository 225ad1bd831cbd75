"""Python functions that a graph calls whenever it runs, in the order of its calls: printing, checks."""
import itertools
import threading

from dragon import _C
from dragon.core.capture.rollback import for_good
from dragon.core.capture.settings import captures, is_exporting
from dragon.core.scopes import scope

_functions = {}  # by number; they stay, since nobody knows which graphs have them
_numbers = itertools.count(1)
_local = threading.local()
_known = {}  # what functions do: their number, so that two captures of one program are alike


def _call(number, tensors):
    if number < 0:  # a note: it is the model's, also where few numbers are known while it is captured
        return
    function = _functions.get(number)
    if function is None:
        raise NotImplementedError(f"host_call: got function {number}, expected one of this process; files do not hold "
                                  "functions")
    with for_good():
        function(tensors)


class Note:
    """What a model of another format does or computes in the place of a function of Python's.

    Parameters
    ----------
    kind : str
        What it is: "print", "assert", or what the writer of the model knows.
    tensors : Sequence[Tensor]
        What it is about.
    **details : Any
        What else is to be told.

    """

    def __init__(self, kind, tensors, **details):
        self.kind, self.tensors, self.details = kind, list(tensors), details
        self.free = {}  # {number of a size: (which result has it, along which axis)}


@scope
def noting(stack):
    """Note within a `with` block what a function that becomes a model does besides computing; gives the notes."""
    notes = []
    stack.set(_local, "notes", notes)
    return notes


@scope
def free_sizes(stack, sizes):
    """Give for a `with` block the sizes that numbers decide, and that no input has.

    Parameters
    ----------
    sizes : Sequence[int]
        One for each; more that are asked for are some number.

    Returns
    -------
    List[FreeSize]
        Those that were asked for: what `with` binds.

    """
    asked = []
    stack.set(_local, "free", (list(sizes), asked))
    return asked


class FreeSize:
    """A size that is known when a model runs.

    Parameters
    ----------
    number : int
        Which one it is.
    value : int
        What it is while the function is captured.

    """

    def __init__(self, number, value):
        self.number, self.value = number, value


def free_size():
    """Return a size of a stand-in that nobody knows before a model runs."""
    sizes, made = _local.free
    made.append(FreeSize(len(made), sizes[len(made)] if len(made) < len(sizes) else 5 + len(made)))
    return made[-1]


def is_noting():
    """Return whether this thread notes what a function that becomes a model does besides computing."""
    return getattr(_local, "notes", None) is not None


def is_writing():
    """Return whether a function is captured here for a model that has notes of what the engine does not compute."""
    return is_noting() and bool(captures()) and is_exporting()


def _keep_note(ops, note):
    """Have the graph call a note: functions are numbered from 1, and notes from -1 on, in every run alike."""
    if note is None:
        raise NotImplementedError("the function calls Python whenever it runs, which a file does not hold; have it "
                                  "compute with tensors alone")
    _local.notes.append(note)
    return ops.host_call([tensor.detach() for tensor in note.tensors], function=-len(_local.notes))


def answer_of(ops, note, size=2):
    """Return what stands for all results of a note: a seed, such as operators that draw numbers take.

    Parameters
    ----------
    ops : dragon._C.Ops
        The face's operators.
    note : Note
        What the model has here.
    size : int, optional, default=2
        How many numbers the seed has.

    Returns
    -------
    Tensor
        It has no numbers: only models make something of it.

    """
    return ops.expand(ops.cast(_keep_note(ops, note), "int64"), (size,))


def stand_ins(ops, note, results):
    """Return tensors that stand for what a model computes and the engine does not.

    Parameters
    ----------
    ops : dragon._C.Ops
        The face's operators.
    note : Note
        What the model has here.
    results : Sequence[Tuple[Sequence[Union[int, FreeSize]], str]]
        Shape and dtype of each result.

    Returns
    -------
    List[Tensor]
        Numbers that a graph draws; which result they stand for is what they are drawn from.

    """
    answer, made = answer_of(ops, note), []
    for place, (shape, dtype) in enumerate(results):
        sizes = tuple(size.value if isinstance(size, FreeSize) else size for size in shape)
        note.free.update({size.number: (place, axis) for axis, size in enumerate(shape) if isinstance(size, FreeSize)})
        if dtype in ("float16", "bfloat16", "float32", "float64"):
            made.append(ops.stateless_uniform(answer, sizes, low=float(place), high=place + 1.0, dtype=dtype))
        else:
            drawn = dtype if dtype == "int32" else "int64"
            drawn = ops.stateless_integers(answer, sizes, low=place, high=place + 1, dtype=drawn)
            made.append(ops.cast(drawn, dtype))
    return made


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
    if is_writing():
        _keep_note(ops, note and note())
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
