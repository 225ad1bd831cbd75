"""Tracing: a call with the examples becomes a graph, which later calls run."""
import copy
import io
import os

from dragon.core import warnings
from dragon import _C
from dragon.core import modes
from dragon.core.capture.export import capture_graph, freeze, leaves, result_of
from dragon.core.capture.function import Function
from dragon.core.files import check_end
from dragon.core.graph import Graph
from dragon.core.scopes import ExitStack
from dragon.core.thread_state import ThreadFlag
from dragon.vm.torch.core.functions.creation import from_numpy
from dragon.vm.torch.core.functions.pointwise import allclose
from dragon.vm.torch.core.scripting.modules import RecursiveScriptModule as ScriptedModule
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.jit._script import ScriptFunction, ScriptModule
from dragon.vm.torch.nn import Module, Parameter

_tracing = ThreadFlag()
Tracing = _tracing.set  # a `with` block in which `is_tracing` is true


class TracerWarning(Warning):
    """Warnings of tracing."""


class TracingCheckError(Exception):
    """A trace does not do the same as the Python code."""


def is_tracing():
    """Return whether `trace` makes its call with the examples, or `torch.onnx.export` with `dynamo=False` makes one."""
    return _tracing.on


class _Traced:
    """The base of traced functions and modules: the Python code, and graphs of its calls."""

    def _begin(self, function, name, args, kwargs):
        self.__dict__["_examples"] = (args, kwargs)
        self.__dict__["_function"] = function
        self.__dict__["_graphs"] = Function(function, name=name)
        self._graphs.is_trace = True
        self._graphs._warned.add("eager")  # it is said as a TracerWarning
        with Tracing():
            self.__dict__["_first"] = self._graphs(*args, **kwargs)
        if self._graphs.fallback:
            warnings.warn(f"{name} is not a graph, and runs as Python code: {self._graphs.fallback}", TracerWarning)

    graph = property(lambda self: Graph(self._graphs.graph),
                     doc="Graph: the graph of the call that was traced or made last.")

    inlined_graph = graph

    code = property(lambda self: str(self.graph), doc="str: the graph as text.")

    @property
    def code_with_constants(self):
        """tuple: the text, and the constants by name."""
        graph = self.graph
        return str(graph), {f"c{value}": tensor for value, tensor in graph.constants.items()}

    def graph_for(self, *args, **kwargs):
        """Return the graph that a call with these arguments runs, with all optimisations."""
        self._graphs(*args, **kwargs)
        return Graph(self._graphs.variants[0].compiled.forward.graph)

    def explain(self):
        """Return a report on the graphs."""
        return self._graphs.explain()

    def _named_tensors(self):
        return {}

    def _capture(self):
        """Return (graph, tensors from outside by position) of the examples' call."""
        args, kwargs = self._examples
        with Tracing():
            graph, outside, _ = capture_graph(self._function, args, kwargs, self._named_tensors(),
                                              self._graphs.__name__)
        return graph, outside

    def save(self, f, **kwargs):
        """Write one file, as `torch.jit.save` does."""
        save(self, f, **kwargs)


class TracedFunction(_Traced, ScriptFunction):
    """A function that was traced."""

    def __call__(self, *args, **kwargs):
        return self._graphs(*args, **kwargs)


class TracedModule(ScriptModule):
    """A part of a traced module: its parameters, buffers and parts."""

    def __init__(self, source, shared):
        super().__init__()
        shared[id(source)] = self
        self.__dict__["original_name"] = type(source).__name__
        self.training = source.training
        for table in ("_parameters", "_buffers", "_non_persistent_buffers_set"):
            self.__dict__[table] = source.__dict__[table]
        for name, part in source._modules.items():
            self._modules[name] = None if part is None else shared.get(id(part)) or TracedModule(part, shared)

    def forward(self, *args, **kwargs):
        """Raise: only the whole that was traced can be called."""
        raise NotImplementedError(f"{self.original_name}: is part of a traced module, expected a call of the whole")

    def _get_name(self):
        return self.original_name

    def extra_repr(self):
        """Return what the module was."""
        return f"original_name={self.original_name}"


class TopLevelTracedModule(_Traced, TracedModule):
    """A module that was traced, in the mode in which it was: calls run its graphs, whatever `train` says later."""

    def __init__(self, source, method, args, kwargs):
        TracedModule.__init__(self, source, {})
        twin = _twin(source, {})
        self._begin(twin if method == "forward" else getattr(twin, method), type(source).__name__, args, kwargs)

    def forward(self, *args, **kwargs):
        """Run the graph that fits the arguments."""
        return self._graphs(*args, **kwargs)

    def _named_tensors(self):
        return {**dict(self.named_parameters()), **dict(self.named_buffers())}


def _twin(module, known):
    """Return a copy of a module that shares parameters and buffers, but no flags: what is traced stays as it was."""
    if id(module) not in known:
        known[id(module)] = twin = copy.copy(module)
        twin.__dict__ = dict(module.__dict__)
        twin.__dict__["_modules"] = {}
        for name, part in module._modules.items():
            twin.__dict__["_modules"][name] = None if part is None else _twin(part, known)
    return known[id(module)]


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5,
          strict=True, _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None,
          _store_inputs=True):
    """Call a function or module with examples, and return what runs the graph of that call.

    Arguments of other shapes get graphs of their own. Code that looks at tensors' numbers is no graph: it stays Python
    code, with a warning.

    Parameters
    ----------
    func : Union[Module, Callable]
        What to trace.
    example_inputs : Union[Tensor, tuple], optional
        Arguments.
    check_trace : bool, optional, default=True
        Whether to compare the graph with another call of the code.
    check_inputs : Sequence[tuple], optional
        More arguments to compare with.
    check_tolerance : float, optional, default=1e-5
        How far results may be apart.
    strict : bool, optional, default=True
        Whether results are tensors, and lists and tuples of them, alone.
    example_kwarg_inputs : dict, optional
        Keyword arguments, instead.

    Returns
    -------
    Union[TopLevelTracedModule, TracedFunction]
        What runs the graph.

    """
    if example_inputs is None and example_kwarg_inputs is None:
        raise RuntimeError("torch.jit.trace: got no examples, expected example_inputs or example_kwarg_inputs")
    if isinstance(func, (_Traced, ScriptFunction)) and not isinstance(func, Module):
        warnings.warn("The input to trace is already a ScriptFunction, tracing it is a no-op. Returning the object as "
                      "is.")
        return func
    if isinstance(example_inputs, dict):
        example_inputs, example_kwarg_inputs = None, example_inputs
    args, kwargs = _as_tuple(example_inputs), dict(example_kwarg_inputs or {})
    if isinstance(func, Module):
        traced = TopLevelTracedModule(func, "forward", args, kwargs)
    elif isinstance(getattr(func, "__self__", None), Module):
        traced = TopLevelTracedModule(func.__self__, func.__name__, args, kwargs)
    else:
        traced = TracedFunction(func)
        traced._begin(func, getattr(func, "__name__", "function"), args, kwargs)
    _check_results(traced.__dict__.pop("_first"), strict)
    if check_trace:
        for inputs in [(args, kwargs), *(((_as_tuple(more)), {}) for more in check_inputs or ())]:
            _check(traced, *inputs, check_tolerance)
    return traced


def _as_tuple(inputs):
    if inputs is None:
        return ()
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _check_results(found, strict):
    """Raise unless a trace gives tensors, and lists and tuples of them; where it is not strict it may give anything."""
    if not strict:
        return
    if isinstance(found, dict):
        raise RuntimeError("Encountering a dict at the output of the tracer might cause the trace to be incorrect, "
                           "this is only valid if the container structure does not change based on the module's "
                           "inputs: got a dict, expected a tuple, or strict=False")
    if isinstance(found, (list, tuple)):
        for part in found:
            _check_results(part, strict)
    elif not isinstance(found, Tensor):
        raise RuntimeError("Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced "
                           f"functions: got {type(found).__name__}")


def _check(traced, args, kwargs, tolerance):
    """Compare the graph with a call of the code, unless calls change something."""
    variants = traced._graphs.variants
    if variants and variants[0].is_random:
        warnings.warn("Trace had nondeterministic nodes, and is not compared with the Python code: "
                      f"{traced._graphs.__name__} draws random numbers. Did you forget to call .eval() on your model?",
                      TracerWarning)
    if not variants or variants[0].captured.written or variants[0].is_random or traced._graphs.has_effects:
        return
    with ExitStack() as exits:
        exits.switch(modes.set_recording, False)
        found, expected = leaves(traced(*args, **kwargs)), leaves(traced._function(*args, **kwargs))
    for one, other in zip(found, expected):
        if one.shape != other.shape or not allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True):
            raise TracingCheckError("Tracing failed sanity checks: got a result that differs from the Python code's "
                                    f"by more than {tolerance}")


def trace_module(mod, inputs, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True,
                 _force_outplace=False, _module_class=None, _compilation_unit=None, example_inputs_is_kwarg=False,
                 _store_inputs=True):
    """Trace methods of a module.

    Parameters
    ----------
    mod : Module
        The module.
    inputs : dict
        {method: arguments of the example}

    Returns
    -------
    TopLevelTracedModule
        Its methods run graphs.

    """
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    methods = {}
    for name, arguments in inputs.items():
        args, kwargs = ((), dict(arguments)) if example_inputs_is_kwarg else (_as_tuple(arguments), {})
        methods[name] = TopLevelTracedModule(mod, name, args, kwargs)
        _check_results(methods[name].__dict__.pop("_first"), strict)
        if check_trace:
            _check(methods[name], args, kwargs, check_tolerance)
    traced = methods.get("forward") or next(iter(methods.values()))
    traced.__dict__.update((name, other) for name, other in methods.items() if name != "forward")
    traced.__dict__["_methods"] = methods
    return traced


class FrozenModule(ScriptModule):
    """A graph with its weights: what `freeze` makes of a traced module, and `load` of a file."""

    def __init__(self, graph, trainable=False):
        super().__init__()
        self.__dict__["original_name"] = graph.name
        self.__dict__["_frozen"] = graph
        self.training = False
        evaluated = self.__dict__["_evaluated"] = self._take_weights(graph) if trainable else graph

        def run(*tensors):
            return _C.evaluate_graph(evaluated, [*tensors, *self._weights()], Tensor)
        self.__dict__["_graphs"] = Function(run, name=graph.name)

    def _take_weights(self, graph):
        """Make named constants parameters, and inputs of the graph that is run."""
        graph = graph.copy()
        self.__dict__["_order"] = []
        with graph.edit():
            for value, tensor in sorted(graph.constants.items()):
                name = graph.value(value).name
                if not _is_path(name):
                    continue
                old = graph.value(value)
                new = graph.add_input(tuple(old.shape), old.dtype, name)
                graph.replace(value, new)
                self._put(name, _as_torch(tensor))
        return graph

    def _put(self, path, tensor):
        *way, last = path.split(".")
        holder = self
        for name in way:
            if name not in holder._modules:
                holder._modules[name] = ScriptModule()
            holder = holder._modules[name]
        if tensor.dtype.is_floating_point:
            holder._parameters[last] = Parameter(tensor.clone(), requires_grad=False)
        else:
            holder._buffers[last] = tensor.clone()
        self._order.append((holder, last))

    def _weights(self):
        return [getattr(holder, name) for holder, name in self.__dict__.get("_order", ())]

    def _current(self):
        """Return the graph with the weights as they are now."""
        if not self.__dict__.get("_order"):
            return self._frozen
        graph = self._evaluated.copy()
        count = len(graph.inputs) - len(self._order)
        return freeze(graph, dict(enumerate(self._weights(), start=count)))

    def forward(self, *args, **kwargs):
        """Run the graph."""
        return result_of(self._frozen, self._graphs(*leaves((args, kwargs))))

    graph = property(lambda self: self._frozen, doc="Graph: the graph.")
    code = property(lambda self: str(self._frozen), doc="str: the graph as text.")

    def save(self, f, **kwargs):
        """Write one file, as `torch.jit.save` does."""
        save(self, f, **kwargs)

    def explain(self):
        """Return a report on the plans."""
        return self._graphs.explain()

    def _get_name(self):
        return self.original_name


def _is_path(name):
    return bool(name) and all(part.isidentifier() or part.isdigit() for part in name.split("."))


def _as_torch(tensor):
    return tensor if isinstance(tensor, Tensor) else from_numpy(tensor.numpy())


def freeze_traced(mod):
    """Return a traced module in evaluation mode as a graph whose weights are constants."""
    if isinstance(mod, FrozenModule):
        return mod
    graph, outside = mod._capture()
    made = FrozenModule(freeze(graph, outside))
    made.__dict__["_traced"] = mod
    return made


def save(m, f, _extra_files=None):
    """Write what was scripted or traced, with its weights, to one file.

    A path that ends with ".dragon" becomes a graph of Dragon's, which `dragon_run` runs where there is no Python; any
    other path, and any file object, an archive that PyTorch loads as well. `load` tells the two by what they hold.

    Parameters
    ----------
    m : Union[RecursiveScriptModule, ScriptFunction, TopLevelTracedModule, TracedFunction]
        What `script` or `trace` has returned.
    f : Union[str, os.PathLike, BinaryIO]
        A file, or an object with `write`.
    _extra_files : dict, optional
        {name: text or bytes} of further files in the archive.

    """
    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise ValueError(f"torch.jit.save: got {type(f).__name__} as a file, expected a path or an object with 'write'")
    if is_path and os.fspath(f).endswith(".dragon"):
        _save_graph(m, os.fspath(f), _extra_files)
        return
    from dragon.vm.torch.core.scripting.packing import folder_of, pack
    from dragon.vm.torch.serialization import _opened
    buffer = io.BytesIO()  # what cannot be written leaves no half a file
    pack(_as_script(m), buffer, folder_of(f), _extra_files)
    with _opened(f, "wb") as file:
        file.write(buffer.getvalue())


def _save_itself(self, f, **kwargs):
    """Write an archive, as `torch.jit.save` does."""
    save(self, f, **kwargs)


ScriptFunction.save = ScriptedModule.save = _save_itself  # who writes stands above who is written


def _as_script(m):
    """Return the scripted module that an archive of a module or function holds."""
    from dragon.vm.torch.core.scripting.packing import placeholder
    from dragon.vm.torch.core.scripting.recording import record
    if isinstance(m, ScriptedModule):
        return m
    if isinstance(m, FrozenModule):
        source = m.__dict__.get("_traced")
        if source is None:
            raise NotImplementedError("torch.jit.save: got a graph that was read from a file of Dragon's, expected a "
                                      "name that ends with .dragon: of such a graph there is no script")
        return record(source, Tracing(), as_constants=True)
    if isinstance(m, _Traced):
        return record(m, Tracing())
    if isinstance(m, ScriptFunction):
        return placeholder(m._compiled())
    reason = m.__dict__.get("_is_scripted") if isinstance(m, Module) else None
    if isinstance(reason, str):
        raise NotImplementedError(f"torch.jit.save: got a module that runs its Python code: {reason}")
    raise NotImplementedError(f"torch.jit.save: got {type(m).__name__}, expected what torch.jit.script or "
                              "torch.jit.trace returns")


def _save_graph(m, path, extra_files):
    """Write a graph of Dragon's."""
    if extra_files:
        raise NotImplementedError("torch.jit.save: got _extra_files, expected none: a graph's file holds the graph")
    if type(m) is FrozenModule:
        graph = m._current()
    elif isinstance(m, _Traced):
        graph = freeze(*m._capture())
    else:
        raise NotImplementedError(f"torch.jit.save: got {type(m).__name__} and a name that ends with .dragon, expected "
                                  "what torch.jit.trace returns: scripts are written to archives, under other names")
    graph.save(path)


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Return a module that runs the graph of a file.

    Parameters
    ----------
    f : Union[str, os.PathLike, BinaryIO]
        What `save` wrote.

    Returns
    -------
    FrozenModule
        Its parameters are those that were saved.

    """
    if isinstance(f, (str, os.PathLike)):
        if not os.path.isfile(f):
            what = "is a directory" if os.path.isdir(f) else "does not exist"
            raise ValueError(f"torch.jit.load: The provided filename {os.fspath(f)} {what}")
        with open(f, "rb") as file:
            return _load(file, map_location, _extra_files, os.fspath(f))
    if not hasattr(f, "read"):
        raise ValueError(f"torch.jit.load: got {type(f).__name__}, expected a path or an object with 'read'")
    return _load(f, map_location, _extra_files)


def _load(file, map_location, extra_files, path=None):
    """Return the module in an open file: an archive of scripts, or a graph of Dragon's."""
    from dragon.vm.torch.core.files.archive import starts_archive, whole
    from dragon.vm.torch.core.scripting.reading import load_archive
    from dragon.vm.torch.jit._script import _as_ours
    check_end(file)
    if not hasattr(file, "seek"):
        file = io.BytesIO(file.read())
    if starts_archive(file):
        return _as_ours(load_archive(whole(file), map_location, extra_files))
    if extra_files:
        raise NotImplementedError("torch.jit.load: got _extra_files, expected none for a graph's file")
    graph = Graph.from_bytes(file.read()) if path is None else Graph.load(path)
    module = FrozenModule(graph, trainable=True)
    return module if map_location is None else module.to(map_location)
