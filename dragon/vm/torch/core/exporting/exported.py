"""A program as a graph, with what it needs to run."""
import copy
import dataclasses
from typing import Any, List, NamedTuple, Optional

from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.exporting.arguments import argument_of
from dragon.vm.torch.core.exporting.unlift import unlifted
from dragon.vm.torch.core.exporting.verifier import check_program
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting.signatures import (
    ConstantArgument, ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument)
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.utils import _pytree as pytree


class CallSpec(NamedTuple):
    """How arguments and results are nested."""

    in_spec: Optional[pytree.TreeSpec]
    out_spec: Optional[pytree.TreeSpec]


@dataclasses.dataclass
class ModuleCallSignature:
    """How a module of the program is called."""

    inputs: List[Any]
    outputs: List[Any]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec
    forward_arg_names: Optional[List[str]] = None

    def replace_all_uses_with(self, original_node, new_node):
        """Give an input or output another node's name."""
        for arg in (*self.inputs, *self.outputs):
            if getattr(arg, "name", None) == original_node.name:
                arg.name = new_node.name


@dataclasses.dataclass
class ModuleCallEntry:
    """A module of the program, and how it is called where that is kept."""

    fqn: str
    signature: Optional[ModuleCallSignature] = None


class ExportedProgram:
    """A program as a graph of operators, with its parameters, buffers and constants.

    Parameters
    ----------
    root : Union[Module, Dict[str, Any]]
        Where modules that the graph names are found.
    graph : torch.fx.Graph
        The graph.
    graph_signature : ExportGraphSignature
        What its inputs and outputs are.
    state_dict : Dict[str, Tensor]
        Parameters and buffers.
    range_constraints : Dict[Any, ValueRanges]
        From where to where sizes go.
    module_call_graph : List[ModuleCallEntry]
        The modules of the program.
    example_inputs : Optional[Tuple[tuple, dict]]
        What it was exported with.
    constants : Optional[Dict[str, Any]]
        Tensors that the program found by itself, and buffers that `state_dict` leaves out.
    verifiers : Any, optional
        Accepted: what a graph keeps to is one thing here, which `validate` checks.

    """

    def __init__(self, root, graph, graph_signature, state_dict, range_constraints, module_call_graph,
                 example_inputs=None, constants=None, *, verifiers=None):
        graph._codegen = type(graph)()._codegen
        self._graph_module = GraphModule(root, graph, "GraphModule")
        self._graph_signature, self._state_dict = graph_signature, state_dict
        self._range_constraints, self._module_call_graph = range_constraints, module_call_graph
        self._example_inputs, self._constants = example_inputs, constants or {}

    graph_module = property(lambda self: self._graph_module, doc="GraphModule: the graph, all state being inputs.")
    graph = property(lambda self: self._graph_module.graph, doc="torch.fx.Graph: the graph.")
    graph_signature = property(lambda self: self._graph_signature, doc="ExportGraphSignature: of inputs and outputs.")
    state_dict = property(lambda self: self._state_dict, doc="Dict[str, Tensor]: parameters and buffers.")
    range_constraints = property(lambda self: self._range_constraints, doc="Dict[Any, ValueRanges]: of the symbols.")
    module_call_graph = property(lambda self: self._module_call_graph, doc="List[ModuleCallEntry]: the modules.")
    constants = property(lambda self: self._constants, doc="Dict[str, Any]: what the program found by itself.")
    tensor_constants = property(lambda self: self._constants, doc="Dict[str, Any]: the same.")

    @property
    def example_inputs(self):
        """Optional[Tuple[tuple, dict]]: what the program was exported with."""
        return self._example_inputs

    @example_inputs.setter
    def example_inputs(self, value):
        if value is None:
            self._example_inputs = None
            return
        if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[0], tuple) or not isinstance(
                value[1], dict):
            raise ValueError("Example inputs should be a tuple containing example arguments (as a tuple), and example "
                             f"kwargs (as a dictionary), got {type(value).__name__}")
        args, kwargs = value
        wanted = self.call_spec.in_spec.child(1).context
        if set(kwargs) != set(wanted):
            raise ValueError(f"Ran into a kwarg keyword mismatch: Got the following keywords {list(kwargs)} but "
                             f"expected {list(wanted)}")
        value = args, {name: kwargs[name] for name in wanted}
        if pytree.tree_structure(value) != self.call_spec.in_spec:
            raise ValueError("Trying to flatten user inputs with exported input tree spec: \n"
                             f"{self.call_spec.in_spec}\nbut actually got inputs with tree spec of: \n"
                             f"{pytree.tree_structure(value)}")
        self._example_inputs = value

    @property
    def call_spec(self):
        """CallSpec: how arguments and results are nested."""
        signature = self._module_call_graph[0].signature
        return CallSpec(signature.in_spec, signature.out_spec)

    @property
    def forward_names(self):
        """List[str]: the names of the arguments."""
        signature = self._module_call_graph[0].signature
        if signature.forward_arg_names:
            return list(signature.forward_arg_names)
        args, kwargs = signature.in_spec.child(0), signature.in_spec.child(1)
        return [*(f"arg_{place}" for place in range(args.num_children)), *kwargs.context]

    verifier = property(lambda self: check_program, doc="Callable: what `validate` asks.")
    verifiers = property(lambda self: [check_program], doc="List[Callable]: the same.")
    dialect = property(lambda self: "TRAINING", doc="str: the operators are as the program asked for them.")

    def parameters(self):
        """Return an iterator over the parameters."""
        for _, value in self.named_parameters():
            yield value

    def named_parameters(self):
        """Return an iterator over (name, parameter)."""
        for name in self.graph_signature.parameters:
            yield name, self.state_dict[name]

    def buffers(self):
        """Return an iterator over the buffers."""
        for _, value in self.named_buffers():
            yield value

    def named_buffers(self):
        """Return an iterator over (name, buffer)."""
        left_out = set(self.graph_signature.non_persistent_buffers)
        for name in self.graph_signature.buffers:
            yield name, self.constants[name] if name in left_out else self.state_dict[name]

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Unable to call ExportedProgram directly. You should use `exported_program.module()` "
                           "instead.")

    def module(self, check_guards=True):
        """Return a module that is called like the one that was exported, and shares its parameters.

        Parameters
        ----------
        check_guards : bool, optional, default=True
            Whether arguments are checked to be such as the program was exported for.

        Returns
        -------
        GraphModule
            The module.

        """
        return unlifted(self, check_guards)

    def run_decompositions(self, decomp_table=None, decompose_custom_triton_ops=False):
        """Return the program in fewer operators, without writes: what is written becomes an output.

        Parameters
        ----------
        decomp_table : Optional[Dict[OpOverload, Callable]]
            What operators are in terms of others; by default `default_decompositions()`.
        decompose_custom_triton_ops : bool, optional, default=False
            Accepted: there are no such operators.

        Returns
        -------
        ExportedProgram
            Another program.

        """
        from dragon.vm.torch.core.exporting.decomposition_pass import decomposed
        return decomposed(self, decomp_table)

    def validate(self):
        """Raise SpecViolationError where graph, signature and state do not belong together."""
        check_program(self)

    def _validate(self):
        check_program(self)

    def _update(self, graph_module, graph_signature, *, state_dict=None, constants=None, verifiers=None):
        return ExportedProgram(graph_module, copy.deepcopy(graph_module.graph), graph_signature,
                               self.state_dict if state_dict is None else state_dict,
                               dict(self.range_constraints), copy.deepcopy(self.module_call_graph),
                               self.example_inputs, self.constants if constants is None else constants)

    def _transform_do_not_use(self, *passes):
        made = self.graph_module
        for one in passes:
            result = one(copy.deepcopy(made))
            made = result if isinstance(result, GraphModule) else result.graph_module
        if made is self.graph_module:
            return self
        signature = _renamed(self.graph_signature, made)
        return self._update(made, signature)

    def __deepcopy__(self, memo):
        state = {name: copy.deepcopy(value, memo) for name, value in self.state_dict.items()}
        return self._update(copy.deepcopy(self.graph_module, memo), copy.deepcopy(self.graph_signature, memo),
                            state_dict=state, constants=copy.deepcopy(self.constants, memo))

    def __str__(self):
        text = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        signature = str(self.graph_signature).replace("\n", "\n    ")
        return (f"ExportedProgram:\n    {text}\nGraph signature: {signature}\nRange constraints: "
                f"{self.range_constraints}\n")

    @contextmanager
    def _allow_changes(self):
        yield self


def _renamed(signature, graph_module):
    """Return a signature with the names that a changed graph has."""
    made = copy.deepcopy(signature)
    inputs = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    for spec, node in zip(made.input_specs, inputs):
        spec.arg.name = node.name
    for spec, value in zip(made.output_specs, graph_module.graph.output_node().args[0]):
        if not isinstance(spec.arg, ConstantArgument):
            spec.arg.name = value.name
    return made


def program_of(module, described, args, kwargs, preserved=()):
    """Return the ExportedProgram of a described call."""
    traced, kinds = described.traced, {
        "parameter": InputKind.PARAMETER, "buffer": InputKind.BUFFER, "constant": InputKind.CONSTANT_TENSOR,
        "user": InputKind.USER_INPUT}
    state, constants, inputs = dict(module.state_dict(keep_vars=True)), {}, []
    for one in traced.inputs:
        kind = kinds[one.kind]
        arg = TensorArgument(one.name) if isinstance(one.value, Tensor) else ConstantArgument(one.name, one.value)
        inputs.append(InputSpec(kind, arg, one.target, one.persistent if one.kind == "buffer" else None))
        if one.kind == "constant" or one.kind == "buffer" and not one.persistent:
            constants[one.target] = one.value.detach() if one.kind == "constant" else one.value
    outputs = [OutputSpec(OutputKind.USER_OUTPUT, argument_of(value), None) for value in traced.outputs]
    signature = ModuleCallSignature([], [], traced.in_spec, traced.out_spec, traced.forward_names)
    calls = [ModuleCallEntry("", signature)]
    names = [name for name, _ in module.named_modules() if name]
    for name in [*names, *(name for name in traced.calls if name not in names)]:
        kept = None
        if name in traced.calls:
            (given, made), (in_spec, out_spec, labels) = traced.calls[name], traced.call_specs[name]
            kept = ModuleCallSignature(list(map(argument_of, given)), list(map(argument_of, made)), in_spec, out_spec,
                                       labels)
        calls.append(ModuleCallEntry(name, kept))
    state = {name: value if isinstance(value, Parameter) else value.detach() if value.requires_grad else value
             for name, value in state.items() if isinstance(value, Tensor)}
    return ExportedProgram(dict(traced.tracer.modules), traced.graph, ExportGraphSignature(inputs, outputs), state,
                           described.ranges, calls, (args, kwargs), constants)
