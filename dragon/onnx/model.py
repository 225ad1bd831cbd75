"""A program as an ONNX model: every call through its mapping, or all that have none in one error."""
import os

import onnx
from onnx import helper

from dragon.core import files
from dragon.core.capture.host_calls import is_noting
from dragon.core.capture.probes import NO_LONGER
from dragon.core.progress import Progress
from dragon.onnx import families  # noqa: F401: fills the table
from dragon.onnx.calls import live_calls, producers, readers, write_call
from dragon.onnx.conditions import Checks
from dragon.onnx.errors import UnsupportedOperatorError
from dragon.onnx.size import Size
from dragon.onnx.source import Value
from dragon.onnx.table import Inexpressible, find_mapping
from dragon.onnx.writer import DOMAIN, ELEMENTS, Writer, make_value_info, prune

OPSETS = range(18, 24)
SIZES = "dragon.sizes"  # the property of a model that says for which sizes it holds, where not for all
LARGE_TENSOR, DATA_ALIGNMENT = 1024, 64  # bytes: what goes beside the model, and where it may begin


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
    rename_inputs(w.nodes, renamed)
    return made


def rename_inputs(nodes, renamed):
    """Let nodes, and those of graphs within them, read values under their new names."""
    for node in nodes:
        for place, name in enumerate(node.input):
            node.input[place] = renamed.get(name, name)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                rename_inputs(attribute.g.node, renamed)


def bind_inputs(w, program, names, axes, following):
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
            for text, samples in following.items():
                if isinstance(size, Size) and size.samples == samples:
                    axes.setdefault(name, {}).setdefault(axis, text)


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
    w.producers = producers(program)
    bind_inputs(w, program, input_names, axes, program.following)
    parameters = []
    reasons = {}
    for value in program.constants:
        if value.dtype not in ELEMENTS:
            continue  # the calls that read it say so
        made = w.tensor(value)
        parameters.append((value, made))
        w.bind(value, made)
    missing = set()
    for call in Progress(live_calls(program), what="export", unit="calls"):
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
    checks = Checks(w, program)
    checks.guard()
    outputs = name_outputs(w, program, output_names)
    nodes, initializers = prune(w.nodes, outputs, w.initializers)
    inputs = [make_value_info(value, name, axes.get(name)) for value, name in zip(program.inputs, input_names)]
    if not embed:
        held = {made.name: value for value, made in parameters if not isinstance(value.tensor, Size)}
        inputs += [make_value_info(value, name) for name, value in held.items()]
        initializers = [tensor for tensor in initializers if tensor.name not in held]
    results = [make_value_info(value, name, output_axes(value, axes.get(name), {**w.symbols, **program.following}))
               for value, name in zip(program.outputs, output_names)]
    graph = helper.make_graph(nodes, program.name or "graph", inputs, results, initializers, value_info=w.infos)
    versions = [helper.make_opsetid("", opset), *([helper.make_opsetid(DOMAIN, 1)] if is_noting() else [])]
    model = helper.make_model(graph, opset_imports=versions, producer_name="dragon",
                              ir_version=helper.find_min_ir_version_for(versions, True))
    program.unsaid = checks.unsaid
    told = describe_sizes(program, checks.texts)
    if told:
        helper.set_model_props(model, {SIZES: told})
    return onnx.shape_inference.infer_shapes(model) if model.ByteSize() < 2 ** 30 else model


def describe_sizes(program, conditions):
    """Return the sizes for which a model holds, of those symbols that may not be anything: "n: 2 to 49"."""
    told = [f"{name}: {bounds}" for name, bounds in program.bounds.items() if not bounds.is_open or bounds.of_one]
    told += [f"where {condition}" for condition in conditions]
    # No condition was found that says for which of them together the program is another one.
    doubtful = program.unsaid or any(NO_LONGER not in reason or not program.conditions for reason in program.joint)
    perhaps = ["perhaps not for all sizes together"] * bool(program.unheard)
    return "; ".join(told + (["not for all sizes together"] if doubtful else perhaps))


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
