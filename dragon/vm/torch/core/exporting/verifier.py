"""Verify that an exported program's graph is well formed."""
from dragon.vm.torch.core.exporting.signatures import ConstantArgument, InputKind


class SpecViolationError(Exception):
    """A graph that is no exported program's."""


def check_program(program):
    """Raise SpecViolationError where graph, signature and state of a program do not belong together.

    Parameters
    ----------
    program : ExportedProgram
        The program.

    """
    program.graph.lint()
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    specs = program.graph_signature.input_specs
    if len(placeholders) != len(specs):
        raise SpecViolationError(f"Number of graph inputs ({len(placeholders)}) does not match number of inputs in the "
                                 f"graph signature ({len(specs)})")
    for node, spec in zip(placeholders, specs):
        if spec.arg.name != node.name:
            raise SpecViolationError(f"Input spec name {spec.arg.name} does not match node name {node.name}")
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER) and spec.target not in program.state_dict and \
                spec.target not in program.constants:
            raise SpecViolationError(f"{spec.kind.name.capitalize()} {spec.target} is not in the state dict.")
        if spec.kind in (InputKind.CONSTANT_TENSOR, InputKind.CUSTOM_OBJ) and spec.target not in program.constants:
            raise SpecViolationError(f"Constant {spec.target} is not in the constants dictionary.")
    output = program.graph.output_node()
    results, told = output.args[0], program.graph_signature.output_specs
    if len(results) != len(told):
        raise SpecViolationError(f"Number of output nodes {len(results)} is different from the number of outputs in "
                                 f"the graph signature: {len(told)}")
    for value, spec in zip(results, told):
        if not isinstance(spec.arg, ConstantArgument) and getattr(value, "name", None) != spec.arg.name:
            raise SpecViolationError(f"Output spec name {spec.arg.name} does not match node name "
                                     f"{getattr(value, 'name', value)}")
    for node in program.graph.nodes:
        if node.op == "call_module" or node.op == "call_method":
            raise SpecViolationError(f"call_{'module' if node.op == 'call_module' else 'method'} is not valid: got "
                                     f"node {node.name}, expected calls of operators")
