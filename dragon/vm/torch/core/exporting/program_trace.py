"""Trace a program's call into a graph: it runs once, over tensors without numbers, and every call is recorded."""
import inspect
import itertools
import re
import traceback

from dragon import _C
from dragon.core import modes
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.settings import begin_capture
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.exporting import api_to_aten_rest, control_flow, subscripts  # noqa: F401
from dragon.vm.torch.core.exporting.attributes import Attributes
from dragon.vm.torch.core.exporting.engine_level_export import EngineLevelTrace
from dragon.vm.torch.core.exporting.shape_env import ShapeEnv
from dragon.vm.torch.core.exporting.errors import ExportError, GuardOnDataDependentSymNode
from dragon.vm.torch.core.exporting.tracing_state import current_tracer, set_follows_sizes
from dragon.vm.torch.core.exporting.tracer import ExportTracer, aten
from dragon.vm.torch.core.exporting.replay import plain_shape
from dragon.vm.torch.core.exporting.api_to_aten import RULES
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.utils import _pytree as pytree

PLAIN = (int, float, bool, str, type(None), complex)


class Export:
    """Stands where captures in progress stand, so that who asks is told that a program is exported."""

    is_trace, exports, wants_shapes = False, True, True

    def __init__(self, trace, scribe):
        self.trace, self.scribe = trace, scribe

    def symbol(self, value, container, key):
        """Return a number as it is."""
        return value


class Input:
    """One input of the graph.

    Parameters
    ----------
    kind : str
        "parameter", "buffer", "constant" or "user".
    name : str
        Of the placeholder.
    target : Optional[str]
        The dotted name of the parameter, buffer or constant.
    value : Any
        What it is.
    node : Node
        The placeholder.
    persistent : bool, optional, default=True
        Of a buffer.

    """

    def __init__(self, kind, name, target, value, node, persistent=True):
        self.kind, self.name, self.target, self.value, self.node = kind, name, target, value, node
        self.persistent = persistent


class Traced:
    """What became of a call.

    Parameters
    ----------
    graph : Graph
        The graph.

    """

    def __init__(self, graph):
        self.graph = graph
        self.inputs, self.shape_env, self.numbers = [], None, {}
        self.in_spec = self.out_spec = self.outputs = None
        self.forward_names = []
        self.calls = {}  # of modules whose calls are kept: name -> (args, kwargs, result) as nodes
        self.call_specs = {}

    user_inputs = property(lambda self: [one for one in self.inputs if one.kind == "user"],
                           doc="List[Input]: what the program is called with.")


def argument_names(function, args, kwargs):
    """Return the names of positional arguments, then those by name, as a function has them.

    Parameters
    ----------
    function : Callable
        The function.
    args, kwargs : tuple, dict
        What it is called with.

    Returns
    -------
    List[str]
        As many as there are; entries of `*args` are numbered.

    """
    names = []
    parameters = list(inspect.signature(function).parameters.values())
    rest = next((item.name for item in parameters if item.kind is item.VAR_POSITIONAL), "args")
    plain = [item.name for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    for place in range(len(args)):
        names.append(plain[place] if place < len(plain) else f"{rest}_{place - len(plain)}")
    return [*names, *kwargs]


def _path_name(name, path):
    words = [name]
    for step in path:
        words.append(str(getattr(step, "idx", getattr(step, "key", getattr(step, "name", step)))))
    return re.sub(r"\W", "_", "_".join(words))


class ProgramTrace:
    """Traces one call of a module.

    Parameters
    ----------
    module : Module
        The module.
    args, kwargs : tuple, dict
        What it is called with.
    axes : Dict[int, List[int]]
        By the position of a leaf of the arguments: the axes whose sizes are open.
    sizes : Dict[tuple, int]
        {(leaf, axis): size} where the example's sizes are not taken.
    preserved : Sequence[str]
        Modules whose calls are kept.
    unknowns : Unknowns
        The numbers that depend on what lies in tensors.

    """

    def __init__(self, module, args, kwargs, axes, sizes=None, preserved=(), unknowns=None):
        self.module, self.args, self.kwargs, self.axes, self.sizes = module, args, kwargs, axes, sizes or {}
        self.preserved = preserved
        self.graph = Graph()
        self.traced = Traced(self.graph)
        self.traced.unknowns = self.unknowns = unknowns
        self._constants, self._reserved = 0, set()  # names that the user's arguments have

    def _placeholder(self, kind, name, target, value, persistent=True):
        name = re.sub(r"\W", "_", name)
        taken = {node.name for node in self.graph.nodes} | (self._reserved if kind != "user" else set())
        free = next(one for one in itertools.chain([name], (f"{name}_{n}" for n in itertools.count(1)))
                    if one not in taken)
        node = self.graph.placeholder(free)
        node.name = node.target = free  # words of Python's, too, which placeholders may be called
        made = Input(kind, node.name, target, value, node, persistent)
        self.traced.inputs.append(made)
        return made

    def _state(self):
        """Make the inputs for parameters and buffers."""
        self._reserved = {name for name, _ in self._named_users()}
        for name, value in self.module.named_parameters(remove_duplicate=False):
            yield self._placeholder("parameter", f"p_{name}", name, value)
        for prefix, part in self.module.named_modules(remove_duplicate=False):
            for name, value in part._buffers.items():
                if value is not None:
                    full = f"{prefix}.{name}" if prefix else name
                    yield self._placeholder("buffer", f"b_{full}", full, value,
                                            name not in part._non_persistent_buffers_set)

    def _named_users(self):
        """Return [(name, leaf)] of the arguments."""
        names = argument_names(type(self.module).forward.__get__(self.module), self.args, self.kwargs)
        self.traced.forward_names, found = names, []
        values = [*self.args, *self.kwargs.values()]
        for name, value in zip(names, values):
            for path, leaf in pytree.tree_flatten_with_path(value)[0]:
                if not isinstance(leaf, (Tensor, *PLAIN)) and not _is_constant(leaf):
                    raise ValueError(f"torch.export: got a {type(leaf).__name__} in argument {name!r}, expected "
                                     "tensors, numbers, strs, None, and what pytrees hold (register_dataclass)")
                found.append((re.sub(r"\W", "_", _path_name(name, path)), leaf))
        return found

    def _user_inputs(self):
        for name, leaf in self._named_users():
            yield self._placeholder("user", name, None, leaf)

    def make_tracer(self, shape_env):
        """Return the tracer."""
        return ExportTracer(self.graph, shape_env, self._constant, RULES)

    def run(self):
        """Return the Traced."""
        leaves, self.traced.in_spec = pytree.tree_flatten((self.args, self.kwargs))
        trace, shape_env = _C.Trace(), ShapeEnv()
        self.traced.shape_env, shape_env.unknowns = shape_env, self.unknowns
        tracer = self.make_tracer(shape_env)
        tracer.flow = control_flow
        tracer.lifted, tracer.traced, tracer.tracing = self._lifted, self.traced, self
        self.tracer = tracer
        state, stand_ins, users = list(self._state()), [], list(self._user_inputs())
        for place, one in enumerate(users):
            value = one.value
            if isinstance(value, Tensor):
                shape = tuple(self.sizes.get((place, axis), size) for axis, size in enumerate(value.shape))
                first = next((n for n, other in enumerate(leaves[:place]) if other is value), None)
                stand_in = stand_ins[first] if first is not None else _phantom(value, shape)
                if first is None:
                    trace.add_input(stand_in)
                    shape_env.add_argument(stand_in, list(self.axes.get(place, ())))
                value = stand_in
            stand_ins.append(value)
        self.unknowns.prepare(trace, shape_env, ops.empty((0,)))
        attributes = Attributes(self.module)
        with ExitStack() as exits:
            exits.callback(trace.restore_gradients)
            exits.switch(modes.set_phantom, True)
            exits.switch(set_follows_sizes, bool(self.axes))
            begin_capture(exits, Export(trace, shape_env), trace)
            exits.callback(shape_env.stop)
            shape_env.start()
            exits.callback(attributes.restore)
            _follow_modules(exits, tracer, self.module, self.preserved, self.traced)
            with tracer:
                for one, value in [*((one, one.value) for one in state), *zip(users, stand_ins)]:
                    one.node.meta["example"] = value
                    if isinstance(value, Tensor) and id(value) not in tracer.nodes:
                        tracer.track(value, one.node)
                result = self._result(stand_ins, trace)
                attributes.note_writes()
            self._return(tracer, result)
        if shape_env.failure and (self.axes or self.unknowns.numbers):
            raise ExportError(f"torch.export: sizes cannot be followed: {shape_env.failure}")
        self._sort_inputs()
        self.traced.tracer = tracer
        return self.traced

    def _result(self, stand_ins, trace):
        """Return what the program gives for stand-ins of the leaves of its arguments."""
        def call(leaves):
            args, kwargs = pytree.tree_unflatten(leaves, self.traced.in_spec)
            return self._call(args, kwargs)
        if not self.unknowns.is_below:
            return call(stand_ins)
        given, places = [], {}
        for leaf in stand_ins:
            if isinstance(leaf, Tensor) and id(leaf) not in places:
                places[id(leaf)] = len(given)
                given.append(leaf)
        axes = [(places[id(stand_ins[leaf])], axis) for leaf, found in self.axes.items() for axis in found]

        def called(tensors):
            return call([tensors[places[id(leaf)]] if isinstance(leaf, Tensor) else leaf for leaf in stand_ins])
        return EngineLevelTrace(self.tracer, trace, [*given, *self.unknowns.pool], sorted(set(axes)), called).result()

    def _call(self, args, kwargs):
        try:
            return self.module(*args, **kwargs)
        except RuntimeError as error:
            if "looks at a tensor's numbers" not in str(error):
                raise
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/dragon/" not in frame.filename]
            place = f"{frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}" if frames else "an unknown place"
            raise GuardOnDataDependentSymNode(
                "Could not guard on data-dependent expression: the program looks at a tensor's numbers at "
                f"{place}; expected torch.cond, torch.where or another operator") from error

    def _return(self, tracer, result):
        leaves, self.traced.out_spec = pytree.tree_flatten(result)
        for leaf in leaves:
            if not isinstance(leaf, (Tensor, *PLAIN)) and not _is_constant(leaf):
                raise ValueError(f"torch.export: the program returns a {type(leaf).__name__}, expected tensors, "
                                 "numbers, strs, None, and what pytrees hold (register_dataclass)")
        made = tuple(tracer.argument(leaf) for leaf in leaves)
        self.traced.outputs = made
        self.graph.output(made)

    # --- what the program found by itself

    def _constant(self, tensor):
        """Return the input for a tensor that is neither made nor given."""
        for prefix, part in self.module.named_modules():
            for name, value in vars(part).items():
                if value is tensor:
                    return self._lift(tensor, f"{prefix}.{name}" if prefix else name)
        self._check_has_numbers(tensor)
        name = f"lifted_tensor_{self._constants}"
        self._constants += 1
        return self._lift(tensor, name)

    def _check_has_numbers(self, tensor):
        """Raise where a tensor was made while the program ran, by what is no call of an operator."""
        try:
            self._aside(lambda: tensor.detach().reshape(-1)[:1].clone(), (), {})
        except RuntimeError as error:
            raise ExportError(f"torch.export: the program uses a tensor {tuple(tensor.shape)} that no operator's call "
                              f"gave (at {user_line()}); expected tensors of operators, parameters, buffers and "
                              "constants") from error

    def _aside(self, func, args, kwargs):
        """Return what a function gives that runs with numbers, and is no part of the program."""
        with ExitStack() as exits:
            exits.switch(modes.set_phantom, False)
            exits.set(self.tracer.shape_env, "busy", self.tracer.shape_env.busy + 1)
            return self.tracer.quietly(func, args, kwargs)

    def _lift(self, tensor, target):
        first = next((one.node for one in self.traced.inputs if one.kind == "user"), None)
        place = first if first is not None else next(iter(self.graph.nodes), None)
        before = self.graph.inserting_before(place) if place is not None else self.graph.inserting_before()
        with before:
            one = self._placeholder("constant", f"c_{target}", target, tensor)
        one.node.meta["example"] = tensor
        return one.node

    def _lifted(self, func, args, kwargs):
        """Return a tensor of Python's numbers, with the numbers, as a constant."""
        made = self._aside(func, args, kwargs)
        name = f"lifted_tensor_{self._constants}"
        self._constants += 1
        self.tracer.track(made, self._lift(made, name))
        return made

    def _sort_inputs(self):
        """Order the inputs as their nodes are."""
        order = {node: place for place, node in enumerate(self.graph.nodes)}
        self.traced.inputs.sort(key=lambda one: order[one.node])


def _is_constant(value):
    return pytree.is_constant_class(type(value)) if hasattr(pytree, "is_constant_class") else False


def _phantom(value, shape):
    """Return a tensor without numbers that is otherwise like another one."""
    return _C.phantom_like(value, shape)


def _shown(tensor):
    """Return a tensor without numbers as a program prints it."""
    dtype = "" if str(tensor.dtype) == "torch.float32" else f", dtype={tensor.dtype}"
    shape = current_tracer().quietly(plain_shape, (tensor,), {})  # to be told of is no decision
    return f"FakeTensor(..., size={shape}{dtype})"


def _follow_modules(exits, tracer, root, preserved, traced):
    """Note at every node which modules' calls are under way, until an ExitStack ends."""
    names = {}
    for name, part in root.named_modules():
        names.setdefault(id(part), name)
    called, counts = Module.__call__, {}

    def call(module, *args, **kwargs):
        name = names.get(id(module))
        if name is None:
            return called(module, *args, **kwargs)
        count = counts[name] = counts.get(name, -1) + 1
        key = f"L['self']{''.join('.' + word for word in name.split('.') if word)}" + (f"@{count}" if count else "")
        called_as = name + (f"@{count}" if count else "")
        tracer.stack[key] = called_as, f"{type(module).__module__}.{type(module).__qualname__}"
        try:
            result = called(module, *args, **kwargs)
            if name in preserved:
                leaves, in_spec = pytree.tree_flatten((args, kwargs))
                found, out_spec = pytree.tree_flatten(result)
                traced.calls[called_as] = list(map(tracer.argument, leaves)), list(map(tracer.argument, found))
                traced.call_specs[called_as] = in_spec, out_spec, argument_names(
                    type(module).forward.__get__(module), args, kwargs)
            return result
        finally:
            tracer.stack.pop(key, None)

    def set_item(tensor, key, value):
        if current_tracer() is None:
            return original(tensor, key, value)
        return subscripts.write(tensor, key, value)

    def item(tensor):
        return told(tensor) if current_tracer() is None else aten().item.default(tensor)

    def to_list(tensor):
        if current_tracer() is None:
            return listed(tensor)
        return tensor.item() if tensor.ndim == 0 else [part.tolist() for part in tensor.unbind()]

    def text(name):
        plain = getattr(Tensor, name)

        def shown(tensor, *args):
            return plain(tensor, *args) if current_tracer() is None else _shown(tensor)
        shown.__name__ = name
        return shown

    original, told, listed = Tensor.__setitem__, Tensor.item, Tensor.tolist
    fresh = {"__setitem__": set_item, "item": item, "tolist": to_list}
    fresh.update((name, text(name)) for name in ("__repr__", "__str__", "__format__"))
    exits.set(Module, "__call__", call)
    for name, function in fresh.items():
        if name not in vars(Tensor):
            exits.callback(_leave_to_base, name)
        exits.set(Tensor, name, function)


def _leave_to_base(name):
    if name in vars(Tensor):
        delattr(Tensor, name)
