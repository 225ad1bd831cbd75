"""`torch.fx.Proxy`: stands for a value while code runs to be traced; each use of it becomes a node."""
import collections
import copy
import dis
import enum
import operator
import sys
import traceback
from dataclasses import fields, is_dataclass

from dragon.vm.torch.core.graphs.calls import as_written
from dragon.vm.torch.core.graphs.operators import MAGIC as magic_methods
from dragon.vm.torch.core.graphs.operators import REFLECTABLE as reflectable_magic_methods
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx import traceback as fx_traceback
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.immutable_collections import immutable_dict
from dragon.vm.torch.fx.node import Node, base_types, map_aggregate, map_arg
from dragon.vm.torch.fx.operator_schemas import check_for_mutable_operation

_COPY_META_FIELDS = ["nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id",
                     "from_node", "quantization_tag", "_numeric_debug_handle", "partitioner_tag", "custom"]


class TraceError(ValueError):
    """What code does with a stand-in that no graph can hold."""


class Scope:
    """The module in which the program is while it is traced.

    Parameters
    ----------
    module_path : str
        Its dotted name.
    module_type : type
        Its class.

    """

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """Be in a module within a `with` block.

    Parameters
    ----------
    scope : Scope
        The tracer's, which changes.
    current_scope : Scope
        What it becomes.

    """

    def __init__(self, scope, current_scope):
        self._prev_scope = copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self):
        return self._scope

    def __exit__(self, *_):
        self._scope.module_path, self._scope.module_type = self._prev_scope.module_path, self._prev_scope.module_type


class TracerBase:
    """What makes nodes and stand-ins for a graph."""

    graph: Graph
    record_stack_traces = False
    _record_forward_stack_traces_only = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: collections.OrderedDict
    node_name_to_scope: dict

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Add a node to the graph, and note where the program is.

        Parameters
        ----------
        kind : str
            What the node does.
        target : Union[str, Callable]
            What is called, or read.
        args : Tuple[Argument, ...]
            The positional arguments.
        kwargs : Dict[str, Argument]
            The arguments by name.
        name : str, optional
            The name that is wished for.
        type_expr : type, optional
            The type of the value.

        Returns
        -------
        Node
            The node.

        """
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if hasattr(self, "node_name_to_scope"):
            self.node_name_to_scope[node.name] = self.scope.module_path, self.scope.module_type
        if fx_traceback.has_preserved_node_meta():
            current = fx_traceback.get_current_meta()
            if current.get("stack_trace"):
                node.stack_trace = current["stack_trace"]
            for field in _COPY_META_FIELDS:
                if field in current:
                    node.meta[field] = copy.copy(current[field])
        elif getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = "".join(_user_frames().format()).strip()
        return node

    def proxy(self, node):
        """Return a stand-in for a node's value."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """Add a node from arguments among which are stand-ins, and return a stand-in for its value.

        Parameters
        ----------
        kind : str
            What the node does.
        target : Union[str, Callable]
            What is called, or read.
        args : Tuple[Any, ...]
            The positional arguments.
        kwargs : Dict[str, Any]
            The arguments by name.
        name : str, optional
            The name that is wished for.
        type_expr : type, optional
            The type of the value.
        proxy_factory_fn : Callable[[Node], Proxy], optional
            Makes the stand-in; by default `proxy`.

        Returns
        -------
        Proxy
            The stand-in.

        """
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError(f"TracerBase.create_proxy: got {type(args).__name__} and {type(kwargs).__name__} from "
                                 "create_arg, expected a tuple and a dict")
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a):
        """Return a value as an argument that nodes can hold: nodes in place of stand-ins, also deep within.

        Parameters
        ----------
        a : Any
            The value.

        Returns
        -------
        Argument
            The argument.

        Raises
        ------
        NotImplementedError
            Nodes hold no such thing.

        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            if hasattr(a, "_fields"):
                return type(a)(*items)
            return type(a)(items) if type(a) is Size and not _has_node(items) else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return immutable_dict({self._create_key(key): self.create_arg(value) for key, value in a.items()})
        if isinstance(a, slice):
            return slice(*(self.create_arg(item) for item in (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ... or isinstance(a, Node):
            return a
        if hasattr(a, "overloadpacket") or hasattr(a, "_qualified_op_name"):
            return a
        if is_dataclass(a) and not isinstance(a, type):
            named = {item.name: self.create_arg(getattr(a, item.name)) for item in fields(a)}
            return self.create_node("call_function", type(a), (), named)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_key(self, key):
        made = self.create_arg(key)

        def refuse(node):
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {made}")
        map_arg(made, refuse)
        return made

    def to_bool(self, obj):
        """Answer whether a stand-in is true: nobody knows; derived classes may."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """Return an iterator over a stand-in: how many items there are is known only where they are unpacked."""
        raise TraceError("Proxy object cannot be iterated. This happens where it is looped over, or given as *args or "
                         "**kwargs; the number of items must be known while code is traced: loop over a range, or "
                         "make the function a leaf with torch.fx.wrap")

    def keys(self, obj):
        """Return what `**` asks a stand-in for."""
        return Attribute(obj, "keys")()


def _has_node(items):
    return any(isinstance(item, Node) for item in items)


def _user_frames():
    """Return the frames of the program: not those of this framework."""
    root = __name__.rpartition(".fx.")[0]
    frames = [frame for frame, _ in traceback.walk_stack(sys._getframe(1))
              if not frame.f_globals.get("__name__", "").startswith(root)]
    inner = [(frame, frame.f_lineno) for frame in reversed(frames)]
    return traceback.StackSummary.extract(iter(inner))


class GraphAppendingTracer(TracerBase):
    """A tracer that adds to the end of a graph: what stand-ins made by hand have.

    Parameters
    ----------
    graph : Graph
        The graph.

    """

    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}


class Proxy:
    """A stand-in for the value of a node: what is done with it is added to the graph.

    Parameters
    ----------
    node : Node
        The node.
    tracer : TracerBase, optional
        Who adds nodes; by default they go where the graph's new nodes go.

    """

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name in ("node", "tracer") or name.startswith("__array") or name == "__cuda_array_interface__":
            raise AttributeError(f"Proxy has no attribute {name!r}", name=name, obj=self)
        return Attribute(self, name)

    def __getstate__(self):
        return self.__dict__

    def __deepcopy__(self, memo):
        copied = type(self).__new__(type(self))
        copied.__dict__.update({key: copy.deepcopy(value, memo) for key, value in self.__dict__.items()})
        return copied

    def __setstate__(self, state):
        self.__dict__ = state

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        count = _unpacked(sys._getframe(1))
        return self.tracer.iter(self) if count is None else (self[place] for place in range(count))

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        if self.tracer.trace_asserts:
            frame = sys._getframe(1)
            if _is_asserted(frame):
                self.tracer.create_proxy("call_function", FUNCTIONS["_assert"], (self, "the traced program's assert"),
                                         {})
                return True
        return self.tracer.to_bool(self)

    def keys(self):
        """Return what `**` asks for."""
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be "
                           "recorded, please call torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = {}

        def note(value):
            if isinstance(value, Proxy):
                tracers.setdefault(getattr(value.tracer, "graph", value.tracer), value.tracer)
        map_aggregate(args, note)
        map_aggregate(kwargs, note)
        if len(tracers) > 1:
            raise RuntimeError("Found multiple different tracers "
                               f"{list(tracers.values())} while trying to trace operations {orig_method}")
        tracer = next(iter(tracers.values()))
        args, kwargs = as_written(orig_method, args, kwargs)
        name = _method_name(orig_method)
        if name is not None:
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs,
                                   name=getattr(tracer.graph, "_target_to_str", lambda target: None)(orig_method))


def _method_name(function):
    """Return the name of a function that only tensors have, as a method; None of others."""
    name = getattr(function, "__name__", None)
    if name and name not in FUNCTIONS and getattr(Tensor, name, None) is function:
        return name
    return "__get__" if name == "__get__" else None


def _unpacked(frame):
    """Return how many items the code that iterates unpacks, None where it does something else."""
    if frame is None:
        return None
    found = [item for item in dis.get_instructions(frame.f_code) if item.offset >= frame.f_lasti]
    if found and found[0].opname == "UNPACK_SEQUENCE":
        return found[0].argval
    return None


def _is_asserted(frame):
    """Return whether code asks for a truth only to raise AssertionError."""
    found = [item for item in dis.get_instructions(frame.f_code) if item.offset >= frame.f_lasti
             and item.opname not in ("CACHE", "TO_BOOL", "COPY", "NOT_TAKEN")]
    if not found or not found[0].opname.startswith("POP_JUMP"):
        return False
    jump, after = found[0], found[1] if len(found) > 1 else None
    return "TRUE" in jump.opname and after is not None and after.opname in ("LOAD_ASSERTION_ERROR",
                                                                            "LOAD_COMMON_CONSTANT")


class MetaProxy(Proxy):
    """A stand-in with an example of its value.

    Parameters
    ----------
    node : Node
        The node.
    tracer : TracerBase, optional
        Who adds nodes.
    fake_mode : Any, optional
        What makes examples.

    """

    def __init__(self, node, tracer=None, fake_mode=None):
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self):
        return f"MetaProxy({self.node.name})"


class Attribute(Proxy):
    """A stand-in for an attribute: the node is made when the value is used, and a call is a method's.

    Parameters
    ----------
    root : Proxy
        Whose attribute it is.
    attr : str
        Its name.

    """

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node = None

    @property
    def node(self):
        """The node that reads the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A stand-in for a parameter that knows its shape, so that code may branch on it.

    Parameters
    ----------
    tracer : TracerBase
        Who adds nodes.
    node : Node
        The node.
    name : str
        The parameter's name.
    param : Parameter
        The parameter.

    """

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, Tensor):
            raise AssertionError(f"ParameterProxy: got {type(param).__name__}, expected a Parameter")
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    shape = property(lambda self: self.param.shape, doc="The parameter's shape.")
    ndim = property(lambda self: self.param.ndim, doc="The number of its axes.")

    def size(self):
        """Return the parameter's shape."""
        return self.param.size()

    def dim(self):
        """Return the number of its axes."""
        return self.param.dim()

    def numel(self):
        """Return the number of its elements."""
        return self.param.numel()

    nelement = numel


def _define(name, target, is_reflected=False):
    def impl(self, *args):
        tracer = self.tracer
        return tracer.create_proxy("call_function", target, (*args, self) if is_reflected else (self, *args), {})
    impl.__name__ = name
    impl.__doc__ = "Add the operator to the graph."
    setattr(Proxy, name, impl)


for _name in magic_methods:
    _bare = _name.strip("_")
    _function = operator.truediv if _bare == "div" else getattr(operator, _name)
    _define(f"__{_bare}__", _function)
    if _name in reflectable_magic_methods and _name != "getitem":
        _define(f"__r{_bare}__", _function, is_reflected=True)
Proxy.__hash__ = object.__hash__
