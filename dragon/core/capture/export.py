"""A call as one graph that stands for itself: its arguments are inputs, and what it found by itself is named."""
import json

from dragon import _C
from dragon.core import modes
from dragon.core.capture.export_sizes import graph_for_sizes
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.settings import begin_capture
from dragon.core.capture.structure import Template, is_record
from dragon.core.graph import Graph
from dragon.core.scopes import ExitStack, scope

STRUCTURE = "structure of the results"  # the name of a constant that says it, as JSON


class GraphError(RuntimeError):
    """A call that cannot be a graph."""


class Sketch:
    """Stands where captures in progress stand, so that who asks is told.

    Parameters
    ----------
    trace : dragon._C.Trace
        What is written down.
    exports : bool, optional, default=False
        Whether it becomes a model of another format.

    """

    is_trace = True

    def __init__(self, trace, exports=False):
        self.trace, self.exports = trace, exports

    def symbol(self, value, container, key):
        """Return a number as it is: it is a part of the graph."""
        return value


@scope
def sketching(stack, inputs):
    """Write down what a `with` block calls, for nobody: branches and loops in it are graphs.

    Parameters
    ----------
    inputs : Sequence[Tensor]
        What it begins with.

    """
    trace = _C.Trace()
    for tensor in inputs:
        trace.add_input(tensor)
    begin_capture(stack, Sketch(trace), trace)


def leaves(value):
    """Return the tensors in nested lists, tuples, dictionaries and dataclasses, in order.

    Parameters
    ----------
    value : Any
        The structure.

    Returns
    -------
    List[Tensor]
        The tensors, as often as they occur.

    """
    if isinstance(value, _C.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif is_record(value):
        value = vars(value).values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [leaf for item in value for leaf in leaves(item)]


def capture_graph(function, args, kwargs=None, names=None, name="graph"):
    """Return the graph of a call without gradients.

    Parameters
    ----------
    function : Callable
        What is called, once.
    args : tuple
        Its positional arguments.
    kwargs : dict, optional
        Its other arguments.
    names : dict, optional
        Name -> tensor, of what the function may find by itself: parameters, buffers.
    name : str, optional, default="graph"
        The graph's.

    Returns
    -------
    tuple
        The graph, whose outputs are the tensors of the result; {position among its inputs: tensor} of those that are
        no arguments; the result.

    """
    trace = _C.Trace()
    trace.set_place(user_line)
    arguments = Template((args, kwargs or {}), merge=False)
    inputs = arguments.tensors
    for number, tensor in enumerate(inputs):
        if any(tensor is other for other in inputs[:number]):  # each argument is an input of its own
            inputs[number] = tensor = tensor.clone()
        trace.add_input(tensor, f"input{number}")
    args, kwargs = arguments.fill(inputs)
    with ExitStack() as stack:
        stack.switch(modes.set_recording, False)
        begin_capture(stack, Sketch(trace), trace)
        result = function(*args, **kwargs)
        template = Template(result)
        # Results get memory of their own, so that they are the graph's outputs one by one.
        outputs = [tensor.clone() for tensor in template.tensors]
    if trace.failure:
        raise GraphError(trace.failure)
    captured = trace.finish(outputs)
    graph = Graph(graph_for_sizes(function, arguments, inputs, captured) or captured.graph)
    graph.name = name
    outside = {number: tensor for number, tensor in trace.outside_inputs}
    known = {_C.memory_key(tensor): label for label, tensor in (names or {}).items()}
    for number, tensor in outside.items():
        label = known.get(_C.memory_key(tensor))
        if label:
            graph.set_name(graph.inputs[number], label)
    graph.add_constant(_text_tensor(json.dumps(_plain(template._root))), STRUCTURE)
    return graph, outside, result


def freeze(graph, outside):
    """Return a graph in which tensors from outside are constants.

    Parameters
    ----------
    graph : Graph
        Of `capture_graph`.
    outside : dict
        {position among the inputs: tensor}

    Returns
    -------
    Graph
        Its inputs are the call's arguments.

    """
    frozen = graph.copy()
    frozen.updates = [(position, value) for position, value in frozen.updates if not is_idle(frozen, value)]
    written = {position for position, _ in frozen.updates}
    names = [frozen.value(frozen.inputs[position]).name or f"number {position}" for position in sorted(written)]
    if written & set(outside):
        raise GraphError(f"the call writes what would be constant: {', '.join(names[:4])}; expected a module in "
                         "evaluation mode")
    inputs = list(frozen.inputs)
    with frozen.edit():
        for position, tensor in outside.items():
            name = frozen.value(inputs[position]).name
            frozen.replace(inputs[position], frozen.add_constant(tensor.detach(), name))
        kept = [position for position in range(len(inputs)) if position not in outside]
        moved = {position: number for number, position in enumerate(kept)}
        updates = [(moved[position], value) for position, value in frozen.updates]
        frozen.updates = []
        frozen.inputs = [inputs[position] for position in kept]
        frozen.updates = updates
    return frozen


def is_idle(graph, value):
    """Return whether a written value is what was there before: running statistics that are only read."""
    call = graph.producer(value)
    return call is not None and "batch_norm" in call.op and call.attrs.get("training") is False


def result_of(graph, outputs):
    """Return outputs in the structure that the captured call's result had.

    Parameters
    ----------
    graph : Graph
        Of `capture_graph`, possibly saved and loaded since.
    outputs : Sequence[Tensor]
        Its outputs.

    Returns
    -------
    Any
        Tuples, lists, dictionaries of them; a tuple where the graph does not say.

    """
    for value, tensor in graph.constants.items():
        if graph.value(value).name == STRUCTURE:
            return _filled(json.loads(bytes(tensor.tolist()).decode()), list(outputs))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _text_tensor(text):
    return _C.tensor(list(text.encode()), "uint8", "cpu", _C.Tensor)


def _plain(part):
    """Return a template as JSON's numbers, lists and dictionaries."""
    if isinstance(part, int):
        return part
    kind = type(part).__name__
    if kind == "_Sequence":
        return {"tuple" if issubclass(part.kind, tuple) else "list": [_plain(item) for item in part.parts]}
    if kind == "_Constant":
        if part.value is None or isinstance(part.value, (bool, int, float, str)):
            return {"constant": part.value}
        raise GraphError(f"the result holds {type(part.value).__name__}, expected tensors, numbers, strings, None")
    if kind == "_Mapping" and all(isinstance(key, str) for key in part.keys):
        return {"dict": {key: _plain(item) for key, item in zip(part.keys, part.parts)}}
    if kind == "_Record":
        return {"dict": {key: _plain(item) for key, item in zip(part.keys, part.parts)}}
    raise GraphError("the result holds a dictionary whose keys are no strings")


def _filled(part, outputs):
    if isinstance(part, int):
        return outputs[part]
    (kind, inner), = part.items()
    if kind == "constant":
        return inner
    if kind == "dict":
        return {key: _filled(item, outputs) for key, item in inner.items()}
    return (tuple if kind == "tuple" else list)(_filled(item, outputs) for item in inner)
