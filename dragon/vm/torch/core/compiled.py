"""`torch.compile`: calls of modules and functions that run as graphs."""
import contextlib
import functools
import types
import warnings
import weakref

from dragon.core.capture.function import Function
from dragon.core.capture.regions import apart
from dragon.core.capture.settings import captures, check_level, is_capturing, is_exporting, settings
from dragon.vm.torch.nn import Module

BACKENDS = {"inductor": None, "cudagraphs": None, "openxla": None, "tvm": None, "onnxrt": None, "tensorrt": None,
            "openvino": None, "aot_eager": 0, "eager": 0}  # all of them mean the engine; None: at the process's level
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")
GRAPH_MODES = ("reduce-overhead", "max-autotune")  # those that run as CUDA graphs
_functions = weakref.WeakSet()


class OptimizedModule(Module):
    """A module that `torch.compile` was given: calls of it run the graphs of the module in `_orig_mod`."""

    has_regions = False  # it has graphs of its own

    def __init__(self, mod, compiled=None):
        super().__init__()
        self._orig_mod = mod
        del self.__dict__["training"]  # the module's own is asked
        self.__dict__["_compiled"] = compiled or mod

    def forward(self, *args, **kwargs):
        """Call the module, or the graph that fits."""
        return self.__dict__["_compiled"](*args, **kwargs)

    def explain(self):
        """Return a report on the graphs: why each was made, what it takes for granted, what it cost."""
        return self.__dict__["_compiled"].explain()

    def train(self, mode=True):
        """Set the mode of both."""
        return super().train(mode)

    training = property(lambda self: self._orig_mod.training,
                        lambda self, mode: setattr(self._orig_mod, "training", mode),
                        doc="bool: the module's own mode.")

    # Libraries take it for what makes graphs of functions as this module's calls are.
    dynamo_ctx = property(lambda self: compile, doc="Callable: compiles a function.")

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name in ("_orig_mod", "training") or name.startswith("_") or "_modules" not in self.__dict__:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __reduce__(self):
        return OptimizedModule, (self._orig_mod,)


def is_dynamo_supported():
    """Return True: calls can be captured."""
    return True


is_inductor_supported = is_dynamo_supported


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None,
            disable=False, recompile_limit=None, isolate_recompiles=False, shapes_spec=None):
    """Return a function or module that does what the given one does, as graphs.

    The first call with arguments of some form runs as it stands and is captured; later ones that look the same run
    the graph, and so does their backward pass. See `dragon.function`, on which this stands.

    Parameters
    ----------
    model : Union[Module, Callable], optional
        What to compile; without it, a decorator is returned.
    fullgraph : bool, optional, default=False
        Whether what cannot be a graph is a RuntimeError; else it runs as plain Python, with one warning.
    dynamic : bool, optional
        True: one graph for all sizes of the arguments, from the first call on. False: one for each. Otherwise sizes
        that are seen to vary are left open.
    backend : str, optional
        Any name means the engine, "eager" without its optimisations; a function of graphs is refused.
    mode : str, optional
        One of PyTorch's. "reduce-overhead" and "max-autotune" have calls on a CUDA device run as CUDA graphs, as the
        backend "cudagraphs" does; the others are the same here.
    options : dict, optional
        "level" and "skip", as `dragon.function` takes them, and "triton.cudagraphs"; PyTorch's others are passed over.
    name : str, optional
        What the graphs are called in profiles.
    disable : bool, optional, default=False
        Whether to return what was given.
    recompile_limit : int, optional
        How many graphs are kept.
    isolate_recompiles : bool, optional, default=False
        Accepted: every wrapper counts its own graphs.
    shapes_spec : Any, optional
        Accepted: graphs find out which sizes vary.

    Returns
    -------
    Union[OptimizedModule, Function]
        A wrapper.

    Examples
    --------
    >>> def scale(x):
    ...     return x * 2 + 1
    >>> fast = torch.compile(scale, backend="eager")
    >>> fast(torch.tensor([1.0, 2.0]))
    tensor([3., 5.])

    """
    level = _level_of(backend)
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                                 options=options, name=name, disable=disable, recompile_limit=recompile_limit)
    if not callable(model):
        raise TypeError(f"torch.compile: got {type(model).__name__}, expected a module or function")
    if disable:
        return model
    options = options or {}
    given = {"level": check_level(options.get("level", level), "torch.compile"), "skip": options.get("skip", ()),
             "strict": fullgraph, "dynamic": dynamic, "effects": "retry",
             "limit": recompile_limit or 64,
             "cuda_graphs": options.get("triton.cudagraphs", mode in GRAPH_MODES or backend == "cudagraphs")}
    if isinstance(model, OptimizedModule):
        model = model._orig_mod
    if isinstance(model, Module):
        compiled = _register(Function(model, name=name or type(model).__name__, **given))
        return OptimizedModule(model, compiled)
    if isinstance(model, Function):
        model = model.__wrapped__
    return _register(Function(model, name=name, **given))


def _level_of(backend):
    if backend is not None and not isinstance(backend, str):
        raise NotImplementedError(f"torch.compile: got backend={backend!r}, expected a name: Dragon's graphs are not "
                                  "those of torch.fx, which a function of graphs would get")
    if backend is not None and backend not in BACKENDS:
        raise RuntimeError(f"Invalid backend: {backend!r}, expected one of {', '.join(sorted(BACKENDS))}")
    return BACKENDS.get(backend)


def _register(function):
    _functions.add(function)
    return function


def reset():
    """Forget all graphs of `torch.compile`, and that some code could not be one."""
    for function in list(_functions):
        function.clear()


def is_dynamo_compiling():
    """Return whether `torch.compile` is capturing the call that asks."""
    return is_capturing() and not getattr(captures()[-1], "is_trace", False)


def is_compiling():
    """Return whether the call that asks is captured by `torch.compile` or for an export."""
    return is_dynamo_compiling() or is_exporting()


def disable(fn=None, recursive=True, *, reason=None):
    """Return a function that is never part of a graph: what calls it runs as plain Python.

    Parameters
    ----------
    fn : Callable, optional
        The function; without it, a decorator is returned.
    recursive : bool, optional, default=True
        Whether what it calls is plain Python, too; else the modules that it calls may be graphs.
    reason : str, optional
        For the warning.

    Returns
    -------
    Callable
        A wrapper; a module is returned itself, with its calls wrapped.

    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if isinstance(fn, (OptimizedModule, Function)):
        fn = fn._orig_mod if isinstance(fn, OptimizedModule) else fn.__wrapped__
    if isinstance(fn, Module):
        object.__setattr__(fn, "_compiled_call_impl", disable(fn._call_impl, reason=reason))
        return fn

    @functools.wraps(fn)
    def plain(*args, **kwargs):
        if is_dynamo_compiling():
            why = f": {reason}" if reason else ""
            captures()[-1].trace.give_up(f"it calls {getattr(fn, '__qualname__', fn)}, which is marked with "
                                         f"torch.compiler.disable{why}")
        with apart() if recursive else contextlib.nullcontext():
            return fn(*args, **kwargs)
    plain._torchdynamo_disable = True
    return plain


def graph_break(msg=""):
    """End the graph here: what is being captured runs as plain Python."""
    if is_dynamo_compiling():
        captures()[-1].trace.give_up(f"it calls graph_break{f': {msg}' if msg else ''}")


STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile",
           "aot_eager_then_compile")


class _Stance:
    """The stance that `set_stance` has set; as a `with` block, only within."""

    def __init__(self, stance):
        self.previous = settings.stance
        settings.stance = "default" if stance.endswith("_then_compile") else stance

    def __enter__(self):
        return self

    def __exit__(self, *_):
        settings.stance = self.previous

    def __call__(self, function):
        stance, settings.stance = settings.stance, self.previous

        @functools.wraps(function)
        def within(*args, **kwargs):
            with _Stance(stance):
                return function(*args, **kwargs)
        return within


def set_stance(stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
    """Set what compiled functions do: run graphs, run as plain Python, or refuse to capture anew.

    Parameters
    ----------
    stance : str, optional, default="default"
        Also "force_eager", "eager_on_recompile", "fail_on_recompile".

    Returns
    -------
    contextlib.AbstractContextManager
        Undoes it at the end of a `with` block.

    """
    if stance not in STANCES:
        raise RuntimeError(f"set_stance: got {stance!r}, expected one of {', '.join(STANCES)}")
    return _Stance(stance)


def explain(f, *extra_args, **extra_kwargs):
    """Return a function that calls `f` and reports on its graphs, as `torch._dynamo.explain` does.

    Parameters
    ----------
    f : Union[Module, Callable]
        What to look at.

    Returns
    -------
    Callable
        Called with arguments, it returns an object with `graph_count`, `graph_break_count`, `break_reasons`.

    """
    if isinstance(f, OptimizedModule):
        f = f._orig_mod
    function = Function(f.__wrapped__ if isinstance(f, Function) else f, effects="retry")

    def report(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*args, **kwargs)
        reasons = [function.fallback] if function.fallback else []
        graphs = function.graphs
        return types.SimpleNamespace(
            graphs=graphs, graph_count=len(graphs), graph_break_count=len(reasons), break_reasons=reasons,
            op_count=sum(len(graph.calls) for graph in graphs), text=function.explain(), out_guards=None)
    return report(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else report
