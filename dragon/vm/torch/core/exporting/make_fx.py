"""`make_fx`: a function's call as a graph of aten operators; tensors that it found by itself are attributes."""
import inspect

from dragon.vm.torch.core.exporting.decompositions import composite_table
from dragon.vm.torch.core.exporting.decomposition_pass import Functional
from dragon.vm.torch.core.exporting.dims import Dim
from dragon.vm.torch.core.exporting.tracer import ExportTracer, aten
from dragon.vm.torch.core.exporting.program import describe_program
from dragon.vm.torch.core.exporting.api_to_aten import RULES
from dragon.vm.torch.core.exporting.program_trace import ProgramTrace
from dragon.vm.torch.core.graphs.structured import _PyTreeCodeGen, _PyTreeInfo  # after what it is a part of
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.utils import _pytree as pytree

MODES = ("real", "fake", "symbolic")
NEVER = frozenset(("item.default", "detach_.default"))  # these have their own way into the graph


class Dispatched(ExportTracer):
    """Writes down what operators come to when they are called, not what the program called.

    Parameters
    ----------
    parts : Any
        Of a tracer.
    table : Dict[OpOverload, Callable]
        What operators are made of.

    """

    def __init__(self, *parts, table):
        super().__init__(*parts)
        self.table = table

    def emit(self, target, args, kwargs, value, name=None):
        """Add the calls that an operator is made of, or its own."""
        known = str(target).removeprefix("aten.")
        if known == "detach_.default":
            return value  # it comes with `torch.tensor`, and has nothing to do
        made = self.table.get(target) or self.table.get(getattr(target, "overloadpacket", None))
        if made is not None and known not in NEVER:
            with self:
                found = made(*args, **kwargs)
            if found is not NotImplemented:
                return found
        return super().emit(target, args, kwargs, value, name)

    def _detach(self, node, value, args):
        """Add nothing: whether a result has a history is no matter of operators."""


class _Called(Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        object.__setattr__(self, "function", function)

    def forward(self, *args):
        """Return what the function gives."""
        return self.function(*args)


class MakeFxTrace(ProgramTrace):
    """Traces a function's call.

    Parameters
    ----------
    parts : Any
        Of a tracing.
    names : List[str]
        Of the arguments.
    table : Dict[OpOverload, Callable]
        What operators are made of.

    """

    def __init__(self, *parts, names, table):
        super().__init__(*parts)
        self.names, self.table = names, table

    def make_tracer(self, shape_env):
        """Return the tracer."""
        return Dispatched(self.graph, shape_env, self._constant, RULES, table=self.table)

    def _named_users(self):
        leaves = [leaf for _, leaf in super()._named_users()]
        names = [name for name, value in zip(self.names, self.args) for _ in pytree.tree_leaves(value)]
        counts, found = {}, []
        for name, leaf in zip(names, leaves):
            counts[name] = counts.get(name, 0) + 1
            found.append((f"{name}_{counts[name]}", leaf))
        return found


class Rewriting(MakeFxTrace):
    """Traces a graph's own run, without writes."""

    def make_tracer(self, shape_env):
        """Return the tracer."""
        return Functional(self.graph, shape_env, self._constant, RULES)

    def _call(self, args, kwargs):
        """Return what the graph gives, after what it writes into its arguments has been put there."""
        results = super()._call(args, kwargs)
        tracer = self.tracer
        made = pytree.tree_map(lambda value: tracer.fresh(value) if isinstance(value, Tensor) else value, results)
        given = [leaf for leaf in pytree.tree_leaves(args) if isinstance(leaf, Tensor)]
        own = [value for value, node in tracer.nodes.values() if node.op == "placeholder"]
        for value in dict.fromkeys((*given, *own)):
            if id(value) in tracer.stamps:
                tracer._plain(aten().copy_.default, (value, tracer.fresh(value)), {})
        return made


def names_of(function, count):
    """Return what `make_fx` calls a function's arguments.

    Parameters
    ----------
    function : Callable
        The function.
    count : int
        How many arguments it is called with.

    Returns
    -------
    List[str]
        By position.

    """
    rest = [f"arg{place}" for place in range(count)]
    if isinstance(function, Module):
        return rest
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function of C's
        return rest
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return rest
    names = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]
    if len(names) < count:
        raise RuntimeError(f"Tracing expected {len(names)} arguments but got {count} concrete arguments")
    return names[:count]


def _open(value, symbolic):
    if isinstance(value, Tensor) and symbolic:
        return {axis: Dim.AUTO for axis in range(value.ndim)}
    return None


def _traced(function, args, names, symbolic, table, make):
    module = _Called(function)
    shapes = (tuple(pytree.tree_map(lambda leaf: _open(leaf, symbolic), value) for value in args),) if args else None
    return describe_program(module, args, {}, shapes if symbolic else None,
                            make=lambda *parts: make(*parts, names=names, table=table)).traced


def _holding_attributes(traced, root):
    """Make attributes of the placeholders for what the function found by itself, read where they are used."""
    counts = {}
    for one in traced.inputs:
        if one.kind == "user":
            continue
        label = "_param_constant" if isinstance(one.value, Parameter) else "_tensor_constant"
        name = f"{label}{counts.setdefault(label, 0)}"
        counts[label] += 1
        setattr(root, name, one.value) if isinstance(one.value, Parameter) else root.register_buffer(name, one.value)
        for user in list(one.node.users):
            with traced.graph.inserting_before(user):
                made = traced.graph.get_attr(name)
            made.meta = dict(one.node.meta)
            user.replace_input_with(one.node, made)
        traced.graph.erase_node(one.node)


def _finished(traced, args, names, title):
    root = Module()
    _holding_attributes(traced, root)
    for name, part in traced.tracer.modules.items():
        setattr(root, name, part)
    output = traced.graph.output_node()
    spec, in_spec = traced.out_spec, pytree.tree_structure(tuple(args))
    leaves = list(output.args[0])
    if all(child.is_leaf() for child in in_spec.children()):
        output.args = (pytree.tree_unflatten(leaves, spec),)
    else:
        output.args = (leaves,)
        traced.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(list(names), in_spec, spec))
    made = GraphModule(root, traced.graph, title)
    if not all(child.is_leaf() for child in in_spec.children()):
        made._in_spec, made._out_spec = in_spec, spec
    return made


def made_graph(function, args, mode="real", table=None, pre_dispatch=False):
    """Return the graph of a function's call.

    Parameters
    ----------
    function : Callable
        The function.
    args : tuple
        What it is called with.
    mode : str, optional, default="real"
        "symbolic" where sizes shall be symbols; else they are the example's.
    table : Optional[Dict[OpOverload, Callable]]
        What operators are made of.
    pre_dispatch : bool, optional, default=False
        Whether composite operators stay as the program calls them.

    Returns
    -------
    GraphModule
        Called with tensors as in the example, it does what the function does.

    """
    inner, remove = getattr(function, "_functionalized", (function, None))
    if remove == "mutations_and_views":
        raise NotImplementedError("make_fx: got functionalize(..., remove='mutations_and_views'), expected "
                                  "remove='mutations': graphs have views here, not copies in their place")
    names = names_of(function, len(args))
    title = "<lambda>" if isinstance(inner, Module) else getattr(inner, "__name__", type(inner).__name__)
    table = {**({} if pre_dispatch else composite_table()), **(table or {})}
    symbolic = mode == "symbolic"
    made = _finished(_traced(inner, args, names, symbolic, table, MakeFxTrace), args, names, title)
    if remove is None:
        return made
    return _finished(_traced(made, args, names, symbolic, {}, Rewriting), args, names, title)
