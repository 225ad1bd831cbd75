"""One capture for all sizes: the call is written down as the program asks for it, and done again for other sizes."""
import contextlib
import threading

from dragon import _C
from dragon.core import modes
from dragon.core.capture.suppress_output import SuppressOutput
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.regions import step_apart
from dragon.core.capture.rollback import made_again
from dragon.core.capture.settings import begin_capture
from dragon.core.capture.sizes import Quantity, Size
from dragon.core.capture.structure import Template
from dragon.core.capture.symbols import SymbolicNumber
from dragon.core.capture.captured_print import CapturedPrint
from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import ExitStack

OPEN_AXES = "_dragon_open_axes"  # an attribute of tensors: {axis: (smallest, largest)} of sizes that vary
IS_VARIABLE = "_dragon_is_variable"  # an attribute of classes whose objects are read by calls, which make copies
MOST_PLANS = 32  # of one capture; sizes beyond these run operator by operator, or take the place of the oldest
MOST_SIZES = 4096  # that are remembered to have come
WORTH_A_PLAN = 2  # how often sizes come before they get one

_C.set_size_classes(Size, Quantity)


class _Dictation:
    """A call that makes shapes only, of which somebody writes down what the program asks for."""

    def __init__(self, trace, scribe, is_trace, tells):
        self.trace, self.scribe, self.is_trace, self.tells = trace, scribe, is_trace, tells
        self.fixed = {}  # number -> where the program took it for a plain one

    def symbol(self, value, container, key):
        number = SymbolicNumber(value)
        number.symbol = self.trace.add_symbol(str(key))
        self.scribe.add_symbol(str(key))
        return number


class Sized:
    """What runs a call for each size of some axes of its arguments.

    Sizes that come for the first time are tried over tensors without numbers: what was decided by sizes must be decided
    alike. Then the call runs operator by operator, and from the second time on as a plan.

    Parameters
    ----------
    procedure : _C.Procedure
        The call as the program asks for it.
    template : Template
        Of the result; numbers in it may follow sizes.
    axes : List[Tuple[int, int]]
        The axes (tensor, axis) whose sizes are open.
    like : _C.Capture
        What it came to at the sizes at which it was written down.
    options : dict
        How plans are made.

    """

    def __init__(self, procedure, template, axes, like, options):
        self.procedure, self.template, self.axes, self._like, self._options = procedure, template, axes, like, options
        self._wanted = [followed.number for followed in template.numbers]
        self._plans, self._times, self._numbers = {}, {}, {}
        self.bounds = {}  # by axis: the smallest and the largest size, or None
        self.older = None  # what plans of an older graph ask for gradients of gradients
        self._lock = threading.Lock()

    sizes = property(lambda self: list(self._plans), doc="List[Tuple[int, ...]]: those for which there are plans.")
    conditions = property(lambda self: self.procedure.conditions, doc="List[str]: what the program decided by sizes.")

    def add_plan(self, sizes, plan):
        """Note what runs the call at these sizes."""
        self._plans[sizes] = plan
        while len(self._plans) > MOST_PLANS:
            del self._plans[next(iter(self._plans))]

    def holds(self, sizes, tensors):
        """Return whether the program would ask for the same at these sizes.

        Parameters
        ----------
        sizes : Tuple[int, ...]
            Of the open axes.
        tensors : List[Tensor]
            The arguments.

        Returns
        -------
        bool
            False as well where it would fail.

        """
        if sizes in self._plans:
            return True
        times = self._times.get(sizes)
        if times is None:
            if len(self._times) >= MOST_SIZES:
                self._times.clear()
                self._numbers.clear()
            self._times[sizes] = times = -1 if self.refusal_of(tensors) else 0
        return times >= 0

    def refusal_of(self, tensors):
        """Return why this does not hold for arguments; empty if it does."""
        for (number, axis), (low, high) in self.bounds.items():
            size = tensors[number].shape[axis]
            if size < low or (high is not None and size > high):
                return f"size {axis} of argument {number} is not between {low} and {high}"
        return self.procedure.refusal(tensors)

    def run(self, sizes, tensors, symbols):
        """Return the tensors and numbers of the result for arguments for which this holds.

        Parameters
        ----------
        sizes : Tuple[int, ...]
            Of the open axes.
        tensors : List[Tensor]
            The arguments.
        symbols : List[float]
            Numbers that are asked for anew before each run.

        Returns
        -------
        list
            As `Template.fill` takes them.

        """
        if not self._wanted:
            return self._tensors(sizes, tensors, symbols)
        numbers = self._numbers.get(sizes)
        if numbers is None:
            self._numbers[sizes] = numbers = self.procedure.numbers_at(tensors, self._wanted)
        return self._tensors(sizes, tensors, symbols) + numbers

    def _tensors(self, sizes, tensors, symbols):
        plan = self._plans.get(sizes) or self._plan_at(sizes, tensors)
        if plan is None:
            try:
                return self.procedure.run(tensors, symbols)
            except Exception:  # numbers that an operator refuses; a plan has no eye for those that nobody needs
                self._times[sizes] = WORTH_A_PLAN
                raise
        made = plan.run(tensors, symbols)
        return self.procedure.run(tensors, symbols) if made is None else made  # None: one lies in another way now

    def _plan_at(self, sizes, tensors):
        times = self._times[sizes] = self._times.get(sizes, 0) + 1
        if times != WORTH_A_PLAN:
            return None
        with self._lock:
            try:
                captured = self.procedure.traced(tensors, self._like)
                plan = captured.compile(**self._options)
                captured.forget()
            except Exception as error:  # what cannot be planned runs operator by operator, as rightly
                if is_interrupt(error):
                    raise
                return None
            self.procedure.serve(plan)
            self.add_plan(sizes, plan)
        return plan


def differing_axes(old, new):
    """Return where the shapes of two calls' arguments differ, or None where not in sizes only.

    Parameters
    ----------
    old : Sequence[tuple]
        The shapes of the tensors among the arguments.
    new : Sequence[tuple]
        The same, of another call.

    Returns
    -------
    Optional[List[Tuple[int, int]]]
        (number, axis) of each size.

    """
    if len(old) != len(new) or any(len(one) != len(other) for one, other in zip(old, new)):
        return None
    return [(number, axis) for number, (one, other) in enumerate(zip(old, new))
            for axis, sizes in enumerate(zip(one, other)) if sizes[0] != sizes[1]]


def asked_axes(inputs, dynamic):
    """Return the axes whose sizes are to be open from the first call on.

    Parameters
    ----------
    inputs : Sequence[Tensor]
        The arguments.
    dynamic : Optional[bool]
        Whether all are, but those of size 1, which are there to be broadcast.

    Returns
    -------
    Tuple[List[Tuple[int, int]], dict]
        (tensor, axis) of each; and of those that somebody has marked the smallest and largest size.

    """
    marked = {(number, axis): bounds for number, tensor in enumerate(inputs)
              for axis, bounds in getattr(tensor, OPEN_AXES, {}).items()}
    axes = {(number, axis) for number, tensor in enumerate(inputs) for axis in range(tensor.ndim)
            if dynamic and tensor.shape[axis] > 1 and tensor.is_contiguous()}
    return sorted(axes | set(marked)), marked


def as_given(inputs):
    """Return tensors without numbers like these, of which the same is the same; variables are what they are."""
    chosen = []
    for number, tensor in enumerate(inputs):
        if getattr(type(tensor), IS_VARIABLE, False):
            chosen.append(tensor)
            continue
        first = next((n for n, other in enumerate(inputs[:number]) if other is tensor), None)
        chosen.append(chosen[first] if first is not None else _C.phantom_like(tensor, tuple(tensor.shape)))
    return chosen


def write_down(recording, axes, foretold=False, is_trace=False):
    """Return the procedure of a call that has just been made, and the result's template.

    The function runs once more, over tensors without numbers, with sizes that know how they came about.

    Parameters
    ----------
    recording : Recording
        The call.
    axes : Sequence[Tuple[int, int]]
        The axes (tensor, axis) whose sizes are to be open.
    foretold : bool, optional, default=False
        Whether it may look at numbers: it is told what the call found.
    is_trace : bool, optional, default=False
        Whether the call becomes a graph that stands for itself.

    Returns
    -------
    Union[tuple, str]
        (procedure, Template); or why there is none.

    """
    arguments = Template((recording.args, recording.kwargs), merge=False)
    if len(arguments.tensors) != len(recording.inputs):
        return "its arguments hold tensors that no guard sees"
    opened = {number for number, _ in axes}
    if any(not recording.inputs[number].is_contiguous() for number in opened):
        return "an argument whose size varies is not contiguous"
    chosen = as_given(recording.inputs)
    trace, scribe = _C.Trace(), _C.Scribe()
    if foretold:
        trace.foretell(recording.trace)
    scribe.set_place(user_line)
    for number, tensor in enumerate(chosen):
        trace.add_input(tensor)
        scribe.add_argument(tensor, [axis for other, axis in axes if other == number])
    args, kwargs = arguments.fill(chosen)
    # Between looks nothing may happen that cannot be taken back.
    tells = getattr(recording, "tells", False) and not foretold
    dictation = _Dictation(trace, scribe, is_trace, tells)
    with ExitStack() as stack:
        stack.callback(trace.restore_gradients)
        stack.switch(modes.set_phantom, True)
        step_apart(stack)
        begin_capture(stack, dictation, trace)
        stack.callback(scribe.stop)
        scribe.start()
        try:
            with SuppressOutput() as hushed, CapturedPrint() if tells else contextlib.nullcontext(), made_again(
                    getattr(recording, "rollback", None)):
                template = Template(recording.function(*args, **kwargs), known=recording.met)
        except Exception as error:  # it may do anything with tensors that hold no numbers
            if is_interrupt(error):
                raise
            return trace.failure or scribe.failure or f"{type(error).__name__}: {error}"
    recording.fixed = list(dictation.fixed.values())
    if foretold and hushed.wanted:
        return "it prints, or writes to a log, which it is to do at each call"
    if trace.unfound > 0:
        return "without numbers, it looks at fewer of them"
    try:
        return trace.failure or (_C.finish_procedure(scribe, template.tensors), template)
    except RuntimeError as error:
        return str(error)


def make_sized(recording, captured, axes, signature, options):
    """Return what runs a captured call for all sizes of some axes, or why nothing does.

    Parameters
    ----------
    recording : Recording
        The call.
    captured : _C.Capture
        What it came to.
    axes : Sequence[Tuple[int, int]]
        The axes (tensor, axis) whose sizes are to be open.
    signature : tuple
        Of the result's template.
    options : dict
        How plans are made.

    Returns
    -------
    Union[Sized, str]
        The one or the other; its `axes` are those that are open indeed.

    """
    written = write_down(recording, axes)
    if isinstance(written, str):
        return written
    procedure, template = written
    fixed = set(procedure.fixed_sizes)
    if fixed.intersection(axes):
        left = [axis for axis in axes if axis not in fixed]
        if left:
            return make_sized(recording, captured, left, signature, options)
        names = ", ".join(f"size {axis} of argument {number}" for number, axis in axes)
        return f"it takes {names} for plain numbers{' at ' if recording.fixed else ''}{''.join(recording.fixed[:1])}"
    if template.signature() != signature:
        return "its result holds something besides tensors and numbers that follows sizes"
    doubt = doubt_of(procedure, recording.inputs, captured)
    return doubt or Sized(procedure, template, axes, captured, options)


def doubt_of(procedure, inputs, captured, foretold=None):
    """Return why a procedure is not the call that it was written down from, or an empty text.

    Parameters
    ----------
    procedure : _C.Procedure
        The call as the program asks for it.
    inputs : Sequence[Tensor]
        Its arguments.
    captured : _C.Capture
        What it came to.
    foretold : _C.Trace, optional
        Of a call that looks at numbers, the trace that noted what it found.

    Returns
    -------
    str
        Where it differs, done again at the same sizes.

    """
    try:
        difference = _C.difference(captured, procedure.traced(inputs, captured, foretold), foretold is None)
    except Exception as error:  # what was not written down may be missing anywhere
        if is_interrupt(error):
            raise
        return f"done again, it fails: {error}"
    return f"done again, it differs: {difference}" if difference else ""
