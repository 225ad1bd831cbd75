"""Guards of a captured graph: checked before each run, and compared after the capture to see what the call changed."""
import enum
import random
import sys
import types

from dragon import _C
from dragon.core.capture.code_names import is_library
from dragon.core.capture.objects import is_filled
from dragon.core.capture.rules import Rules
from dragon.core.capture.structure import ABSENT, ANY, EQUAL, borrowed_by, is_scalar
from dragon.core.capture.dependency_analysis import OURS, Place, DependencyAnalysis, is_array, plain_attribute
from dragon.core.capture.watched_state import ATTRIBUTE, CALL, CELL, CLASS, DICT, KEYS, LIST, TENSOR
from dragon.core.interrupts import is_interrupt

_MISSING, _GLOBAL = object(), object()


class Change:
    """Something that a call has changed besides tensors' numbers: a side effect of the Python code."""

    def __init__(self, place, check, path, text):
        self.place, self.check, self.path, self.text = place, check, path, text

    def __str__(self):
        return f"{self.path}: {self.text}"


class Guards:
    """The things that a graph takes for granted of a function, of all it reaches, and of its arguments.

    Parameters
    ----------
    function : Callable
        What is about to be captured.
    args : tuple
        Its positional arguments.
    kwargs : dict
        Its other arguments.
    name : str, optional, default="function"
        How people call the function.
    executed : Container[types.CodeType], optional
        The code that the call has run, where that is known.

    """

    def __init__(self, function, args, kwargs, name="function", executed=None):
        walk = DependencyAnalysis(function, args, kwargs, name, executed)
        self.refusal = walk.refusal
        self.places = walk.places
        self.tensors = walk.tensors
        self.met = walk.met
        self._kept = list(walk.kept)  # the checker borrows all of these, but no tensor among the arguments
        for form in walk.positional:
            self._kept += borrowed_by(form)
        for key, form in walk.named:
            self._kept += [key, *borrowed_by(form)]
        self._checker = _C.Guards()
        for place in walk.places:
            self._kept += (place.keys, place.checks)
            self._checker.add(place.kind, place.container, place.keys, place.checks)
        self._checker.set_arguments(walk.positional, walk.named)
        self._checker.set_aliases(args, kwargs, ())
        self._random_states = [(state, path, _state_of(state)) for state, path in walk.random_states]
        self._random_states.append((random, "random", random.getstate()))
        if "numpy" in sys.modules:
            self._random_states.append((_GLOBAL, "numpy.random", _state_of(_GLOBAL)))
        self._counters = [(counter, path, repr(counter)) for counter, path in walk.counters]
        self.check = self._checker.check  # (args, kwargs) -> the tensors among them, or None
        given = self._checker.check(args, kwargs) or ()
        self._noted = [walk.noted_on(tensor) for tensor in given]
        self._asked = frozenset(name for name in walk.asked if not all(hasattr(type(one), name) for one in given))
        self._asks_anything, self._asks_of_tensors = walk.asks_anything, walk.asks_of_tensors
        if given and (any(self._noted) or self._asked or self._asks_anything):
            self.check = self._check_notes

    def ask(self, function, path):
        """Take for granted what a function of the engine's returns now, which is asked before each run.

        Parameters
        ----------
        function : Callable
            Called without arguments.
        path : str
            What people read of it.

        """
        place = Place(CALL, function, path)
        place.names.append(path)
        place.checks.append((EQUAL, function()))
        self.places.append(place)
        self._kept += (function, place.keys, place.checks)
        self._checker.add(place.kind, place.container, place.keys, place.checks)

    def __len__(self):
        return sum(len(place.checks) or 1 for place in self.places)

    def _check_notes(self, args, kwargs):
        """Check, and look at attributes that somebody has put on the tensors among the arguments."""
        tensors = self._checker.check(args, kwargs)
        return tensors if tensors is None or self._misnoted(tensors) is None else None

    def _misnoted(self, tensors):
        """Return (which tensor, name) of an attribute that is another one than before, or None."""
        for number, (tensor, noted) in enumerate(zip(tensors, self._noted)):
            fields = getattr(tensor, "__dict__", {})
            if not fields and not noted:
                continue
            for name, value in noted.items():
                now = fields.get(name, _MISSING)
                if now is not value and not (is_scalar(value) and type(now) is type(value) and now == value):
                    return number, name
            for name in fields if self._asks_anything else self._asked.intersection(fields):
                if name not in noted and not name.startswith(OURS):
                    return number, name
        return None

    # --- after the capture

    def drawn(self):
        """Return the name of a random state of Python's or NumPy's that was drawn from since, or None."""
        for state, path, before in self._random_states:
            if not _same_state(_state_of(state), before):
                return path
        return None

    def counted(self):
        """Return the name of an `itertools.count` that a number was taken from since, or None."""
        return next((path for counter, path, before in self._counters if repr(counter) != before), None)

    def changes(self):
        """Return what is not as it was when these guards were made.

        Returns
        -------
        List[Change]
            One for each entry.

        """
        found = [Change(place, check, *self._describe(place, check)) for place, check in self._checker.changes()]
        switched = self._checker.switches_changed
        return found + [Change(None, None, "switch", switched)] if switched else found

    def check_arguments(self, args, kwargs):
        """Return the tensors among the arguments, or how the arguments differ from what they were."""
        return self._checker.check_arguments(args, kwargs)

    def open_sizes(self, axes):
        """Let these axes of tensor arguments, and no others, have any size.

        Parameters
        ----------
        axes : Sequence[Tuple[int, int]]
            The number of the tensor, and the axis.

        """
        self._checker.open_sizes(list(axes))

    def sizes_of(self, tensors):
        """Return the sizes of these axes.

        Parameters
        ----------
        tensors : List[Tensor]
            As a check has returned them.

        Returns
        -------
        Tuple[int, ...]
            One for each open axis.

        """
        return self._checker.sizes_of(tensors)

    def fits(self, args, kwargs, axes):
        """Return whether a call would pass if these axes were open instead of those that are.

        Parameters
        ----------
        args : tuple
            The arguments.
        kwargs : dict
            The other arguments.
        axes : Sequence[Tuple[int, int]]
            The number of the tensor, and the axis.

        Returns
        -------
        bool
            Nothing is changed.

        """
        tensors = self._checker.check(args, kwargs, list(axes))
        return tensors is not None and self._misnoted(tensors) is None

    def release(self, place, check=-1):
        """Let an entry be whatever it is from now on."""
        if self.places[place].kind == TENSOR:
            check = -1
        self._checker.release(place, check)

    def release_users(self):
        """Let the objects of the user's, and what their code names, be whatever they are from now on.

        What libraries and faces keep goes on to be watched, and so do tensors.
        """
        switches = {name for name, _, _ in Rules.globals}
        kept = [place.path + "." for place in self.places if place.is_library]
        for number, place in enumerate(self.places):
            if place.kind not in (TENSOR, CALL) and not place.is_library and place.path not in switches and not any(
                    place.path.startswith(path) for path in kept):
                self._checker.release(number, -1)

    def release_entry(self, container, key):
        """Let `container[key]` be whatever it is, where it is watched."""
        for number, place in enumerate(self.places):
            if place.container is container and key in place.keys:
                self._checker.release(number, place.keys.index(key))

    def bind(self, args, kwargs, arguments, implicit, watched_grads=(), placed=()):
        """Keep only what a capture has used, once it is known.

        Parameters
        ----------
        args : tuple
            The arguments.
        kwargs : dict
            The other arguments.
        arguments : Sequence[Tensor]
            The tensors among them.
        implicit : Sequence[Tensor]
            Tensors that the function has reached by itself.
        watched_grads : Sequence[Tensor]
            Those whose `grad` the function reads or writes.
        placed : Sequence[Tensor]
            Those whose place in their memory it looks at.

        """
        self.met = frozenset()  # the call is over
        used = {id(tensor) for tensor in implicit}
        self._kept += [list(implicit), list(watched_grads)]
        for tensor in implicit:
            if id(tensor) not in self.tensors:
                place = Place(TENSOR, tensor, "a tensor from outside")
                self.places.append(place)
                self._checker.add(TENSOR, tensor)
        for number, place in enumerate(self.places):
            if place.kind == TENSOR and id(place.container) not in used and not self._asks_of_tensors:
                self._checker.release(number)
        self._checker.set_aliases(args, kwargs, list(implicit))
        self._checker.watch_grads(list(watched_grads))
        fixed = {id(tensor) for tensor in placed}
        self._checker.fix_places([number for number, tensor in enumerate(arguments) if id(tensor) in fixed],
                                 [tensor for tensor in implicit if id(tensor) in fixed])
        watched = {id(tensor) for tensor in watched_grads}
        self._checker.watch_argument_grads([number for number, tensor in enumerate(arguments) if id(tensor) in watched])

    # --- for people

    def failure(self, args, kwargs):
        """Return which guard a check fails at, with its old and new value.

        Returns
        -------
        str
            For instance "self.layers[2].training: was True, now False".

        """
        failed = self._checker.failure(args, kwargs)
        if failed is None:
            tensors = self._checker.check(args, kwargs)
            noted = None if tensors is None else self._misnoted(tensors)
            return "nothing" if noted is None else f"arguments: attribute {noted[1]} of tensor {noted[0]} is another"
        if failed[0] == "place":
            return "{}: {}".format(*self._describe(failed[1], failed[2]))
        return failed[1]

    def _describe(self, number, check):
        """Return (path, difference) of an entry."""
        place = self.places[number]
        if place.kind == TENSOR:
            return place.path, self._checker.tensor_difference(number)
        if check < 0:
            return place.path, self._structure_change(place)
        mode, expected = place.checks[check]
        now = self._now(place, check)
        was = "missing" if mode == ABSENT else _text(expected)
        now = "missing" if now is _MISSING else _text(now)
        return place.names[check], f"was {was}, now {'another ' if was == now else ''}{now}"

    def _structure_change(self, place):
        now = place.container
        if place.kind == DICT:
            keys = list(dict.keys(now))  # whatever a subclass's own methods make of them
            gone = [key for key in place.keys if not dict.__contains__(now, key)]
            new = [key for key in keys if not any(key is known or key == known for known in place.keys)]
            parts = [f"{word} {', '.join(map(_text, keys))}"
                     for word, keys in (("without", gone), ("with new", new)) if keys]
            return f"had {len(place.keys)} entries, now {' and '.join(parts) or 'in another order'}"
        if place.kind == LIST:
            return f"had {len(place.checks)} entries, now {list.__len__(now)}"
        return f"was {_text(place.checks[0][1])}, now {_text(now)}"

    @staticmethod
    def _now(place, check):
        holder, kind = place.container, place.kind
        if kind == CELL:
            return getattr(holder, "cell_contents", _MISSING) if is_filled(holder) else _MISSING
        if kind == CALL:
            return holder()
        if kind == LIST:
            return list.__getitem__(holder, check)
        if kind == ATTRIBUTE:
            return getattr(holder, place.keys[check], _MISSING)
        if kind in (DICT, KEYS, CLASS):
            return dict.get(dict(holder.__dict__) if kind == CLASS else holder, place.keys[check], _MISSING)
        return holder

    def lines(self):
        """Return every guard as a line of text."""
        lines = []
        for place in self.places:
            if place.kind == TENSOR:
                lines.append(f"{place.path}: a tensor of the same form")
            for name, (mode, expected) in zip(place.names, place.checks):
                if mode != ANY:
                    lines.append(f"{name}: " + ("missing" if mode == ABSENT else _text(expected)))
        return lines


def _text(value):
    """Return a short description of a value; tensors by their form, since their numbers are nobody's business."""
    if isinstance(value, _C.Tensor):
        return f"{type(value).__name__}{tuple(value.shape)}"
    if isinstance(value, types.ModuleType):
        return f"<module {value.__dict__.get('__name__')}>"
    if callable(value):
        name = plain_attribute(value.__func__ if isinstance(value, types.MethodType) else value, "__qualname__")
        return name if isinstance(name, str) else type(value).__name__
    for kind in (dict, list, tuple, set):
        if isinstance(value, kind) and (type(value) is not kind or kind.__len__(value) > 8):
            return f"{type(value).__name__} of {kind.__len__(value)}"
    try:
        text = repr(value) if _tells_itself(value) else f"<{type(value).__name__}>"
    except Exception as error:  # a user's repr may do anything
        if is_interrupt(error):
            raise
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 100 else text[:97] + "..."


def _tells_itself(value):
    """Return whether a value's `repr` does nothing else; those of strangers' objects may load whole libraries."""
    if isinstance(value, (list, tuple, set)):
        return all(map(_tells_itself, value))
    if isinstance(value, dict):
        return all(map(_tells_itself, value)) and all(map(_tells_itself, value.values()))
    return is_scalar(value) or isinstance(value, enum.Enum) or (
        is_library(type(value).__module__))


def _state_of(state):
    if isinstance(state, random.Random) or state is random:
        return state.getstate()
    if state is _GLOBAL:
        return sys.modules["numpy"].random.get_state(legacy=False)
    return state.get_state(legacy=False) if hasattr(state, "get_state") else state.bit_generator.state


def _same_state(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same_state(a[key], b[key]) for key in a)
    return a.tobytes() == b.tobytes() if is_array(a) else a == b
