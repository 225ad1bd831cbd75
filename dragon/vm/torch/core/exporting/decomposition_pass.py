"""`run_decompositions`: an exported program in fewer operators and without in-place writes, traced from its graph."""
import operator

from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.exporting.arguments import argument_of
from dragon.vm.torch.core.exporting.decompositions import default_table, rewriting_of
from dragon.vm.torch.core.exporting.errors import ExportError
from dragon.vm.torch.core.exporting.tracer import ExportTracer, aten
from dragon.vm.torch.core.exporting.program import _check_replay, _fit, open_unknowns
from dragon.vm.torch.core.exporting.ranges import Axis, Ranges
from dragon.vm.torch.core.exporting.overload_resolution import resolve
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.exporting.api_to_aten import RULES
from dragon.vm.torch.core.exporting.symbols import OPEN, SymInt, ValueRanges
from dragon.vm.torch.core.exporting.program_trace import ProgramTrace
from dragon.vm.torch.core.exporting.unbacked_symbols import traced_with
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting.signatures import (
    ConstantArgument, InputKind, OutputKind, OutputSpec, TensorArgument)
from dragon.vm.torch.fx.node import map_arg
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.utils import _pytree as pytree

KINDS = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "constant"}
TWINS = {"zero_": "zeros_like"}  # in-place operators whose twin has another name
# Results of these are views where the argument lies in order; of those, the argument itself or a copy.
AT_TIMES = ("reshape", "reshape_as", "flatten", "ravel")
OR_COPIES = ("to", "type_as", "contiguous")


class Functional(ExportTracer):
    """Writes down calls without writes: who was written to is another tensor from then on, and so are its views."""

    def __init__(self, *parts, table=()):
        super().__init__(*parts)
        self.table, self.current, self.views, self.owners = dict(table), {}, {}, {}
        self.stamps, self.seen, self.held = {}, {}, []

    def _own(self, tensor):
        return self.owners.get(id(tensor), tensor)

    def _root(self, tensor):
        while id(tensor) in self.views:
            tensor = self.views[id(tensor)][0]
        return tensor

    def fresh(self, value):
        """Return what a tensor is by now."""
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.fresh, value))
        if not isinstance(value, Tensor):
            return value
        value = self._own(value)
        if id(value) in self.views:
            base, target, args, kwargs, place = self.views[id(value)]
            stamp = self.stamps.get(id(self._root(value)), 0)
            if self.seen[id(value)] != stamp:
                made = self._plain(target, (self.fresh(base), *args), kwargs)
                self.current[id(value)] = made if place is None else made[place]
                self.seen[id(value)] = stamp
        return self.current.get(id(value), value)

    def write(self, tensor, new, fresh=True):
        """Note that a tensor is another one from now on; a fresh one has no other owner."""
        tensor = self._own(tensor)
        self.held += [tensor, new]
        if id(tensor) in self.views:
            base, target, args, kwargs, place = self.views[id(tensor)]
            self.write(base, self._put(self.fresh(base), new, target, args, kwargs, place))
            self.seen[id(tensor)] = self.stamps[id(self._root(tensor))]
        else:
            self.stamps[id(tensor)] = self.stamps.get(id(tensor), 0) + 1
        self.current[id(tensor)] = new
        if fresh:
            self.owners[id(new)] = tensor

    def _put(self, base, new, target, args, kwargs, place):
        """Return a base with a view of it in another form."""
        name = target.overloadpacket.__name__
        rewrite = rewriting_of(name, target._overloadname)
        if rewrite is None:
            raise NotImplementedError(f"run_decompositions: the program writes into a view that {name} made; expected "
                                      "one of view, permute, transpose, select, slice, split, unbind, unsqueeze")
        return rewrite(base, *args, **kwargs, new=new, place=place)

    def _plain(self, target, args, kwargs):
        return super().called(target, args, kwargs)

    def called(self, target, args, kwargs):
        """Note a call of an operator, by what it is made of and without writes."""
        if not hasattr(target, "overloadpacket"):
            overload = "default"
            if target._namespace == "aten" and overloads(target.__name__):
                overload, args, kwargs = resolve(target.__name__, args, kwargs)
            target = getattr(target, overload)
        given, args = args, self.fresh(tuple(args))
        kwargs = {name: self.fresh(value) for name, value in kwargs.items()}
        schema = target._schema
        if getattr(schema, "is_mutable", False):
            return self._written(target, given, args, kwargs)
        decomposition = self.table.get(target)
        if decomposition is not None:
            made = decomposition(*args, **kwargs)
            if made is not NotImplemented:
                return made
        value = self._plain(target, args, kwargs)
        if getattr(schema, "views", None) is not None and given:
            self._note_views(target, given[0], args[1:], kwargs, value)
        return value

    def _written(self, target, given, args, kwargs):
        name = target.overloadpacket.__name__
        if name in self.table or target in self.table:
            return self.table[target](*args, **kwargs)
        twin = TWINS.get(name, name[:-1])
        if name == "zero_":
            args = args[:1]
        if name == "copy_" and args[1].dtype == args[0].dtype and tuple(args[1].shape) == tuple(args[0].shape):
            self.write(given[0], args[1], fresh=False)
            return given[0]
        made = self.called(_twin(twin, target._overloadname), args, kwargs)
        if tuple(made.shape) == tuple(args[0].shape) and made.dtype != args[0].dtype:
            made = self.called(aten()._to_copy.default, (made,), {"dtype": args[0].dtype})
        self.write(given[0], made)
        return given[0]

    def _note_views(self, target, base, args, kwargs, value):
        name = target.overloadpacket.__name__
        if value is not base and (name in OR_COPIES or name in AT_TIMES and not self.quietly(
                base.is_contiguous, (), {})):
            return
        base = self._own(base)
        stamp = self.stamps.get(id(self._root(base)), 0)
        for place, item in enumerate(value) if isinstance(value, (list, tuple)) else ((None, value),):
            if item is not base:
                self.views[id(item)] = base, target, args, kwargs, place
                self.seen[id(item)] = stamp
                self.held.append(item)


def _twin(name, overload):
    packet = getattr(aten(), name)
    return getattr(packet, overload if overload in overloads(name) else "default")


class Retracing(ProgramTrace):
    """Traces a program's own graph."""

    def __init__(self, program, table, axes, unknowns):
        self.program, self.table = program, table
        users = [(spec, node) for spec, node in zip(program.graph_signature.input_specs, _placeholders(program.graph))
                 if spec.kind is InputKind.USER_INPUT]
        leaves = [spec.arg.value if isinstance(spec.arg, ConstantArgument) else _example(node.meta["val"])
                  for spec, node in users]
        self.users = users
        args, kwargs = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
        super().__init__(_Rerun(self), args, kwargs, axes, unknowns=unknowns)

    def _state(self):
        for spec in self.program.graph_signature.input_specs:
            if spec.kind in KINDS:
                value = self.program.state_dict.get(spec.target, self.program.constants.get(spec.target))
                yield self._placeholder(KINDS[spec.kind], spec.arg.name, spec.target, value, spec.persistent)

    def _user_inputs(self):
        self.traced.forward_names = self.program.forward_names
        leaves = pytree.tree_leaves((self.args, self.kwargs))
        for (spec, _), leaf in zip(self.users, leaves):
            yield self._placeholder("user", spec.arg.name, None, leaf)

    def make_tracer(self, shape_env):
        """Return the tracer."""
        return Functional(self.graph, shape_env, self._constant, RULES, table=self.table)


class _Rerun(Module):
    """Runs a program's graph node by node."""

    def __init__(self, tracing):
        super().__init__()
        object.__setattr__(self, "tracing", tracing)

    def forward(self, *args, **kwargs):
        """Return the results, after what is written."""
        tracing, program = self.tracing, self.tracing.program
        leaves, values = iter(pytree.tree_leaves((args, kwargs))), {}
        for spec, node in zip(program.graph_signature.input_specs, _placeholders(program.graph)):
            values[node] = next(leaves) if spec.kind is InputKind.USER_INPUT else program.state_dict.get(
                spec.target, program.constants.get(spec.target))
        tracer = tracing.tracer
        for node in program.graph.nodes:
            if node.op == "get_attr":
                values[node] = getattr(program.graph_module, node.target)
            if node.op == "call_function":
                tracer.origin = node
                tracer.stack.clear()
                tracer.stack.update(node.meta.get("nn_module_stack") or {})
                given, named = map_arg(node.args, values.__getitem__), map_arg(node.kwargs, values.__getitem__)
                if node.target is operator.getitem:
                    values[node] = given[0][given[1]]
                else:
                    values[node] = node.target(*given, **named)
        tracer.origin = None
        results = map_arg(program.graph.output_node().args[0], values.__getitem__)
        tracing.writes = []
        for spec, node in zip(program.graph_signature.input_specs, _placeholders(program.graph)):
            value = values[node]
            if isinstance(value, Tensor) and id(value) in tracer.stamps:
                tracing.writes.append((spec, tracer.fresh(value)))
        return (*(value for _, value in tracing.writes), *(tracer.fresh(value) for value in results))


def _placeholders(graph):
    return [node for node in graph.nodes if node.op == "placeholder"]


def _example(value):
    with ExitStack() as exits:
        exits.switch(modes.set_phantom, True)
        exits.switch(modes.set_recording, False)
        return _C.phantom_like(value.as_subclass(Tensor), tuple(map(int, value.shape)))


def decomposed(program, table=None):
    """Return a program in other operators, without writes.

    Parameters
    ----------
    program : ExportedProgram
        The program.
    table : Optional[Dict[OpOverload, Callable]]
        What operators are made of; by default `default_table()`.

    Returns
    -------
    ExportedProgram
        The other one.

    """
    table = default_table() if table is None else dict(table)
    axes, hints, declared = _axes_of(program)
    opened = {}
    for axis in axes:
        opened.setdefault(axis.place[0], []).append(axis.place[1])
    tracing = traced_with(lambda unknowns: Retracing(program, table, opened, unknowns))
    traced = tracing.traced
    traced.owner = traced.tracer.modules
    open_unknowns(traced, hints, declared)
    ranges = Ranges(traced, axes, hints, declared)
    _check_replay(ranges)
    _fit(traced, ranges, axes)
    return _rebuilt(program, traced, tracing.writes)


def _axes_of(program):
    axes, hints, declared, place = [], {}, {}, 0
    ranges = {str(key): value for key, value in program.range_constraints.items()}
    for spec, node in zip(program.graph_signature.input_specs, _placeholders(program.graph)):
        if spec.kind is not InputKind.USER_INPUT:
            continue
        value = node.meta.get("val")
        for axis, size in enumerate(value.shape if isinstance(value, Tensor) else ()):
            if isinstance(size, SymInt):
                axes.append(Axis((place, axis), size.expression, size.hint, None, f"{node.name}.size()[{axis}]"))
                line = size.expression.linear()
                if line is None or len(line[0]) != 1:
                    raise ExportError(f"run_decompositions: got the size {size} of {node.name}, expected lines")
                ((name, factor),), offset = line[0].items(), line[1]
                hints[name] = (size.hint - offset) // factor
                declared[name] = ranges.get(name, ValueRanges(0, OPEN))
        place += 1
    return axes, hints, declared


def _rebuilt(program, traced, writes):
    """Return a program with another graph, the same state, and outputs for what is written."""
    kinds = {InputKind.BUFFER: OutputKind.BUFFER_MUTATION, InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
             InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION}
    outputs = []
    for (spec, _), value in zip(writes, traced.outputs):
        target = spec.arg.name if spec.kind is InputKind.USER_INPUT else spec.target
        outputs.append(OutputSpec(kinds[spec.kind], TensorArgument(value.name), target))
    before = program.graph_signature.output_specs
    for spec, value in zip(before, traced.outputs[len(writes):]):
        outputs.append(OutputSpec(spec.kind, argument_of(value), spec.target))
    traced.graph.eliminate_dead_code(lambda node: node.is_impure() or str(node.target).startswith("aten._assert"))
    made = type(program.graph_signature)(list(program.graph_signature.input_specs), outputs)
    added = [one for one in traced.inputs if one.kind == "constant" and one.name not in {
        spec.arg.name for spec in made.input_specs}]
    constants = dict(program.constants)
    for one in added:
        constants[one.target] = one.value
    if added:
        made = _with_constants(made, traced)
    return type(program)(dict(traced.tracer.modules), traced.graph, made, program.state_dict,
                         dict(program.range_constraints), list(program.module_call_graph), program.example_inputs,
                         constants)


def _with_constants(signature, traced):
    from dragon.vm.torch.core.exporting.signatures import InputSpec
    known = {spec.arg.name: spec for spec in signature.input_specs}
    signature.input_specs = [known.get(one.name) or InputSpec(
        InputKind.CONSTANT_TENSOR, TensorArgument(one.name), one.target) for one in traced.inputs]
    return signature
