"""One capture: a call that runs as it stands while the engine writes down what it does."""
import time

from dragon import _C
from dragon.core.capture.guards import Guards
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.side_effects import SideEffects
from dragon.core.capture.regions import step_apart
from dragon.core.capture.scopes import Scopes
from dragon.core.capture.settings import begin_capture, captures
from dragon.core.capture.structure import Template
from dragon.core.capture.symbols import SymbolicNumber
from dragon.core.capture.captured_print import CapturedPrint
from dragon.core.parts import parts_of
from dragon.core.scopes import ExitStack


def refusal_of(inputs):
    """Return why tensors cannot be the inputs of a graph, or None."""
    for tensor in inputs or ():
        found = parts_of(tensor)
        if found is not None:
            return f"an argument of layout {found[0].split()[0]}, which is made of other tensors"
    return None


class Recording:
    """A call in progress: the engine's trace, and the numbers that are to be read again before each run."""

    watches_draws = True  # from Python's and NumPy's random states
    may_look = False  # at numbers of tensors, and go on
    tells = False  # whether what it prints, and does outside of Python, is to happen at each call
    rollback = None  # of a call that has been accepted although it changed something in Python: takes that back
    side_effects = None  # who notes what it does outside, where that matters

    def __init__(self, function, args, kwargs, name):
        begin = time.perf_counter()
        self.function, self.args, self.kwargs, self.name = function, args, kwargs, name
        self.guards = Guards(function, args, kwargs, name)
        self.inputs = self.guards.check(args, kwargs)
        self.failure = self.guards.refusal or refusal_of(self.inputs)
        self.symbols, self._numbers = [], []
        self.changes = []
        self.seconds = {"guards": time.perf_counter() - begin}

    def call(self):
        """Call the function; return what it returns."""
        begin = time.perf_counter()
        self.trace = trace = _C.Trace()
        trace.set_place(user_line)
        trace.set_scope(Scopes())
        if self.may_look:
            trace.note_findings()
        for tensor in self.inputs:
            trace.add_input(tensor)
        with ExitStack() as stack:
            step_apart(stack)
            begin_capture(stack, self, trace)
            with ExitStack() as listening:
                self._listen(listening)
                result = self.function(*self.args, **self.kwargs)
            self.met = self.guards.met  # objects that were there before the call
            self.template = Template(result, known=self.met)
        self.seconds["call"] = time.perf_counter() - begin
        self._look_back()
        return result

    def _listen(self, stack):
        """Note what the call does outside, and have what it prints be steps of the graph, where that matters."""
        if self.tells:
            self.side_effects = SideEffects()
            stack.enter(CapturedPrint())
            stack.enter(self.side_effects)

    def symbol(self, value, container, key):
        """Return a number that graphs read from `container[key]` before each run."""
        number = SymbolicNumber(value)
        number.symbol = self.trace.add_symbol(str(key))
        self.symbols.append((container, key))
        self._numbers.append(number)
        return number

    def _look_back(self):
        """Find out what the call did besides computing."""
        self.failure = self.failure or self.trace.failure or self.template.refusal
        drawn = self.guards.drawn() if self.watches_draws else None
        if drawn and not self.failure:
            self.failure = f"it draws random numbers from {drawn}, which is not the engine's"
        counted = self.guards.counted()
        if counted and not self.failure:
            self.failure = f"it takes numbers from {counted}, an iterator (count), which no guard can watch"
        for (container, key), number in zip(self.symbols, self._numbers):
            if not number.is_looked_at:  # else something may depend on what it was
                self.guards.release_entry(container, key)
        self.changes = self.guards.changes()
        after = self.guards.check_arguments(self.args, self.kwargs)
        if self.side_effects is not None and self.side_effects.effect:
            self.changes.append(SideEffect(self.side_effects.effect))
        if isinstance(after, str):
            self.changes.append(_ArgumentChange(after))
        elif any(old is not new for old, new in zip(self.inputs, after)):
            self.changes.append(_ArgumentChange("arguments: hold other tensors than before"))

    def finish(self):
        """Return the engine's captured graph, after the call; or None where `failure` says why there is none."""
        begin = time.perf_counter()
        try:
            self._find_owners()
            captured = self.trace.finish(self.template.tensors)
        except RuntimeError as error:
            self.failure = str(error)
            return None
        if self.failure:
            return None
        self._narrow(captured)
        self.outside = [tensor for _, tensor in self.trace.outside_inputs]
        self.guards.bind(self.args, self.kwargs, self.inputs, self.outside, captured.guarded_grads,
                         captured.placed)
        self.seconds["graph"] = time.perf_counter() - begin
        return captured

    def _narrow(self, captured):
        """Guard only what the code has looked at that the call has run, where that is known."""
        # Whether gradients were there before the call is known to the older guards only.
        if self.side_effects is None or not self.side_effects.codes or self.changes or captured.guarded_grads:
            return
        narrow = Guards(self.function, self.args, self.kwargs, self.name, self.side_effects.codes)
        wide = self.guards.tensors
        if narrow.refusal or any(id(tensor) in wide and id(tensor) not in narrow.tensors
                                 for _, tensor in self.trace.outside_inputs):
            return
        for (container, key), number in zip(self.symbols, self._numbers):
            if not number.is_looked_at:
                narrow.release_entry(container, key)
        self.guards = narrow

    def _find_owners(self):
        """Have aliases of tensors that are watched (`parameter.data`, say) be read from those.

        A tensor that came in on another way might be replaced without any guard noticing.
        """
        watched = self.guards.tensors
        owners = {}
        for number, tensor in self.trace.outside_inputs:
            if id(tensor) in watched:
                continue
            if not owners:
                owners = {_C.memory_key(known): known for known in watched.values()}
            owner = owners.get(_C.memory_key(tensor))
            if owner is None:
                self.failure = (f"it uses a tensor {tuple(tensor.shape)} held where no guard can watch: pass it "
                                "as an argument, or make it an attribute")
                return
            self.trace.set_owner(number, owner)


class _ArgumentChange:
    """A change of an argument that is a list or dictionary: the caller sees it, a graph would not make it."""

    place = check = None

    def __init__(self, text):
        self.text = self.path = text

    def __str__(self):
        return self.text


class SideEffect(_ArgumentChange):
    """Something that the call did outside of Python's objects, and is to do at each call."""


def symbol(container, key):
    """Return `container[key]`, a number; while captured, one that the graph reads again before each run.

    Parameters
    ----------
    container : Union[dict, list]
        Where it stands, for instance a group of an optimizer's parameters.
    key : Any
        Under which name.

    Returns
    -------
    float
        The number.

    """
    try:
        value = container[key]
    except LookupError:
        raise ValueError(f"symbol: got key {key!r}, expected one of the container") from None
    running = captures()
    return running[-1].symbol(value, container, key) if running and isinstance(value, (int, float)) else value
