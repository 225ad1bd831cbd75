"""Programs that read tensors' numbers: compiled graphs, and the Python between them that depends on the numbers."""
import threading

from dragon.core.capture.procedure import MOST_PLANS, WORTH_A_PLAN, doubt_of, write_down
from dragon.core.interrupts import is_interrupt

MOST_KEYS = 4096  # that are remembered to have come
OTHER_WAY = object()  # what a run returns where the program would have gone another way


class GraphBreaks:
    """What runs a call whose program looks at numbers.

    What lies between two looks is planned; what looks itself (`nonzero`, `x[mask]`) is done operator by operator. Where
    the program would go another way by what it finds, nothing has been changed yet that was there before the call.

    Parameters
    ----------
    procedure : _C.ProcedureParts
        The call as the program asked for it, in parts.
    template : Template
        Of the result; numbers in it may follow what is found.
    axes : List[Tuple[int, int]]
        The axes (tensor, axis) of arguments whose sizes are open.
    like : _C.Capture
        What the call came to when it was written down.
    options : dict
        How plans are made.

    """

    def __init__(self, procedure, template, axes, like, options):
        self.procedure, self.template, self.axes, self._like, self._options = procedure, template, axes, like, options
        self._numbers = [followed.number for followed in template.numbers]
        self._plans = [{} for _ in range(len(procedure))]
        self._times = [{} for _ in range(len(procedure))]
        self._worth = [WORTH_A_PLAN if axes or procedure.is_varying(part) else 1 for part in range(len(procedure))]
        self._lock = threading.Lock()
        self.other_way = None  # why the last run that did not end would have gone another way

    looks = property(lambda self: list(dict.fromkeys(self.procedure.looks)),
                     doc="List[str]: where the program looks at numbers.")
    plans = property(lambda self: [(part, plan) for part, plans in enumerate(self._plans) for plan in plans.values()],
                     doc="List[Tuple[int, Program]]: the plans, and of which part each is.")

    def run(self, tensors, symbols):
        """Return the tensors and numbers of the result, or `OTHER_WAY`.

        Parameters
        ----------
        tensors : List[Tensor]
            The arguments.
        symbols : List[float]
            Numbers that are asked for anew before each run.

        Returns
        -------
        Union[list, object]
            As `Template.fill` takes them.

        """
        run = self.procedure.begin(tensors, symbols)
        for part in range(len(self._plans)):
            key = run.enter(part)
            plan = None if key is None else self._plans[part].get(key) or self._plan(run, part, key)
            if plan is None:
                goes = run.advance(part)
            else:
                goes = run.play(part, plan, symbols)
            if not goes:
                break
        result = run.finish(self._numbers)
        if result is None:
            self.other_way = run.other_way
            return OTHER_WAY
        return result

    def _plan(self, run, part, key):
        times = self._times[part]
        if len(times) >= MOST_KEYS:
            times.clear()
        times[key] = times.get(key, 0) + 1
        if times[key] != self._worth[part]:
            return None
        with self._lock:
            try:
                captured = run.traced(part, self._like)
                plan = captured.compile(**self._options)
                captured.forget()
                run.serve(part, plan)
            except Exception as error:  # what cannot be planned runs operator by operator, as rightly
                if is_interrupt(error):
                    raise
                return None
            plans = self._plans[part]
            plans[key] = plan
            while len(plans) > MOST_PLANS:
                del plans[next(iter(plans))]
        return plan


def make_parts(recording, captured, axes, options):
    """Return what runs a captured call that looked at numbers, or why nothing does.

    Parameters
    ----------
    recording : Recording
        The call.
    captured : _C.Capture
        What it came to.
    axes : Sequence[Tuple[int, int]]
        The axes (tensor, axis) whose sizes are to be open.
    options : dict
        How plans are made.

    Returns
    -------
    Union[GraphBreaks, str]
        The one or the other.

    """
    written = write_down(recording, axes, foretold=True)
    if isinstance(written, str):
        return make_parts(recording, captured, [], options) if axes else written
    procedure, template = written
    fixed = set(procedure.fixed_sizes).intersection(axes)
    if fixed:
        return make_parts(recording, captured, [axis for axis in axes if axis not in fixed], options)
    if template.signature() != recording.template.signature():
        return "its result holds something besides tensors and numbers that follows what it found"
    doubt = doubt_of(procedure, recording.inputs, captured, recording.trace)
    if doubt:
        return doubt
    try:
        return GraphBreaks(procedure.parts(), template, axes, captured, options)
    except RuntimeError as error:
        return str(error)
