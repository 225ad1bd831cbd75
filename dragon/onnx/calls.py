"""Writing captured calls through their mappings: those of a model, and those of the graphs within it."""
from onnx import helper

from dragon.onnx.errors import HardCodedError
from dragon.onnx.source import Program
from dragon.onnx.table import Inexpressible, find_mapping
from dragon.onnx.writer import ELEMENTS, Writer


def readers(program):
    """Return the ids of all values that a call or the program's end reads."""
    read = {id(value) for call in program.calls for value in call.inputs}
    return read | {id(value) for value in program.outputs} | {id(value) for _, value in program.updates}


def acts(call):
    """Return whether a call, or one of a graph within it, does something besides computing, by a note of its own."""
    if call.op == "host_call":
        return call.arguments["function"] < 0
    return any(acts(inner) for graph in call.arguments.values() if isinstance(graph, Program) for inner in graph.calls)


def live_calls(program):
    """Return the calls that lead to outputs, or do something."""
    needed, kept = {id(value) for value in program.outputs}, []
    for call in reversed(program.calls):
        if acts(call) or any(id(output) in needed for output in call.outputs if output is not None):
            kept.append(call)
            needed.update(id(value) for value in call.inputs)
    return kept[::-1]


def refuse_complex(call):
    """Raise Inexpressible for a call that reads or makes complex numbers."""
    for value in [*call.inputs, *filter(None, call.outputs)]:
        if value.dtype not in ELEMENTS:
            raise Inexpressible(f"ONNX has no operators on {value.dtype}")


def write_call(w, call):
    """Write one call and bind its results."""
    refuse_complex(call)
    mapping = find_mapping(call.op)
    if mapping is None:
        raise Inexpressible("ONNX has nothing that computes it")
    w.call, w.scope = call, call.scope.replace(".", "/")
    arguments = dict(call.arguments)
    try:
        made = mapping(w, **arguments)
    except HardCodedError as error:
        raise HardCodedError(f"{call.op} ({call.scope or 'no scope'}): {error}") from None
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    for index, output in enumerate(call.outputs):
        if output is None:
            continue
        result = w.resolve(made[index]) if index < len(made) and made[index] is not None else None
        if result is not None:
            w.bind(output, w.cast(result, output.dtype))
        elif w.wants(index):
            raise Inexpressible(f"its result number {index} has none")


def producers(program):
    """Return {id of a value: the call that makes it}."""
    return {id(output): call for call in program.calls for output in call.outputs if output is not None}


def write_program(w, program, inputs):
    """Write the calls of a graph that is an argument, over these values.

    Parameters
    ----------
    w : Writer
        Where they go.
    program : Program
        The graph.
    inputs : list of Value
        What its inputs are.

    Returns
    -------
    list of Value
        Its outputs.

    """
    around = w.call, w.scope, w.read, w.producers
    w.read, w.producers = readers(program), producers(program)
    for value, given in zip(program.inputs, inputs):
        w.bind(value, w.resolve(given))
    for value in program.constants:
        if value.dtype in ELEMENTS:
            w.bind(value, w.tensor(value))
    for call in live_calls(program):
        try:
            write_call(w, call)
        except Inexpressible as why:
            raise Inexpressible(f"{call.op} within it: {why}") from None
    w.call, w.scope, w.read, w.producers = around
    return [w.resolve(value) for value in program.outputs]


def write_subgraph(w, inputs, write, name):
    """Write a graph within a node. What is known outside is known inside, and no two names are alike.

    Parameters
    ----------
    w : Writer
        Of the graph around.
    inputs : list of Value
        Its inputs: names, dtypes and shapes.
    write : Callable
        Called with the writer of the graph; returns its outputs.
    name : str
        How the graph is called.

    Returns
    -------
    tuple
        The graph, and its outputs.

    """
    body = Writer(w.opset, w.symbols)
    body.taken, body._count, body.sources = w.taken, w._count, w.sources
    body.call, body.scope, body.told = w.call, w.scope, dict(w.told)
    outputs = []
    for value in write(body):
        outputs.append(body.Identity(value))  # never an input, or a value from outside
        outputs[-1].shape = value.shape
    infos = [[helper.make_tensor_value_info(value.name, ELEMENTS[value.dtype], [] if value.shape == () else None)
              for value in values]
             for values in (inputs, outputs)]
    return helper.make_graph(body.nodes, w.fresh(name), *infos, list(body.initializers.values()),
                             value_info=body.infos), outputs
