"""Watch a call of a module of any face: which of its parts are called, what they give out, which operators they use."""
import contextlib
import threading

from dragon import _C
from dragon.core import modes
from dragon.core.profile import profile_calls
from dragon.core.scopes import contextmanager

_VIEWS = {"reshape", "flatten", "contiguous", "unbind", "chunk", "split"}  # mostly; their parts are not noted apart
_lock = threading.RLock()  # classes are everybody's


class Watched:
    """What was seen.

    Attributes
    ----------
    outputs : Dict[int, Tuple[int, object]]
        By the id of a part: how often it was called, and what it gave out last; in the order of the first calls' ends.
    events : List[Tuple[Tuple[int, ...], str, Sequence[Tuple[int, ...]], int, int]]
        Of each operator that no other one called: the ids of the parts around it, its name, the shapes of its
        tensors, how many numbers its results have, and the bytes that were made anew.

    """

    def __init__(self):
        self.outputs, self.events = {}, []


def watch(module, call):
    """Call a module, without computing where shapes are enough, and return what was seen.

    Parameters
    ----------
    module : dragon.core.module.Module
        The module.
    call : Callable[[], Any]
        Calls it.

    Returns
    -------
    Watched
        What was seen.

    """
    with contextlib.suppress(RuntimeError, NotImplementedError):  # the program looks at numbers
        with _unchanged(module), modes.shapes_only():
            return _watch(module, call)
    with _unchanged(module), modes.no_grad():  # it gets some
        return _watch(module, call)


def complete(module, call):
    """Call a module for real if some of its weights are only made by a first call: they are there to stay.

    Parameters
    ----------
    module : dragon.core.module.Module
        The module.
    call : Callable[[], Any]
        Calls it.

    """
    if any(not getattr(part, "built", True) or getattr(part, "has_uninitialized_params", bool)()
           for part in module.modules()):
        with modes.no_grad():
            call()


@contextmanager
def _unchanged(module):
    """Take from modules, in the end, what a call left on them: tensors without numbers, tables that nobody filled."""
    tables = [vars(part) for part in module.modules()]
    places = tables + [table[name] for table in tables for name in ("_parameters", "_buffers", "_modules")
                       if name in table]
    before = [(place, dict(place)) for place in places]
    try:
        yield
    finally:
        for place, was in before:
            place.clear()
            place.update(was)


def _watch(module, call):
    seen, running, sizes = Watched(), [], {}
    parts = {id(part) for part in module.modules()}
    order = {}

    def around(part, original, args, kwargs):
        running.append(id(part))
        order.setdefault(id(part), None)
        try:
            output = original(part, *args, **kwargs)
        finally:
            running.pop()
        count = seen.outputs.get(id(part), (0, None))[0]
        seen.outputs[id(part)] = (count + 1, output)
        sizes[id(part)] = _first_item_size(output)
        return output
    with _calls_through(module, parts, around):
        noted = profile_calls(call, lambda: ",".join(map(str, running)))
    seen.outputs = {part: seen.outputs[part] for part in order if part in seen.outputs}
    end = -1
    for name, start, stop, is_node, size, shapes, where in sorted(noted, key=lambda event: (event[1], -event[2])):
        if stop <= end and start < end:
            continue  # within the operator before
        end = stop
        path = tuple(map(int, where.split(","))) if where else ()
        itemsize = next((sizes[part] for part in reversed(path) if sizes.get(part)), 4)
        made = 0 if name in _VIEWS or _C.schema(name)["view"] else size
        seen.events.append((path, name, [tuple(shape) for shape in shapes], size // max(itemsize, 1), made))
    return seen


def _first_item_size(output):
    """Return the bytes of an element of the first tensor of a structure; 0 without one."""
    if isinstance(output, _C.Tensor):
        return output.itemsize
    inner = output.values() if isinstance(output, dict) else output if isinstance(output, (list, tuple)) else ()
    return next(filter(None, map(_first_item_size, inner)), 0)


@contextmanager
def _calls_through(module, parts, around):
    """Have this thread's calls of the parts go through a function: faces have no hook in common, but `__call__`."""
    owners = {next(kind for kind in type(part).__mro__ if "__call__" in vars(kind)) for part in module.modules()}
    mine = threading.get_ident()

    def wrap(original):
        def call(self, *args, **kwargs):
            if threading.get_ident() != mine or id(self) not in parts or self in entered:
                return original(self, *args, **kwargs)
            entered.append(self)  # a class's `__call__` may go on to that of its base
            try:
                return around(self, original, args, kwargs)
            finally:
                entered.pop()
        return call
    entered = _Running()
    with _lock:
        before = {kind: vars(kind)["__call__"] for kind in owners}
        try:
            for kind, original in before.items():
                kind.__call__ = wrap(original)
            yield
        finally:
            for kind, original in before.items():
                kind.__call__ = original


class _Running(list):
    """The part whose call is being made, last."""

    def __contains__(self, part):
        return bool(self) and self[-1] is part
