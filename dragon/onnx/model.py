"""A program as an ONNX model: every call through its mapping, or all that have none in one error."""
import os

import onnx
from onnx import helper

from dragon.core import files
from dragon.onnx import families  # noqa: F401: fills the table
from dragon.onnx.errors import HardCodedError, UnsupportedOperatorError
from dragon.onnx.size import Size
from dragon.onnx.source import Value
from dragon.onnx.table import Inexpressible, find_mapping
from dragon.onnx.writer import ELEMENTS, Writer, make_value_info, prune

OPSETS = range(18, 24)
LARGE_TENSOR, DATA_ALIGNMENT = 1024, 64  # bytes: what goes beside the model, and where it may begin


def readers(program):
    """Return the ids of all values that a call or the program's end reads."""
    read = {id(value) for call in program.calls for value in call.inputs}
    return read | {id(value) for value in program.outputs} | {id(value) for _, value in program.updates}


def live_calls(program):
    """Return the calls that lead to outputs."""
    needed, kept = {id(value) for value in program.outputs}, []
    for call in reversed(program.calls):
        if any(id(output) in needed for output in call.outputs if output is not None):
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


def name_outputs(w, program, names):
    """Let results carry the names they are asked for."""
    made, renamed = [], {}
    produced = {name: (node, place) for node in w.nodes for place, name in enumerate(node.output)}
    for value, name in zip(program.outputs, names):
        result = w.resolve(value).name
        if result in produced and result not in renamed and name not in w.taken:
            node, place = produced[result]
            node.output[place] = renamed[result] = name
        else:
            w.nodes.append(helper.make_node("Identity", [result], [name], name=f"output/{name}"))
        w.taken.add(name)
        made.append(name)
    for node in w.nodes:
        for place, name in enumerate(node.input):
            node.input[place] = renamed.get(name, name)
    return made


def bind_inputs(w, program, names, axes):
    """Write the model's inputs; a symbol is told by the first axis that it is the size of."""
    for value, name in zip(program.inputs, names):
        w.taken.add(name)
        given = Value(name, value.dtype, value.shape)
        w.bind(value, given)
        for axis, size in enumerate(value.shape):
            for symbol, samples in w.symbols.items():
                if isinstance(size, Size) and size.samples == samples:
                    w.sources.setdefault(symbol, (given, axis))
                    axes.setdefault(name, {}).setdefault(axis, symbol)


def make_model(program, input_names, output_names, opset=18, axes=None, embed=True):
    """Write a program as an ONNX model.

    Parameters
    ----------
    program : Program
        What to write.
    input_names, output_names : list of str
        Names of the model's inputs and outputs, in order.
    opset : int, optional, default=18
        The version of ONNX's operators, 18 to 23.
    axes : dict, optional
        {name of an input or output: {axis: name of its size}}.
    embed : bool, optional, default=True
        Whether the parameters' numbers are written; otherwise they are inputs.

    Returns
    -------
    onnx.ModelProto
        The model. An UnsupportedOperatorError lists all calls that cannot be expressed.

    """
    if opset not in OPSETS:
        raise ValueError(f"onnx.export: got opset {opset}; expected {OPSETS[0]} to {OPSETS[-1]}")
    axes = {name: dict(named) for name, named in (axes or {}).items()}
    w = Writer(opset, program.symbols)
    w.read = readers(program)
    w.producers = {id(output): call for call in program.calls for output in call.outputs if output is not None}
    bind_inputs(w, program, input_names, axes)
    parameters = []
    reasons = {}
    for value in program.constants:
        if value.dtype not in ELEMENTS:
            continue  # the calls that read it say so
        made = w.tensor(value)
        parameters.append((value, made))
        w.bind(value, made)
    missing = set()
    for call in live_calls(program):
        try:
            write_call(w, call)
        except Inexpressible as why:
            if find_mapping(call.op) is None or not any(id(value) in missing for value in call.inputs):
                reasons.setdefault(call.op, str(why))
            missing.update(map(id, call.outputs))
            for output in filter(None, call.outputs):
                w.bind(output, Value(w.fresh("missing"), output.dtype, output.shape))
    if reasons:
        raise UnsupportedOperatorError(reasons)
    outputs = name_outputs(w, program, output_names)
    nodes, initializers = prune(w.nodes, outputs, w.initializers)
    inputs = [make_value_info(value, name, axes.get(name)) for value, name in zip(program.inputs, input_names)]
    if not embed:
        held = {made.name: value for value, made in parameters if not isinstance(value.tensor, Size)}
        inputs += [make_value_info(value, name) for name, value in held.items()]
        initializers = [tensor for tensor in initializers if tensor.name not in held]
    results = [make_value_info(value, name, output_axes(value, axes.get(name), w.symbols))
               for value, name in zip(program.outputs, output_names)]
    graph = helper.make_graph(nodes, program.name or "graph", inputs, results, initializers)
    versions = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=versions, producer_name="dragon",
                              ir_version=helper.find_min_ir_version_for(versions))
    return onnx.shape_inference.infer_shapes(model) if model.ByteSize() < 2 ** 30 else model


def output_axes(value, named, symbols):
    """Return names of an output's dynamic axes: those given, and symbols that sizes equal."""
    found = {axis: name for axis, size in enumerate(value.shape) for name, samples in symbols.items()
             if isinstance(size, Size) and size.samples == samples}
    return {**found, **(named or {})}


def list_initializers(model, keep=True):
    """List a model's initializers as inputs too.

    Parameters
    ----------
    model : onnx.ModelProto
        Changed in place.
    keep : bool, optional, default=True
        Whether their numbers stay in the model.

    """
    graph = model.graph
    for tensor in graph.initializer:
        if not tensor.name.startswith("constant"):
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    if not keep:
        kept = [tensor for tensor in graph.initializer if tensor.name.startswith("constant")]
        del graph.initializer[:]
        graph.initializer.extend(kept)


def save_beside(model, path):
    """Write a model into a file, and its large tensors into another beside it, "<name>.data".

    Parameters
    ----------
    model : onnx.ModelProto
        The model; its large tensors lose their numbers.
    path : str
        The model's file.

    """
    from onnx.external_data_helper import set_external_data
    large = [tensor for tensor in model.graph.initializer
             if tensor.HasField("raw_data") and len(tensor.raw_data) >= LARGE_TENSOR]

    def write_data(file):
        for tensor in large:
            file.write(b"\0" * (-file.tell() % DATA_ALIGNMENT))
            numbers = tensor.raw_data
            set_external_data(tensor, "", file.tell(), len(numbers))
            file.write(numbers)
            tensor.ClearField("raw_data")

    def write_model(file, place):
        for tensor in large:
            next(entry for entry in tensor.external_data if entry.key == "location").value = os.path.basename(place)
        file.write(model.SerializeToString())

    def names_spare(place):
        try:
            there = onnx.load(place, load_external_data=False)
        except Exception:  # whatever it was, it is no model
            return False
        return any(entry.value == os.path.basename(spare) for tensor in there.graph.initializer
                   for entry in tensor.external_data if entry.key == "location")

    spare = f"{path}.data.new"
    files.replace_pair(path, f"{path}.data", spare, names_spare, write_model, write_data)
