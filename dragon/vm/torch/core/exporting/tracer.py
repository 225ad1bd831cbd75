"""The tracer of `torch.export`: it records calls of the API as nodes of a graph, which call PyTorch's operators."""
import collections
import itertools
import math
import operator
import re

from dragon.core import modes as switches, python_operators
from dragon.core.capture.source_lines import user_frame, user_line
from dragon.core.capture.sizes import Quantity, Size as Number
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.exporting.errors import ExportError
from dragon.vm.torch.core.exporting.tracing_state import current_tracer, set_tracer  # noqa: F401
from dragon.vm.torch.core.exporting.overload_resolution import NoOverload, arguments_of, resolve
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.exporting.unbacked_symbols import maker_of, text_of_check, written_by
from dragon.vm.torch.core.overrides import TorchFunctionMode, below, count_modes, flat
from dragon.vm.torch.core.python_operators import function_of, is_attribute, is_look
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import Node

_aten = []  # the namespace, once it was asked for
OPERATIONS = {**{name: python_operators.function_of(name) for name in python_operators.ARITHMETIC}, "whole": math.trunc}

KEPT = ("stack_trace", "custom", "torch_fn")  # what nodes are told anew of the one that they come from


def aten():
    """Return the namespace of PyTorch's own operators."""
    if not _aten:
        from dragon.vm.torch._ops import namespace  # it asks for this module
        _aten.append(namespace("aten"))
    return _aten[0]


def script_of(func):
    """Return the script of a function of `torch.nn.functional`, for Python to call; None for other functions."""
    known = vars(api().nn.functional).get(getattr(func, "__name__", ""))
    if known is None or getattr(func, "__wrapped__", func) is not getattr(known, "__wrapped__", known):
        return None
    from dragon.vm.torch.core.scripting.scripts import python_form  # which few programs need
    return python_form(func.__name__)


def node_name(target):
    """Return what nodes that call an operator are called."""
    name = target.overloadpacket.__name__
    if name.startswith("__"):
        return name.strip("_")
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


class ExportTracer(TorchFunctionMode):
    """Writes a program's calls into a graph.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    shape_env : ShapeEnv
        Who hands out sizes.
    find_constant : Callable[[Tensor], Node]
        Makes a node for a tensor that the program found by itself.
    rules : Dict[str, Callable]
        What calls of the API are in PyTorch's operators, where they are not the operator of their name.

    """

    flow = None  # who writes control flow down
    origin = None  # the node of another graph that is written down anew

    def __init__(self, graph, shape_env, find_constant, rules):
        self.graph, self.shape_env, self.find_constant, self.rules = graph, shape_env, find_constant, rules
        self.nodes, self.stack, self._numbers, self._depth = {}, collections.OrderedDict(), {}, 0
        self.modules, self.records = {}, switches.is_recording()

    def _enter_scope(self, exits):
        """Listen from now on."""
        exits.switch(set_tracer, self)
        return super()._enter_scope(exits)

    # --- values and nodes

    def track(self, tensor, node):
        """Remember that a tensor is what a node gives."""
        self.nodes[id(tensor)] = tensor, node  # kept, so that no other object comes to lie where it was
        self.shape_env.learn(tensor, node)

    def node_of(self, tensor):
        """Return the node that gives a tensor."""
        found = self.nodes.get(id(tensor))
        if found is None:
            self.track(tensor, self.find_constant(tensor))
            found = self.nodes[id(tensor)]
        return found[1]

    def number_of(self, size):
        """Return the node that gives a number which follows sizes, or the number where it is a constant."""
        return self._number(size.number)

    def _number(self, number):
        origin = self.shape_env.origins.get(number)
        if origin is None:
            raise ExportError("torch.export: the program uses a number that follows a size in a way that cannot be "
                              f"told (at {user_line()}); expected sizes, numel() and arithmetic with them")
        if origin.how == "constant":
            return origin.value
        if number not in self._numbers:
            self._numbers[number] = self._number_node(origin)
        return self._numbers[number]

    def _number_node(self, origin):
        if origin.how == "size":
            target, args = aten().sym_size.int, origin.parts
        elif origin.how in ("numel", "item"):
            target, args = (aten().sym_numel.default if origin.how == "numel" else aten().item.default), origin.parts
        elif origin.how == "real":
            return self._number(origin.parts[0])
        else:
            target, args = OPERATIONS[origin.how], tuple(map(self._number, origin.parts))
        name = "sym_size_int" if origin.how == "size" else getattr(target, "__name__", "number").partition(".")[0]
        node = self.graph.create_node("call_function", target, args, {}, name)
        self._describe(node)
        return node

    def argument(self, value):
        """Return a value as nodes hold it."""
        if isinstance(value, Tensor):
            return self.node_of(value)
        if type(value) in (Number, Quantity):
            return self.number_of(value)
        if isinstance(value, Node):
            return value
        if isinstance(value, GraphModule):
            return self._module_node(value)
        if isinstance(value, (list, tuple)):
            made = [self.argument(item) for item in value]
            return type(value)(made) if type(value) in (list, tuple) else made
        if isinstance(value, dict):
            return {key: self.argument(item) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(*map(self.argument, (value.start, value.stop, value.step)))
        return value

    def _describe(self, node):
        node.meta["nn_module_stack"] = dict(self.stack)
        if self.origin is not None:
            node.meta.update((key, self.origin.meta[key]) for key in KEPT if key in self.origin.meta)
        else:
            node.meta["stack_trace"] = user_frame()

    def emit(self, target, args, kwargs, value, name=None):
        """Add a call, and remember which tensors its results are.

        Parameters
        ----------
        target : Callable
            What is called.
        args, kwargs : tuple, dict
            Its arguments: tensors, numbers, and what else operators take.
        value : Any
            What it gave.
        name : str, optional
            What the node is called.

        Returns
        -------
        Any
            The value.

        """
        name = name or node_name(target)
        if switches.autocast_dtype() is not None:
            raise NotImplementedError(f"torch.export: the program calls {target} under autocast (at {user_line()}); "
                                      "expected autocast around the calls of the exported module")
        self.shape_env.recent = []
        node = self.graph.create_node("call_function", target, self.argument(tuple(args)),
                                      self.argument(dict(kwargs)), name)
        self._describe(node)
        self._give(node, value)
        if self.records and not switches.is_recording():
            self._detach(node, value, args)
        return value

    def _detach(self, node, value, args):
        """Note that a result made under `no_grad` has no history."""
        schema = getattr(node.target, "_schema", None)
        followed = [item for item in flat(args, {}) if isinstance(item, Tensor) and item.requires_grad]
        if isinstance(value, Tensor) and followed and not getattr(schema, "is_mutable", False) and getattr(
                schema, "views", None) is None:
            made = self.graph.create_node("call_function", aten().detach.default, (node,), {}, "detach")
            self._describe(made)
            self._give(made, value)

    def _give(self, node, value):
        node.meta["example"] = value
        if isinstance(value, Tensor):
            self.track(value, node)
        elif isinstance(value, (list, tuple)):
            for place, item in enumerate(value):
                if isinstance(item, (Tensor, list, tuple)):
                    part = self.graph.create_node("call_function", operator.getitem, (node, place), {}, "getitem")
                    self._describe(part)
                    self._give(part, item)
        elif type(value) in (Number, Quantity):
            self._numbers.setdefault(value.number, node)

    # --- graphs within

    def hold(self, module, label):
        """Return a graph module that the graph has a name for from now on."""
        name = next(f"{label}_{number}" for number in itertools.count() if f"{label}_{number}" not in self.modules)
        self.modules[name] = module
        return module

    def _module_node(self, module):
        name = next((name for name, known in self.modules.items() if known is module), None)
        if name is None:
            self.hold(module, "graph")
            return self._module_node(module)
        node = self.graph.create_node("get_attr", name, (), {}, name)
        node.meta["nn_module_stack"] = dict(self.stack)
        return node

    def emit_higher(self, target, args, lifted):
        """Add a call of an operator that takes graphs; nodes among its arguments stand for their values."""
        def value_of(item):
            if isinstance(item, Node):
                return lifted[item] if lifted.get(item) is not None else self.value_of_node(item)
            if isinstance(item, (list, tuple)):
                return type(item)(map(value_of, item))
            return item
        value = self.quietly(target.run, tuple(map(value_of, args)), {})
        return self.emit(target, args, {}, tuple(value), target.__name__)

    def value_of_node(self, node):
        """Return the number or truth that a node gives in the example."""
        if isinstance(node.meta.get("example"), bool):
            return node.meta["example"]
        number = next(number for number, known in self._numbers.items() if known is node)
        return int(self.shape_env.origins[number].value)

    def constant(self, func, args, kwargs):
        """Return a tensor made of Python's numbers, which become a constant of the program."""
        made = self.lifted(func, args, kwargs)
        return self.emit(aten().lift_fresh_copy.default, (made,), {}, self.quietly(lambda: made.clone(), (), {}))

    # --- calls

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if is_attribute(func):
            with self:  # what it computes is heard
                return below(func, args, kwargs)
        func, args = function_of(func, args)
        name = func.__name__
        rule = self.rules.get(name)
        if rule is None and is_look(func):
            return func(*args, **kwargs)
        if rule is not None:
            return rule(self, func, args, kwargs)
        return self.default(func, name, args, kwargs)

    def default(self, func, name, args, kwargs):
        """Note a call of the operator of a function's name; of one without such an operator, what it calls in turn."""
        if not overloads(name):
            return self.within(script_of(func) or func, args, kwargs)
        try:
            overload, positional, named = resolve(name, args, kwargs)
        except NoOverload as error:
            if script_of(func) is not None:
                return self.within(script_of(func), args, kwargs)
            self.quietly(func, args, kwargs)  # it knows better what is wrong with the arguments
            raise ExportError(f"torch.export: {error} (at {user_line()})") from None
        target = getattr(getattr(aten(), name), overload)
        if maker_of(target, positional) is not None:
            return self.unknown(target, positional, named)
        value = self.quietly(func, args, kwargs)
        return self.emit(target, positional, named, value)

    def called(self, target, args, kwargs):
        """Note a call of an operator by its own name, as `torch.ops.aten.add.Tensor`."""
        packet = getattr(target, "overloadpacket", target)
        overload = getattr(target, "_overloadname", None)
        if packet._namespace == "aten" and overloads(packet.__name__):
            if overload is None:
                overload, args, kwargs = resolve(packet.__name__, args, kwargs)
            else:
                args, kwargs = arguments_of(overloads(packet.__name__)[overload], args, kwargs)
        target = getattr(packet, overload or "default")
        if packet._qualified_op_name in ("aten::item", "aten::_local_scalar_dense"):
            return self.unknown_number(target, *args)
        if packet._qualified_op_name == "aten::_assert_scalar":
            return self.checked(args[0])
        if maker_of(target, args) is not None:
            return self.unknown(target, args, kwargs)
        run = written_by(target, args) or target.run
        return self.emit(target, args, kwargs, self.quietly(run, args, kwargs))

    # --- what depends on numbers

    def unknown(self, target, args, kwargs):
        """Note a call whose result has a size that depends on numbers."""
        make, most = maker_of(target, args)
        name, size = self.shape_env.unknowns.mint(self.shape_env)
        value = self.quietly(make, (size, *args), kwargs)
        self.emit(target, args, kwargs, value)
        self._note_unknown(target, name, is_size=True)
        most = self.quietly(most, args, {})
        first = next(item for item in flat((value,), {}) if isinstance(item, Tensor))
        size = self.quietly(lambda: first.shape[0], (), {})
        self.shape_env.unknowns.numbers[size.number] = name
        self.shape_env.recent = []
        self.checked(size >= 0)
        if type(most) is int:
            self.checked(size <= most)
        return value

    def unknown_number(self, target, tensor):
        """Note that the program takes a number from a tensor."""
        name, size = self.shape_env.unknowns.mint(self.shape_env)
        value = size / 1 if tensor.is_floating_point() else size
        self.shape_env.unknowns.numbers[value.number] = name
        self.emit(target, (tensor,), {}, value)
        node = self._note_unknown(target, name, is_size=False)
        self.shape_env.origins.pop(value.number, None)
        self.shape_env.learn_number(value, "item", node)
        if str(tensor.dtype) == "torch.bool":
            self.shape_env.unknowns.is_truth(name)
        return value

    def _note_unknown(self, target, name, is_size):
        node = next(node for node in reversed(self.graph.nodes) if node.target is target)
        self.shape_env.unknowns.made[node] = name, is_size
        return node

    def checked(self, holds):
        """Note what the program checks of numbers that depend on tensors'; it was decided just before.

        Parameters
        ----------
        holds : bool
            Whether it holds for the numbers that are supposed.

        """
        recent, self.shape_env.recent = self.shape_env.recent, []
        if not holds:
            self.shape_env.unknowns.refute(self.shape_env, recent)
            return
        for decision in recent:
            found = self.shape_env.unknowns.claim(self.shape_env, decision)
            if found is None or found in self.shape_env.unknowns.noted:
                continue
            self.shape_env.unknowns.noted.append(found)
            self.shape_env.decisions = [known for known in self.shape_env.decisions if known[:4] != decision[:4]]
            operation, *numbers = found
            node = self.graph.create_node("call_function", operation, tuple(map(self._number, numbers)), {},
                                          operation.__name__)
            node.meta["example"] = True
            self._describe(node)
            text = f"{text_of_check(self.shape_env, operation, *numbers)} on node '{node.name}'"
            self.emit(aten()._assert_scalar.default, (node, f"Runtime assertion failed for expression {text}"), {},
                      None, "_assert_scalar_default")

    def quietly(self, func, args, kwargs):
        """Call a function without recording its calls."""
        with ExitStack() as exits:
            exits.callback(count_modes)
            exits.switch(set_tracer, None)
            exits.set(self.shape_env, "busy", self.shape_env.busy + 1)
            switches.set_override_modes(0)
            return func(*args, **kwargs)

    def within(self, func, args, kwargs):
        """Call a function and listen to the calls that it makes."""
        if self._depth > 40:
            raise ExportError(f"torch.export: {getattr(func, '__name__', func)} calls itself without end")
        with ExitStack() as exits:
            exits.set(self, "_depth", self._depth + 1)
            exits.enter(self)
            return getattr(func, "__wrapped__", func)(*args, **kwargs)
