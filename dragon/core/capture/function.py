"""`dragon.function`: calls of a Python function that run as one optimised graph."""
import functools
import inspect
import types
import weakref

from dragon.core import modes
from dragon.core.capture import report
from dragon.core.capture.retrace import Retrace
from dragon.core.capture.source_lines import definition
from dragon.core.capture.graph_breaks import OTHER_WAY, make_parts
from dragon.core.capture.procedure import asked_axes, differing_axes, make_sized
from dragon.core.capture.recording import Recording, SideEffect
from dragon.core.capture.regions import LEAST, LEAST_RECORDED, REGION_GRAPHS, Regions, call_in_place
from dragon.core.capture.rollback import Rollback
from dragon.core.capture.settings import check_level, is_capturing, is_eager, settings, warn
from dragon.core.capture.variant import Variant
from dragon.core.graph import Graph
from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import ExitStack
from dragon.core.thread_state import Turn

VARIANTS = 64  # graphs of one function, before it is said that something in it changes all the time
ATTEMPTS = 8  # captures in vain, before a function is left alone
SIZED = 8  # graphs for all sizes of one function, each for sizes by which it decides otherwise
RETRIES = 3  # calls that may change something in Python, or are no graph for one reason, before no more are tried


class Function:
    """A function whose calls run as graphs; made by `dragon.function`.

    Any number of threads may call: each looks through the graphs that there are without a lock, since neither a list of
    graphs nor a graph is changed once it is there. One thread at a time makes another graph.
    """

    may_wait = False  # whether a call waits while another thread makes a graph, or runs as plain Python meanwhile
    is_trace = False  # captured as an example of what is to come, rather than to be faster
    watches_draws = True  # whether draws from Python's and NumPy's random states mean that a call is no graph
    may_look = True  # whether the program may look at numbers of tensors

    def __init__(self, function, level=None, skip=(), dynamic=None, name=None, effects="once", strict=False,
                 limit=VARIANTS, cuda_graphs=False):
        self._function = function
        self._level = check_level(level, "dragon.function")
        self._skip = tuple(skip)
        self._dynamic, self._effects, self._strict, self._limit = dynamic, effects, strict, limit
        self._cuda_graphs = bool(cuda_graphs)
        functools.update_wrapper(self, function, updated=())
        self.__name__ = name or getattr(function, "__name__", type(function).__name__)
        self._parameters = _parameters_of(function)
        self._turn = Turn()  # to make a graph
        self.clear()

    def clear(self):
        """Forget all graphs, and that some call could not be captured."""
        with ExitStack() as stack:
            self._turn.take(stack)
            self._variants, self._retraces = [], []
            self._epoch, self._attempts, self._tries, self._ways = settings.epoch, 0, 0, 0
            self._in_vain, self._runs = 0, 0  # calls in a row that no graph has fitted; how often graphs have run
            self._refusals = {}  # why a call was no graph: how often
            self._off = None  # why the function is left alone
            self._warned = set()
            self._sizes_fixed = None  # why graphs are for one size each
            self._unsettled = None  # what the last call changed in Python, so that the next one is captured instead
            self._regions = None  # of a function that is left alone, the modules that it calls
            self._is_barren = False  # whether none of them is a graph

    # --- calls

    def __call__(self, *args, **kwargs):
        if self._off is not None and self._is_barren or is_capturing() or is_eager():
            return self._function(*args, **kwargs)
        if self._off is not None:
            return self._run_plainly(args, kwargs)
        if self._epoch != settings.epoch and self._level is None:
            self._begin_anew()
        if kwargs and self._parameters:
            args, kwargs = _positional(self._parameters, args, kwargs)
        while True:
            variants = self._variants
            for number, variant in enumerate(variants):
                tensors = variant.check(args, kwargs)
                if tensors is not None:
                    if number and self._variants is variants:  # the next call is probably like this one
                        variants = self._variants = [variant, *(one for one in variants if one is not variant)]
                    result = self._run_plainly(args, kwargs) if variant.reason else variant.run(tensors)
                    if result is not OTHER_WAY:
                        return result
            with ExitStack() as stack:
                if not self._turn.take(stack, self._waits):
                    break  # who waits here might be waited for by what is captured
                if self._variants is variants:
                    return self._capture(args, kwargs)
        return self._function(*args, **kwargs)

    _waits = property(lambda self: self.may_wait or self._strict or self.is_trace)

    def _begin_anew(self):
        # Graphs that were made under other settings are forgotten, unless another thread is making one.
        with ExitStack() as stack:
            if self._turn.take(stack, self._waits) and self._epoch != settings.epoch:
                self.clear()

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<dragon.function {self.__name__}: {len(self._variants)} variants>"

    def _capture(self, args, kwargs):
        """Call the function while its graph is written, in this thread's turn; keep it if it says all that was done."""
        self._note_retrace(args, kwargs)
        if settings.stance != "default" and self._variants:
            if settings.stance == "fail_on_recompile":
                raise RuntimeError(f"{self.__name__}: got a call that no graph fits, expected none: "
                                   f"{self._retraces.pop() if self._retraces else self.fallback}")
            return self._function(*args, **kwargs)
        if len(self._variants) >= self._limit and self._are_vain():
            return self._run_plainly(args, kwargs)
        if sum(variant.sized is not None for variant in self._variants) >= SIZED:
            self._say_once("sizes", f"{self.__name__} ({definition(self._function)}) decides by sizes in more than "
                           f"{SIZED} ways; at others it runs as plain Python: {self._retraces[-1]}")
            return self._run_plainly(args, kwargs)
        if sum(variant.parts is not None for variant in self._variants) >= SIZED:
            self._ways += 1
            if self._ways >= RETRIES:
                self._turn_off(f"it goes on by what it finds in tensors in more than {SIZED} ways: "
                               f"{self._retraces[-1]}")
            return self._run_plainly(args, kwargs)
        recording = Recording(self._function, args, kwargs, _root_name(self._function, self.__name__))
        if recording.inputs is None:  # another thread has changed what was looked at only now
            return self._function(*args, **kwargs)
        recording.is_trace, recording.watches_draws = self.is_trace, self.watches_draws
        recording.may_look = self.may_look and not (self._strict or self.is_trace)
        recording.tells = self._effects == "retry"
        if recording.failure:
            self._give_up(recording, recording.failure)
            return self._run_plainly(args, kwargs)
        result = recording.call()
        if recording.failure:
            self._give_up(recording, recording.failure)
        elif recording.changes and not self._accepts(recording):
            pass
        else:
            self._keep(recording, args, kwargs)
        return result

    def _are_vain(self):
        """Return whether most graphs were never used again, so that no more are made; where none is, look no more."""
        if 2 * sum(not variant.calls for variant in self.variants) <= len(self._variants):
            return False
        last, runs = self._retraces.pop(), sum(variant.calls for variant in self.variants)
        self._in_vain, self._runs = self._in_vain + 1 if runs == self._runs else 0, runs
        message = f"something in it changes all the time; the last graph would have been made because of: {last}"
        self._say_once("limit", f"{self.__name__} ({definition(self._function)}): more than {self._limit} graphs; "
                       f"calls that none of them fits run as plain Python: {message}")
        if self._in_vain >= self._limit:
            self._off = f"more than {self._limit} graphs: {message}"
        return True

    def _run_plainly(self, args, kwargs):
        regions = self._regions
        if regions is None:
            regions = self._regions = Regions(self, self._region)
        result = regions.run(self._function, args, kwargs)
        self._is_barren = regions.is_barren
        return result

    def _region(self, module, regions):
        """Return what is called in the place of a module that this function calls while it is left to Python."""
        return Region(module, regions, level=self._level, skip=self._skip, dynamic=self._dynamic,
                      cuda_graphs=self._cuda_graphs)

    def _is_worth(self, recording, captured):
        """Return whether a graph is kept."""
        return True

    def _keep(self, recording, args, kwargs):
        self._unsettled = None
        captured = recording.finish()
        if captured is None:
            return self._give_up(recording, recording.failure)
        if not self._is_worth(recording, captured):
            return None
        variant = Variant(recording)
        level = settings.level if self._level is None else self._level
        options = {"level": level, "forward_level": min(level, 2), "skip": set(self._skip),
                   "device_graphs": self._cuda_graphs}
        if recording.trace.first_look:
            return self._keep_parts(recording, variant, captured, options, args, kwargs)
        try:
            variant.compile(captured, **options)
        except Exception as error:  # a graph that cannot be compiled must not keep the function from running
            if is_interrupt(error):
                raise
            return self._give_up(recording, str(error))
        if not recording.changes:
            variant.retrace = Retrace(recording, captured)
            variant.retrace.serve(variant.compiled)
        merged = self._open_sizes(recording, variant, options, args, kwargs)
        captured.forget()
        self._add(variant, merged)

    def _keep_parts(self, recording, variant, captured, options, args, kwargs):
        """Keep a call that looked at numbers, in parts."""
        axes, covered = [], None
        if self._dynamic is not False and not recording.changes:
            axes, _ = asked_axes(recording.inputs, self._dynamic)
            for older in self.variants:
                found = self._differing(older, variant, args, kwargs) if older.parts is not None else None
                if found:
                    axes, covered = sorted({*axes, *found}), older
                    break
        parts = make_parts(recording, captured, axes, options)
        variant.captured = captured
        captured.drop()
        if isinstance(parts, str):
            return self._give_up(recording, f"{recording.trace.first_look}; {parts}")
        variant.look(parts)
        return self._add(variant, covered if covered is not None and set(axes) <= set(parts.axes) else None)

    def _differing(self, older, variant, args, kwargs):
        """Return the open axes of an older variant and those where a new one differs; None where not in sizes only."""
        differing = differing_axes(older.shapes, variant.shapes)
        if not differing:
            return None
        axes = sorted({*older.axes, *differing})
        return axes if older.guards.fits(args, kwargs, axes) else None

    def _add(self, variant, merged=None):
        self._variants = [variant, *(other for other in self._variants if other is not merged)]
        if len(self._variants) > self._limit:
            del self._variants[self._limit:]
            self._say_once("limit", f"{self.__name__} ({definition(self._function)}): more than {self._limit} graphs; "
                           f"the oldest are dropped. The last ones were made because of: {self._retraces[-1]}")

    def _open_sizes(self, recording, variant, options, args, kwargs):
        """Let a variant serve all sizes in which older ones differ from it; return one that it makes superfluous."""
        if self._dynamic is False or recording.changes and recording.rollback is None:
            return None
        for older in self.variants:
            if older.parts is not None or older.form != variant.form:
                continue
            axes = self._differing(older, variant, args, kwargs)
            if axes is None:
                continue
            sized = make_sized(recording, variant.captured, axes, variant.signature, options)
            if isinstance(sized, str):
                self._sizes_fixed = sized
                continue
            covered = older.sized is None and set(axes) <= {*older.axes, *sized.axes}
            sized.add_plan(variant.sizes_of(sized.axes), variant.compiled)
            if covered and not sized.template.numbers:  # a plan says nothing of numbers in the result
                sized.add_plan(older.sizes_of(sized.axes), older.compiled)
                sized.older = older.retrace
            variant.serve_sizes(sized)
            return older if covered else None
        asked, bounds = asked_axes(recording.inputs, self._dynamic)
        sized = make_sized(recording, variant.captured, asked, variant.signature, options) if asked else None
        if isinstance(sized, str):
            self._sizes_fixed = sized
            if bounds:
                self._say_once("marked", f"{self.__name__} ({definition(self._function)}) has a graph for one size of "
                               f"what was marked as dynamic: {sized}")
        elif sized is not None:
            sized.bounds = bounds
            sized.add_plan(variant.sizes_of(sized.axes), variant.compiled)
            variant.serve_sizes(sized)
        return None

    # --- calls that are no graph

    def _accepts(self, recording):
        """Return whether a graph is kept although the call changed something in Python."""
        what = "; ".join(map(str, recording.changes[:3]))
        look = recording.trace.first_look
        if self._effects == "once" and not look:
            self._say_once("effects", f"{self.__name__} ({definition(self._function)}) changes something besides "
                           f"tensors, which happens only while it is captured: {what}")
            for change in recording.changes:
                if change.place is not None:
                    recording.guards.release(change.place, change.check)
            rollback = self._rollback(recording)
            recording.rollback = rollback if rollback.is_whole else None
            return True
        self._tries += 1
        if self._tries >= RETRIES:
            deeds = [str(change) for change in recording.changes if isinstance(change, SideEffect)]
            what = f"{deeds[0]}, which is to happen at each call" if deeds else f"each call changes {what}"
            self._turn_off(f"{look}; {what}" if look else what)
        else:
            self._unsettled = what
        return False

    def _rollback(self, recording):
        """Return what takes back what a call has changed, where it is made again."""
        return Rollback(recording.guards, recording.changes)

    def _give_up(self, recording, reason):
        self._attempts += 1
        message = f"{self.__name__} ({definition(self._function)}) runs as plain Python, not as a graph: {reason}"
        if self._strict:
            raise RuntimeError(message)
        self._say_once("eager", message)
        self._refusals[reason] = self._refusals.get(reason, 0) + 1
        if recording.changes or self._attempts >= ATTEMPTS or self._refusals[reason] >= RETRIES:
            self._off = reason
        else:
            self._variants = [*self._variants, Variant(recording, reason)]

    def _turn_off(self, reason):
        self._off = reason
        message = f"{self.__name__} ({definition(self._function)}) runs as plain Python, not as a graph: {reason}"
        if self._strict:
            raise RuntimeError(message)
        self._say_once("eager", message)

    def _say_once(self, kind, message):
        if kind not in self._warned:
            self._warned.add(kind)
            warn(message)

    def _note_retrace(self, args, kwargs):
        graphs = [variant for variant in self._variants if variant.reason is None]
        if graphs:
            self._retraces.append(graphs[0].failure(args, kwargs))

    # --- questions

    variants = property(lambda self: [variant for variant in self._variants if variant.reason is None],
                        doc="List[Variant]: graphs and what they take for granted, the last used first.")
    graphs = property(lambda self: [Graph(variant.graph) for variant in self.variants],
                      doc="List[Graph]: the graphs, the last used first.")

    @property
    def graph(self):
        """Graph: the one that was used last."""
        if not self.variants:
            raise RuntimeError(f"{self.__name__}.graph: got no graph, expected a call before"
                               + (f"; it runs as plain Python: {self.fallback}" if self.fallback else ""))
        return Graph(self.variants[0].graph)

    @property
    def retraces(self):
        """List[str]: for each graph after the first, which guard failed, with the old and the new value."""
        return list(self._retraces)

    regions = property(lambda self: self._regions,
                       doc="Optional[Regions]: of a function that is left to Python, the modules that it calls.")
    has_effects = property(lambda self: "effects" in self._warned,
                           doc="Whether calls change something besides tensors.")

    @property
    def fallback(self):
        """Optional[str]: why calls run as plain Python, if they do."""
        reasons = [variant.reason for variant in self._variants if variant.reason]
        return self._off or (reasons[0] if reasons else None)

    def explain(self):
        """Return a report: graphs, guards, why each was made, and what it cost.

        Returns
        -------
        str
            Text for people.

        """
        return report.explain(self)


class Region(Function):
    """A module within a function that is left to Python.

    Parameters
    ----------
    module : Module
        The module.
    regions : Regions
        Those of the function.
    **options : Any
        As the function's.

    """

    def __init__(self, module, regions, **options):
        self._around = weakref.ref(regions)
        super().__init__(module, name=regions.path_of(module), effects="retry", limit=REGION_GRAPHS, **options)

    def __call__(self, *args, **kwargs):
        return call_in_place(self, super().__call__, args, kwargs)

    def _is_worth(self, recording, captured):
        records = any(tensor.requires_grad for tensor in recording.template.tensors)
        if records and captured.written:
            # Who asks for gradients of gradients does so in the first step as a rule, before there are regions.
            if modes.second_gradients_wanted():
                self._variants = []
                self._off = "it writes tensors that were there before, so that its gradient would have no gradient"
                return False
            recording.guards.ask(modes.second_gradients_wanted, "whether gradients of gradients are wanted")
        least = LEAST_RECORDED if records else LEAST
        if len(captured.graph.calls) >= least:
            return True
        self._off = f"fewer than {least} operators"
        if self._around() is not None:
            self._around().pass_over(self._function)
        return False

    def _say_once(self, kind, message):
        self._warned.add(kind)  # the function around has said that it runs as plain Python


def _root_name(function, name):
    return "self" if not isinstance(function, types.FunctionType) else name


def _parameters_of(function):
    """Return the names of parameters that may be given by position, or None where the order of names matters."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]


def _positional(names, args, kwargs):
    """Return a call's arguments in one order, however they were given."""
    kwargs = dict(kwargs)
    args = list(args)
    for name in names[len(args):]:
        if name not in kwargs:
            break
        args.append(kwargs.pop(name))
    return tuple(args), kwargs


def function(fn=None, *, level=None, skip=(), dynamic=None, name=None, effects="once", strict=False,
             limit=VARIANTS, cuda_graphs=False):
    """Have a function's calls run as one optimised graph.

    The first call runs as it stands and is written down; later calls that look the same run the graph. What the graph
    takes for granted (shapes, dtypes, numbers, attributes, globals, flags) is checked before each run: where
    something differs, the function is captured again. What cannot be a graph runs as plain Python, with one warning.

    Parameters
    ----------
    fn : Callable, optional
        A function, method or module; without it, a decorator is returned.
    level : int, optional
        How much to optimise, from 0 to 3; without it, as `dragon.graph.set_level` says.
    skip : Sequence[str], optional, default=()
        Names of passes that are left out.
    dynamic : bool, optional
        Whether one graph serves all sizes of its arguments: True, from the first call on; False, each graph is for one
        size of each axis. Otherwise sizes that are seen to vary are left open.
    name : str, optional
        How reports call it.
    effects : str, optional, default="once"
        What becomes of calls that change something besides tensors: "once", it happens only while captured, with a
        warning; "retry", such calls are no graphs, and a function that always does so is left alone.
    strict : bool, optional, default=False
        Whether what cannot be a graph is a RuntimeError.
    limit : int, optional, default=64
        How many graphs are kept.
    cuda_graphs : bool, optional, default=False
        Whether runs on a CUDA device are noted down as a CUDA graph, and later ones are one launch; `explain()` tells
        what cannot be. `DRAGON_CUDA_GRAPHS=1` in the environment has all functions do so, 0 none.

    Returns
    -------
    Function
        What is called instead; `explain()` reports on it.

    Examples
    --------
    >>> @dragon.function
    ... def step(x):
    ...     return (x * 2).sum()

    """
    options = {"level": level, "skip": skip, "dynamic": dynamic, "name": name, "effects": effects,
               "strict": strict, "limit": limit, "cuda_graphs": cuda_graphs}
    if fn is None:
        return functools.partial(function, **options)
    if effects not in ("once", "retry"):
        raise ValueError(f"dragon.function: got effects={effects!r}, expected 'once' or 'retry'")
    if not callable(fn):
        raise TypeError(f"dragon.function: got {type(fn).__name__}, expected a function, method or module")
    for kind, asks in (("generator", inspect.isgeneratorfunction), ("coroutine", inspect.iscoroutinefunction),
                       ("asynchronous generator", inspect.isasyncgenfunction)):
        if asks(fn):
            raise TypeError(f"dragon.function: got the {kind} {fn.__qualname__}, expected a function that returns")
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(function(fn.__func__, **options))
    return Function(fn, **options)
