"""`tf.function`: calls run as one optimised graph, with TensorFlow's signatures and results."""
import functools
import inspect

from dragon import _C
from dragon.core.interrupts import is_interrupt
from dragon.core.modes import shapes_only
from dragon.core.capture.untraced_call import unnoticed
from dragon.core.capture.function import Function as Captured
from dragon.core.capture.guards import Guards
from dragon.core.capture.rollback import Rollback, made_again
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared import nest, seed, strategies
from dragon.vm.shared.autograph import status
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.recording.body import Body, bound_to
from dragon.vm.shared.recording.concrete import ConcreteFunction
from dragon.vm.shared.recording.methods import method_of
from dragon.vm.shared.recording.signatures import canonical, result_of, spec_of
from dragon.vm.shared.recording.trace_type import Stand
from dragon.vm.shared.recording.traces import Traces, is_text
from dragon.vm.shared.tensors import variable
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec

ONCE = ("tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
        "created once or created outside tf.function. See "
        "https://www.tensorflow.org/guide/function#creating_tfvariables for more information.")
eagerly = [False]  # tf.config.run_functions_eagerly
followers = []  # functions that are told of each call from outside: the function, its arguments

assert seed  # whose counters are made before any capture


class _Graphs(Captured):
    """Captures that count themselves and, as TensorFlow's, are made again after a call that made variables."""

    may_wait = True  # as TensorFlow's: what a trace does in Python is done by one thread
    _made_once = False  # whether a call has made variables
    _texts = None  # why calls run as plain Python, where it takes strings
    _trace = None  # the trace that is being made
    first = None  # the arguments of the first capture, as specs

    def __init__(self, function, traces, **options):
        self.traces = traces
        super().__init__(function, **options)

    def clear(self):
        """Forget all graphs."""
        super().clear()
        self.traces.clear()
        self._twice, self.seen = 0, []

    fallback = property(lambda self: Captured.fallback.fget(self) or self._texts,
                        doc="Optional[str]: why calls run as plain Python, if they do.")
    count = property(lambda self: len(self.traces) + self._twice, doc="int: how many traces have been made.")

    def _add_trace(self, trace, args, kwargs):
        self.traces.append(trace)
        specs = nest.map_structure(spec_of, (list(args), kwargs))
        if all(value is None or isinstance(value, (TypeSpec, bool, int, float, str, bytes))
               for value in nest.flatten(specs)):  # objects are not kept alive
            self.seen.append(specs)

    def call_within(self, call, args, kwargs, trace=None):
        """Return what a call of the function returns that makes no graph of its own: it is traced once for its kind.

        Parameters
        ----------
        call : Callable
            Called with the arguments.
        args : tuple
            The arguments.
        kwargs : dict
            Those by name.
        trace : Trace, optional
            The trace of such arguments, where these stand for all of its kind.

        """
        stands = trace is not None
        if not stands:
            trace = self.traces.find(args, kwargs)
            args, kwargs = self.traces.stand_ins(trace, args, kwargs)
        if trace in self.traces:
            with made_again(trace.rollback):
                return call(*args, **kwargs)
        guards, made = Guards(self._function, args, kwargs, self.__name__), variable.living.added
        result = call(*args, **kwargs)
        with unnoticed():  # to tell what has changed is to print it
            trace.rollback = Rollback(guards, guards.changes(), variable.living.added == made)
        if stands:
            self.traces.append(trace)
        else:
            self._add_trace(trace, args, kwargs)
        return result

    def _capture(self, args, kwargs):
        trace = self.traces.find(args, kwargs)
        others = self.traces.stand_ins(trace, args, kwargs)
        if others[0] is not args:
            return self(*others[0], **others[1])
        if any(map(is_text, nest.flatten((args, kwargs)))):
            self._texts = "it takes strings, which graphs do not have"
            return self.call_within(self._function, args, kwargs)
        if self.first is None and not kwargs:
            self.first = nest.map_structure(spec_of, tuple(args))
        self._made = variable.living.added
        if trace in self.traces and trace.rollback is not None and self.fallback is None:
            with made_again(trace.rollback):
                return super()._capture(args, kwargs)
        self._trace = trace
        result = super()._capture(args, kwargs)
        if trace not in self.traces:
            self._add_trace(trace, args, kwargs)
        if variable.living.added != self._made:
            self._require_singletons(args, kwargs)
        return result

    def _require_singletons(self, args, kwargs):
        """Raise a ValueError if a call that made variables would make others if it were traced once more."""
        if self.count == 1 and not self._made_once:
            self._made_once = True
            self._twice = 1  # as TensorFlow, which traces again
            before = variable.living.added
            try:
                self._again(args, kwargs)
            except Exception as error:  # a function that looks at numbers is asked at its next call
                if is_interrupt(error):
                    raise
                return
            if variable.living.added == before:
                return
        raise ValueError(ONCE)

    def _again(self, args, kwargs):
        """Call the function without numbers."""
        with variable.inferring.set(), shapes_only():
            self._function(*args, **kwargs)

    def _rollback(self, recording):
        rollback = super()._rollback(recording)
        if self._trace is not None:
            self._trace.rollback = rollback
        return rollback

    def _accepts(self, recording):
        if variable.living.added == self._made:
            return super()._accepts(recording)
        self._trace.rollback = Rollback(recording.guards, recording.changes, sets_back=False)
        return False

    def _keep(self, recording, args, kwargs):
        if variable.living.added == self._made:
            before = self._variants
            super()._keep(recording, args, kwargs)
            if self._variants is not before and self._variants[0].reason is None:
                recording.guards.release_users()  # a trace is what it was, whatever becomes of names and objects
        if self._trace is not None and self._trace.rollback is None:  # it has changed nothing, but may have printed
            self._trace.rollback = Rollback(recording.guards, ())

    def _say_once(self, kind, message):
        # That Python's effects happen while tracing only is what users of tf.function expect.
        if kind == "effects":
            self._warned.add(kind)
        elif kind != "eager":
            super()._say_once(kind, message)


def _argument(value):
    """Return what a graph takes in place of an argument: arrays become tensors."""
    if type(value).__module__ == "numpy" and not isinstance(value, type) and hasattr(value, "dtype"):
        return convert_to_tensor(value)
    return value


@known_as("tensorflow.types.experimental")
class Function:
    """A Python function whose calls run as graphs; made by `tf.function`.

    Parameters
    ----------
    python_function : Callable
        What is called.
    input_signature : Sequence[TypeSpec], optional
        What the arguments must be.
    reduce_retracing : bool, optional, default=False
        Whether one graph may serve all sizes of the first axis.
    name : str, optional
        How it is called in reports.
    autograph : bool, optional, default=True
        Whether branches and loops over tensors become parts of graphs.
    features : Tuple[str, ...], optional, default=()
        What is rewritten besides; see `dragon.vm.shared.autograph.status.features_of`.
    within : Tuple[Callable, Callable], optional
        Of a method, the function that the class has, and what returns the object.

    """

    def __init__(self, python_function, input_signature=None, reduce_retracing=False, name=None, autograph=True,
                 features=(), within=None):
        self._python_function = python_function
        self._signature = None if input_signature is None else _check_signature(input_signature)
        self._body = body = Body(autograph, features, within, self._signature)
        self._reduce = bool(reduce_retracing)
        self._name = name or getattr(python_function, "__name__", type(python_function).__name__)
        self._kept, self._stand = {}, Stand()
        free = self._reduce or self._signature is not None

        @functools.wraps(python_function)
        def traced(*args, **kwargs):
            return nest.map_structure(result_of, body.call(python_function, args, kwargs))
        traces = Traces(python_function, self._signature is None, self._reduce)
        self._graphs = _Graphs(traced, traces, dynamic=None if free else False, name=self._name)
        functools.update_wrapper(self, python_function, updated=())

    def __call__(self, *args, **kwargs):
        if self._signature is not None:
            args, kwargs = self._bind(args, kwargs)
        if eagerly[0] or strategies.exists[0] and strategies.takes_turns(nest.flatten((args, kwargs))):
            return self._python_function(*args, **kwargs)
        if is_capturing():
            return self._graphs.call_within(self._traced_call, args, kwargs)
        for follow in followers:
            follow(self, args, kwargs)
        args = tuple(map(self._stand, args))
        args = tuple(_argument(value) if not nest.is_nested(value) else nest.map_structure(_argument, value)
                     for value in args)
        if kwargs:
            kwargs = nest.map_structure(_argument, kwargs)
        return self._graphs(*args, **kwargs)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return method_of(self, instance, self._bind_to)

    def _bind_to(self, reference):
        """Return the function with its first argument given; graphs are the object's own."""
        function = self._python_function

        @functools.wraps(function)
        def method(*args, **kwargs):
            return bound_to(function, reference())(*args, **kwargs)
        method.__signature__ = _without_first(function)
        return Function(method, self._signature, self._reduce, self._name, self._body.autograph, self._body.features,
                        (function, reference))

    def _decorate(self, decorator):
        """Put a decorator around the Python function, as libraries do with methods that are such functions."""
        if self._graphs.count:
            raise ValueError(f"Functions cannot be decorated after they have been traced. Received: {self!r}")
        self.__init__(decorator(self._python_function), self._signature, self._reduce, self._name,
                      self._body.autograph, self._body.features)

    def _traced_call(self, *args, **kwargs):
        return self._body.call(self._python_function, args, kwargs)

    def traced_as(self, specs, args, kwargs):
        """Return what the function returns while it is traced for arguments that stand for all that specs describe."""
        def call(*args, **kwargs):
            return self._body.call(self._python_function, args, kwargs, nest.flatten(specs))
        return self._graphs.call_within(call, args, kwargs, self._graphs.traces.find(*specs))

    def traced_body(self, args, kwargs):
        """Return what the function returns while it is traced: AutoGraph's view of it."""
        return self._body.call(self._python_function, args, kwargs)

    def __repr__(self):
        return f"<dragon.vm.tensorflow Function {self._name}: {self._graphs.count} traces>"

    # --- signatures

    def _bind(self, args, kwargs):
        """Return the arguments as the signature wants them, by position."""
        signature = self._signature
        try:
            bound = inspect.signature(self._python_function).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: "
                            f"{kwargs} for signature: {self._describe()}.") from None
        given = [*bound.args, *bound.kwargs.values()]
        if len(given) > len(signature):
            raise TypeError(f"Binding inputs to tf.function failed due to `too many positional arguments`. Received "
                            f"args: {args} and kwargs: {kwargs} for signature: {self._describe()}.")
        fit = functools.partial(_fit, self)
        return tuple(nest.map_structure(fit, spec, value) if nest.is_nested(spec) else fit(spec, value)
                     for spec, value in zip(signature, given)), {}

    def _describe(self):
        return f"({', '.join(map(str, self._signature or ()))})"

    python_function = property(lambda self: self._python_function, doc="Callable: what is called.")
    input_signature = property(lambda self: self._signature, doc="Optional[tuple]: what the arguments must be.")

    @property
    def first_signature(self):
        """Optional[tuple]: the specs of the arguments that the function was traced with first."""
        return self._graphs.first

    name = property(lambda self: self._name, doc="str: the function's name.")
    function_spec = property(lambda self: inspect.signature(self._python_function),
                             doc="inspect.Signature: the parameters.")
    fallback = property(lambda self: self._graphs.fallback,
                        doc="Optional[str]: why calls run as plain Python rather than as a graph, if they do.")

    def experimental_get_tracing_count(self):
        """Return how many times the Python function was called for a graph."""
        return self._graphs.count

    def explain(self):
        """Return a report on graphs and what they take for granted."""
        return self._graphs.explain()

    def pretty_printed_concrete_signatures(self, verbose=True):
        """Return the signatures of all concrete functions as text.

        Parameters
        ----------
        verbose : bool, optional, default=True
            Whether each parameter has a line, rather than each function.

        """
        return "\n\n".join(concrete.pretty_printed_signature(verbose) for concrete in self._concretes())

    def _concretes(self):
        """Return the functions of all traces: those that were asked for, and those of calls."""
        seen = self._graphs.seen if self._signature is None else [((), {})] if self._graphs.seen else []
        found = [self.get_concrete_function(*args, **kwargs) for args, kwargs in seen]
        return found + [kept for kept in self._kept.values() if kept not in found]

    def get_concrete_function(self, *args, **kwargs):
        """Return the function for arguments of one kind.

        Parameters
        ----------
        *args : Any
            Tensors, or specs that describe them, and Python values.
        **kwargs : Any
            The same by name.

        Returns
        -------
        ConcreteFunction
            Which takes tensors of that kind only.

        """
        if self._signature is not None and not args and not kwargs:
            args = self._signature
        specs = canonical(self._python_function, *nest.map_structure(spec_of, (tuple(args), kwargs)))
        key = repr(specs)
        if key not in self._kept:
            self._kept[key] = made = ConcreteFunction(self, *specs)
            if self._graphs.traces.find(*specs) not in self._graphs.traces:
                made.trace()
        return self._kept[key]


def _without_first(function):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _check_signature(signature):
    for spec in nest.flatten(signature):
        if not isinstance(spec, TypeSpec):
            raise TypeError(f"input_signature: all items in this structure should be TensorSpec; got {spec!r}")
    return tuple(signature)


def _fit(function, spec, value):
    """Return an argument as a spec of the signature describes it."""
    if not isinstance(spec, TensorSpec):
        if not spec.is_compatible_with(value):
            raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {value!r} to {spec}`.")
        return value
    try:
        made = value if isinstance(value, _C.Tensor) else convert_to_tensor(value, spec.dtype)
    except (ValueError, TypeError) as error:
        raise TypeError(f"Binding inputs to tf.function failed due to `{error}`. Received: {value!r} for signature: "
                        f"{function._describe()}.") from None
    if not spec.is_compatible_with(made):
        found = TensorSpec(tuple(made.shape), made.dtype)
        raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {found} to {spec}`. Received: "
                        f"{found} for signature: {function._describe()}.")
    return made


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Have a function's calls run as one optimised graph for each kind of arguments.

    Parameters
    ----------
    func : Callable, optional
        The function; without it, a decorator is returned.
    input_signature : Sequence[TypeSpec], optional
        What the arguments must be.
    autograph : bool, optional, default=True
        Whether `if`, `while` and `for` over tensors become parts of the graph. Where one cannot, calls run as plain
        Python, and `Function.fallback` says why; without AutoGraph, to look at a tensor is an error.
    jit_compile, experimental_compile : bool, optional
        Not used: graphs are always optimised.
    reduce_retracing, experimental_relax_shapes : bool, optional, default=False
        Whether one graph may serve all sizes of the first axis.
    experimental_autograph_options : Union[Feature, Sequence[Feature]], optional
        What AutoGraph rewrites besides: `assert`, `==`, lists.
    experimental_implements, experimental_attributes : Any, optional
        Not used.
    experimental_follow_type_hints : bool, optional
        Not used.

    Returns
    -------
    Function
        What is called instead.

    Examples
    --------
    >>> @tf.function
    ... def scale(x):
    ...     return x * 2 + 1
    >>> scale(tf.constant([1.0, 2.0])).numpy()
    array([3., 5.], dtype=float32)

    """
    features = status.features_of(experimental_autograph_options)

    def decorate(python_function):
        if not callable(python_function):
            raise TypeError(f"tf.function: expected a callable. Received: {python_function!r}")
        if isinstance(python_function, Function):
            return python_function
        name = getattr(python_function, "__name__", None)
        return Function(python_function, input_signature, reduce_retracing or experimental_relax_shapes, name,
                        bool(autograph), features)
    return decorate if func is None else decorate(func)
