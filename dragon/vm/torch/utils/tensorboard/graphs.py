"""The messages of TensorBoard's tab for graphs: of a module, as it is exported, and of ONNX files."""
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.utils.tensorboard.charts import shape_of
from dragon.vm.torch.utils.tensorboard.records import field

PRODUCER = 22  # the version of the form


def node(name, op, inputs, attributes):
    """Return a node: its attributes are messages by name."""
    made = field(1, name) + field(2, op) + b"".join(field(3, source) for source in inputs)
    return made + b"".join(field(5, field(1, key) + field(2, value)) for key, value in attributes.items())


def graph(nodes):
    """Return a graph."""
    return b"".join(field(1, made) for made in nodes) + field(4, field(1, PRODUCER))


def run_metadata():
    """Return what the tab reads beside a graph: a step of the CPU's, without times."""
    device = field(1, "/device:CPU:0")
    return field(1, "step1") + field(2, field(1, field(1, device)))


def module_graph(model, inputs):
    """Return a module's graph, its nodes named after the modules they come from.

    Parameters
    ----------
    model : Module
        The module.
    inputs : Union[Tensor, Sequence]
        Its arguments.

    Returns
    -------
    Tuple[bytes, str]
        The message, and the graph as text.

    """
    from dragon.vm.torch.export import export
    args = (inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)
    program = export(model, args)
    kinds = {path: type(module).__name__ for path, module in model.named_modules()}
    targets = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs if spec.target}
    names, nodes = {}, []
    for part in program.graph.nodes:
        if part.op == "output":
            nodes += _outputs(part, names)
            continue
        owner, _, last = targets.get(part.name, "").rpartition(".")
        op = "Parameter" if last else "IO Node" if part.op == "placeholder" else _operator(part)
        if last:
            names[part] = _join(_scope(kinds, owner), last)
        elif part.op == "placeholder":
            names[part] = _join("input", part.name)
        else:
            names[part] = _join(_scope(kinds, _path(part)), part.name)
        sources = [names[source] for source in part.all_input_nodes]
        words = "" if part.op == "placeholder" else _told(part)
        nodes.append(node(names[part], op, sources, _attributes(part.meta.get("val"), words)))
    return graph(nodes), str(program.graph)


def _join(*parts):
    return "/".join(filter(None, parts))


def _operator(part):
    return str(part.target).removesuffix(".default").replace(".", "::", 1)


def _path(part):
    """Return the path of the module that a node comes from."""
    stack = list((part.meta.get("nn_module_stack") or {}).values())
    return stack[-1][0] if stack else ""


def _scope(kinds, path):
    """Return a module's path with the kinds of modules on it, such as "Net/Sequential[body]/Linear[0]"."""
    words, found = path.split(".") if path else [], [kinds[""]]
    for end in range(1, len(words) + 1):
        inner = ".".join(words[:end])
        found.append(f"{kinds.get(inner, 'Module')}[{words[end - 1]}]")
    return "/".join(found)


def _told(part):
    plain = [repr(value) for value in part.args if not hasattr(value, "op")]
    return ", ".join(plain + [f"{name}={value!r}" for name, value in part.kwargs.items() if not hasattr(value, "op")])


def _attributes(value, words):
    made = {"attr": field(2, words)}
    if isinstance(value, Tensor):
        made["_output_shapes"] = field(1, field(7, shape_of(value.shape)))
    return made


def _outputs(part, names):
    """Return a node for each result."""
    return [node(f"output/output.{place}", "IO Node", [names[source]], _attributes(source.meta.get("val"), ""))
            for place, source in enumerate(part.all_input_nodes, 1)]


def onnx_graph(path):
    """Return the graph of an ONNX file."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("SummaryWriter.add_onnx_graph needs onnx: `pip install onnx`", name="onnx") from error
    held = onnx.load(path).graph
    names = {item.name: f"Variable_{item.name}" for item in (*held.input, *held.output)}
    names.update((made.output[0], f"{made.op_type}_{made.output[0]}") for made in held.node)
    nodes = []
    for item in (*held.input, *held.output):
        sizes = [size.dim_value for size in item.type.tensor_type.shape.dim]
        nodes.append(node(f"Variable_{item.name}", "Variable", [], {
            "dtype": field(6, item.type.tensor_type.elem_type), "shape": field(7, shape_of(sizes))}))
    for made in held.node:
        words = ", ".join(f"{item.name} = {onnx.helper.get_attribute_value(item)}" for item in made.attribute)
        sources = [names.get(source, source) for source in made.input if source]
        nodes.append(node(names[made.output[0]], made.op_type, sources, {"parameters": field(2, words)}))
    return graph(nodes)
