"""`ExportedProgram.module()`: a module that is called like the one that was exported."""
import types

from dragon.vm.torch.core.exporting.symbols import OPEN, SymInt
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting.signatures import ConstantArgument, InputKind, OutputKind
from dragon.vm.torch.fx import _pytree as fx_pytree
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.core.graphs.structured import _PyTreeCodeGen, _PyTreeInfo  # after what it is a part of
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.utils import _pytree as pytree

STATE = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR, InputKind.CUSTOM_OBJ)


class GuardsFn(Module):
    """Checks that arguments are such as the program was exported for.

    Parameters
    ----------
    checks : List[tuple]
        Of each input: its name, and what it must be.

    """

    _is_impure = True  # a call of it stays in graphs, though nobody uses what it returns

    def __init__(self, checks):
        super().__init__()
        self.checks = checks

    def forward(self, *args):
        """Raise AssertionError where an argument is another one."""
        known = {}
        for (name, wanted, ranges), value in zip(self.checks, args):
            if isinstance(wanted, tuple):
                _check_sizes(name, wanted, ranges, value, known)
            elif wanted is not None and not (value == wanted and type(value) is type(wanted)):
                raise AssertionError(f"Guard failed: {name} == {wanted!r}")


def _check_sizes(name, wanted, ranges, value, known):
    if not isinstance(value, Tensor):
        raise AttributeError(f"{type(value).__name__!r} object has no attribute 'size'")
    if value.ndim != len(wanted):
        raise AssertionError(f"Guard failed: len({name}.size()) == {len(wanted)}")
    for axis, (size, found) in enumerate(zip(wanted, value.shape)):
        if not isinstance(size, SymInt):
            if found != size:
                raise AssertionError(f"Guard failed: {name}.size()[{axis}] == {size}")
            continue
        line = size.expression.linear()
        if line is None or len(line[0]) != 1:
            continue
        ((symbol, factor),), offset = line[0].items(), line[1]
        root, rest = divmod(found - offset, factor)
        if rest or known.setdefault(symbol, root) != root:
            raise AssertionError(f"Guard failed: {name}.size()[{axis}] == {size}, where {symbol} == {known.get(symbol)}"
                                 f"; got {found}")
        low, high = ranges.get(symbol, (0, OPEN))
        if root < low and not (low == 2 and root == 1):
            raise AssertionError(f"Guard failed: {name}.size()[{axis}] >= {low * factor + offset}")
        if root > high:
            raise AssertionError(f"Guard failed: {name}.size()[{axis}] <= {high * factor + offset}")


def _no_mode(name):
    def refuse(self, mode=True):
        raise NotImplementedError(f"Calling {name}() is not supported yet.")
    return refuse


def _make_entry_check(in_spec, names):
    """Return what looks at a call before it is made: its arguments are nested as in the example, in its order."""
    def check(module, args, kwargs):
        wanted = in_spec.child(1).context
        if set(kwargs) == set(wanted):
            kwargs = {name: kwargs[name] for name in wanted}
        else:
            bound = dict(zip(names, args))
            if not set(bound) & set(kwargs) and set(names) == {*bound, *kwargs}:
                values = {**bound, **kwargs}
                count = in_spec.child(0).num_children
                args = tuple(values[name] for name in names[:count])
                kwargs = {name: values[name] for name in wanted}
        given = pytree.tree_structure((tuple(args), dict(kwargs)))
        if given != in_spec:
            raise ValueError(f"Trying to flatten user inputs with exported input tree spec: \n{in_spec}\nbut actually "
                             f"got inputs with tree spec of: \n{given}.\nPlease check that the inputs have the same "
                             "number and type of args and kwargs as the ones you used when tracing.")
        return args, kwargs
    return check


def put(root, target, value, persistent=True):
    """Give a module a parameter, buffer or constant under a dotted name.

    Parameters
    ----------
    root : Module
        The module.
    target : str
        The name.
    value : Any
        What is put there.
    persistent : bool, optional, default=True
        Of a buffer.

    """
    *words, last = target.split(".")
    for word in words:
        found = root._modules.get(word)
        if found is None:
            found = Module()
            root.add_module(word, found)
        root = found
    if isinstance(value, Parameter):
        root.register_parameter(last, value)
    elif isinstance(value, Tensor) and persistent is not None:
        root.register_buffer(last, value, persistent=persistent)
    else:
        setattr(root, last, value)


def unlifted(program, check_guards=True):
    """Return the module of a program.

    Parameters
    ----------
    program : ExportedProgram
        The program.
    check_guards : bool, optional, default=True
        Whether arguments are checked.

    Returns
    -------
    GraphModule
        Its parameters and buffers are the program's.

    """
    signature, root, graph = program.graph_signature, Module(), Graph()
    for spec in signature.input_specs:
        if spec.kind in STATE:
            state = program.state_dict.get(spec.target, program.constants.get(spec.target))
            put(root, spec.target, state, None if spec.kind in (
                InputKind.CONSTANT_TENSOR, InputKind.CUSTOM_OBJ) else spec.persistent)
    nodes, users, specs = {}, [], iter(signature.input_specs)
    for node in program.graph.nodes:
        if node.op == "placeholder":
            spec = next(specs)
            if spec.kind in STATE:
                made = graph.get_attr(spec.target)
            else:
                made = graph.placeholder(node.name)
                users.append((made, spec, node))
            made.meta = dict(node.meta)
            nodes[node] = made
            if node is _last_placeholder(program.graph) and check_guards:
                _add_guards(program, root, graph, users)
        elif node.op == "output":
            _add_outputs(program, graph, node, nodes)
        else:
            nodes[node] = graph.node_copy(node, nodes.__getitem__)
    if not any(node.op == "placeholder" for node in program.graph.nodes) and check_guards:
        pass  # nothing is given, so there is nothing to be checked
    for name, part in program.graph_module.named_children():
        root.add_module(name, part)
    _teach(program.call_spec.in_spec)
    in_spec, out_spec, names = program.call_spec.in_spec, program.call_spec.out_spec, program.forward_names
    graph._codegen = _PyTreeCodeGen(_PyTreeInfo(["self", *names], in_spec, out_spec))
    module = GraphModule(root, graph, "GraphModule")
    module._in_spec, module._out_spec = in_spec, out_spec
    module.register_forward_pre_hook(_make_entry_check(in_spec, names), with_kwargs=True)
    module.train = types.MethodType(_no_mode("train"), module)
    module.eval = types.MethodType(_no_mode("eval"), module)
    return module


def _teach(spec):
    """Have generated code take classes of users apart as trees do."""
    if not spec.is_leaf():
        kind = spec.type
        if kind not in fx_pytree.SUPPORTED_NODES:
            flatten = pytree.SUPPORTED_NODES[kind].flatten_fn
            fx_pytree.register_pytree_flatten_spec(kind, lambda value, spec: flatten(value)[0])
        for child in spec.children():
            _teach(child)


def _last_placeholder(graph):
    return [node for node in graph.nodes if node.op == "placeholder"][-1]


def _add_guards(program, root, graph, users):
    ranges = {str(key): (value.lower, value.upper) for key, value in program.range_constraints.items()}
    checks = []
    for _, spec, node in users:
        value = node.meta.get("val")
        if isinstance(spec.arg, ConstantArgument):
            value = spec.arg.value
        checks.append((spec.arg.name, tuple(value.shape) if isinstance(value, Tensor) else value, ranges))
    root.add_module("_guards_fn", GuardsFn(checks))
    graph.call_module("_guards_fn", tuple(made for made, _, _ in users))


def _add_outputs(program, graph, node, nodes):
    """Return what the program returns, after what it writes."""
    from dragon.vm.torch.core.exporting.tracer import aten
    signature, results = program.graph_signature, []
    inputs = {spec.target: place for place, spec in enumerate(signature.input_specs)}
    by_name = {spec.arg.name: place for place, spec in enumerate(signature.input_specs)}
    placeholders = [other for other in program.graph.nodes if other.op == "placeholder"]
    for spec, value in zip(signature.output_specs, node.args[0]):
        mapped = nodes[value] if value in nodes else value
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION):
            place = (by_name if spec.kind is OutputKind.USER_INPUT_MUTATION else inputs)[spec.target]
            graph.call_function(aten().copy_.default, (nodes[placeholders[place]], mapped))
        else:
            results.append(mapped)
    graph.output(tuple(results))
