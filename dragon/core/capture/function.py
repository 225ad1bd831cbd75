"""`dragon.function`: calls of a Python function that run as one optimised graph."""
import contextlib
import functools
import inspect
import threading
import time
import types

from dragon import _C
from dragon.core.capture import report
from dragon.core.capture.batch import batch_of, unify
from dragon.core.capture.lines import definition
from dragon.core.capture.recording import Recording
from dragon.core.capture.settings import check_level, is_capturing, is_eager, settings, warn

VARIANTS = 64  # graphs of one function, before it is said that something in it changes all the time
ATTEMPTS = 8  # captures in vain, before a function is left alone
RETRIES = 3  # calls that may change something in Python, or are no graph for one reason, before no more are tried


class Variant:
    """A graph with what it takes for granted; or, without a graph, a reason why the function itself is called."""

    def __init__(self, recording, reason=None):
        self.guards, self.seconds, self.reason = recording.guards, recording.seconds, reason
        self.check = recording.guards.check
        self.calls = 0
        self.captured = self.compiled = self.family = None
        self.shapes = [tuple(tensor.shape) for tensor in recording.inputs]
        self._lock = threading.Lock()
        if reason is None:
            self._template, self._symbols = recording.template, recording.symbols
            self.signature = self._template.signature()
            self._single = isinstance(self._template._root, int) and len(self._template.tensors) == 1
            del self._template.tensors[:]

    def compile(self, captured, **options):
        """Make the plans."""
        begin = time.perf_counter()
        self.captured = captured
        self.compiled = captured.compile(**options)
        self.seconds["compile"] = time.perf_counter() - begin

    def serve_all_sizes(self, family, numbers, low, high):
        """Be a graph for every size of the batch for which the family has a plan."""
        self.family = family
        self.guards.free_batch(numbers, low, high)
        self.check = self._check_size

    def _check_size(self, args, kwargs):
        tensors = self.guards.check(args, kwargs)
        return tensors if tensors is None or self.family.plan(self.guards.batch) is not None else None

    def failure(self, args, kwargs):
        """Return why a call does not fit."""
        fits = self.guards.check(args, kwargs) is not None
        if fits and self.family is not None:
            return f"arguments: the graph for all sizes does not hold for a first size of {self.guards.batch}"
        return self.guards.failure(args, kwargs)

    def run(self, tensors):
        """Return what the function would have."""
        self.calls += 1
        compiled = self.compiled if self.family is None else self.family.plan(self.guards.batch)
        if self._symbols:
            compiled.set_symbols([float(container[key]) for container, key in self._symbols])
        outputs = compiled.run(tensors)
        return outputs[0] if self._single else self._template.fill(outputs)

    @property
    def is_random(self):
        """bool: whether runs draw random numbers."""
        return any(_C.schema(call.op)["arguments"] and any(
            argument["type"] == "Generator?" for argument in _C.schema(call.op)["arguments"])
            for call in self.captured.graph.calls)

    @property
    def graph(self):
        """The graph as it was captured; of a family, with the size of the batch as a symbol."""
        if self.family is not None:
            with contextlib.suppress(NotImplementedError):  # a size is computed with as a number
                return self.family.graph
        return self.captured.graph


class Function:
    """A function whose calls run as graphs; made by `dragon.function`."""

    is_trace = False  # captured as an example of what is to come, rather than to be faster
    watches_draws = True  # whether draws from Python's and NumPy's random states mean that a call is no graph

    def __init__(self, function, level=None, skip=(), dynamic_batch=True, name=None, effects="once", strict=False,
                 limit=VARIANTS):
        self._function = function
        self._level = check_level(level, "dragon.function")
        self._skip = tuple(skip)
        self._dynamic_batch, self._effects, self._strict, self._limit = dynamic_batch, effects, strict, limit
        functools.update_wrapper(self, function, updated=())
        self.__name__ = name or getattr(function, "__name__", type(function).__name__)
        self._parameters = _parameters_of(function)
        self._lock = threading.RLock()
        self._local = threading.local()
        self.clear()

    def clear(self):
        """Forget all graphs, and that some call could not be captured."""
        with self._lock:
            self._variants, self._retraces = [], []
            self._epoch, self._attempts, self._tries = settings.epoch, 0, 0
            self._refusals = {}  # why a call was no graph: how often
            self._off = None  # why the function is left alone
            self._warned = set()

    # --- calls

    def __call__(self, *args, **kwargs):
        if is_capturing() or is_eager() or self._off is not None or getattr(self._local, "busy", False):
            return self._function(*args, **kwargs)
        if self._epoch != settings.epoch and self._level is None:
            self.clear()
        if kwargs and self._parameters:
            args, kwargs = _positional(self._parameters, args, kwargs)
        variants = self._variants
        for number, variant in enumerate(variants):
            tensors = variant.check(args, kwargs)
            if tensors is not None:
                if number:  # the next call is probably like this one
                    self._variants = [variant, *(other for other in variants if other is not variant)]
                return self._function(*args, **kwargs) if variant.reason else variant.run(tensors)
        return self._capture(args, kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<dragon.function {self.__name__}: {len(self._variants)} variants>"

    def _capture(self, args, kwargs):
        """Call the function while its graph is written; keep the graph if it says all that the call did."""
        with self._lock:
            self._note_retrace(args, kwargs)
            if settings.stance != "default" and self._variants:
                if settings.stance == "fail_on_recompile":
                    raise RuntimeError(f"{self.__name__}: got a call that no graph fits, expected none: "
                                       f"{self._retraces.pop() if self._retraces else self.fallback}")
                return self._function(*args, **kwargs)
            recording = Recording(self._function, args, kwargs, _root_name(self._function, self.__name__))
            recording.is_trace, recording.watches_draws = self.is_trace, self.watches_draws
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

    def _run_plainly(self, args, kwargs):
        return self._function(*args, **kwargs)

    def _keep(self, recording, args, kwargs):
        captured = recording.finish()
        if captured is None:
            return self._give_up(recording, recording.failure)
        variant = Variant(recording)
        level = settings.level if self._level is None else self._level
        options = {"level": level, "forward_level": min(level, 2), "skip": set(self._skip)}
        try:
            variant.compile(captured, **options)
        except Exception as error:  # a graph that cannot be compiled must not keep the function from running
            return self._give_up(recording, str(error))
        merged = self._generalise(recording, variant, options, args, kwargs)
        captured.forget()
        self._variants = [variant, *(other for other in self._variants if other is not merged)]
        if len(self._variants) > self._limit:
            del self._variants[self._limit:]
            self._say_once("limit", f"{self.__name__} ({definition(self._function)}): more than {self._limit} graphs; "
                           f"the oldest are dropped. The last ones were made because of: {self._retraces[-1]}")

    def _generalise(self, recording, variant, options, args, kwargs):
        """Let a variant serve all sizes of the batch, if an older one differs in nothing else; return that one."""
        if not self._dynamic_batch or recording.changes:
            return None
        for older in self.variants:
            found = None if older.family else batch_of(older.shapes, variant.shapes)
            if found is None:
                continue
            older.guards.free_batch(found[0])
            fits = older.check(args, kwargs) is not None
            older.guards.free_batch(())
            unified = unify(older, recording, variant, options) if fits else None
            if unified is not None:
                variant.serve_all_sizes(*unified)
                return older
        return None

    # --- calls that are no graph

    def _accepts(self, recording):
        """Return whether a graph is kept although the call changed something in Python."""
        what = "; ".join(map(str, recording.changes[:3]))
        if self._effects == "once":
            self._say_once("effects", f"{self.__name__} ({definition(self._function)}) changes something besides "
                           f"tensors, which happens only while it is captured: {what}")
            for change in recording.changes:
                if change.place is not None:
                    recording.guards.release(change.place, change.check)
            return True
        self._tries += 1
        if self._tries >= RETRIES:
            self._turn_off(f"each call changes {what}")
        return False

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
            warn(message, stacklevel=5)

    def _note_retrace(self, args, kwargs):
        graphs = [variant for variant in self._variants if variant.reason is None]
        if graphs:
            self._retraces.append(graphs[0].failure(args, kwargs))

    # --- questions

    variants = property(lambda self: [variant for variant in self._variants if variant.reason is None],
                        doc="List[Variant]: graphs and what they take for granted, the last used first.")
    graphs = property(lambda self: [variant.graph for variant in self.variants],
                      doc="List[Graph]: the graphs, the last used first.")

    @property
    def graph(self):
        """Graph: the one that was used last."""
        if not self.variants:
            raise RuntimeError(f"{self.__name__}.graph: got no graph, expected a call before"
                               + (f"; it runs as plain Python: {self.fallback}" if self.fallback else ""))
        return self.variants[0].graph

    @property
    def retraces(self):
        """List[str]: for each graph after the first, which guard failed, with the old and the new value."""
        return list(self._retraces)

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


def function(fn=None, *, level=None, skip=(), dynamic_batch=True, name=None, effects="once", strict=False,
             limit=VARIANTS):
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
    dynamic_batch : bool, optional, default=True
        Whether one graph may serve all sizes of the first axis of the arguments.
    name : str, optional
        How reports call it.
    effects : str, optional, default="once"
        What becomes of calls that change something besides tensors: "once", it happens only while captured, with a
        warning; "retry", such calls are no graphs, and a function that always does so is left alone.
    strict : bool, optional, default=False
        Whether what cannot be a graph is a RuntimeError.
    limit : int, optional, default=64
        How many graphs are kept.

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
    options = {"level": level, "skip": skip, "dynamic_batch": dynamic_batch, "name": name, "effects": effects,
               "strict": strict, "limit": limit}
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
