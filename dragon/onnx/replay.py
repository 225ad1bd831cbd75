"""A graph as a function of its inputs: run call by call, so that it can be captured at any sizes."""
from dragon import _C
from dragon.core.dtypes import NATIVE
from dragon.core.expressions import evaluate
from dragon.onnx.errors import ExportError
from dragon.onnx.source import ops
from dragon.onnx.table import schema


class Replay:
    """Runs the calls of a graph.

    Parameters
    ----------
    graph : dragon._C.Graph
        What was built or captured.

    """

    def __init__(self, graph):
        self.graph = graph
        self.faces = [graph.value(number) for number in graph.inputs]
        self.symbols = {}  # name -> (input, axis) that it is the size of
        for place, face in enumerate(self.faces):
            for axis, text in face.symbolic.items():
                if text in graph.symbols:
                    self.symbols.setdefault(text, (place, axis))
        told = {text for call in graph.calls for _, _, text in call.symbolic}
        for name in graph.symbols:
            if name not in self.symbols and any(name in text for text in told):
                raise ExportError(f"symbol '{name}' of the graph is no size of an input")

    def examples(self):
        """Return tensors that look like the inputs."""
        return tuple(ops.zeros(list(face.shape), dtype=NATIVE[face.dtype]) for face in self.faces)

    def axes(self):
        """Return {axis: symbol} of each input."""
        return [{axis: text for axis, text in face.symbolic.items() if text in self.symbols} for face in self.faces]

    def state_dict(self):
        """Return the constants by their names."""
        return {self.graph.value(number).name or f"constant_{number}": tensor
                for number, tensor in self.graph.constants.items()}

    def __call__(self, *inputs):
        """Return the graph's outputs for inputs."""
        values = dict(zip(self.graph.inputs, inputs))
        values.update(self.graph.constants)
        sizes = {name: inputs[place].shape[axis] for name, (place, axis) in self.symbols.items()}
        for call in self.graph.calls:
            for number, result in zip(call.outputs, run_call(call, values, sizes)):
                if number is not None:
                    values[number] = result
        return [values[number] for number in self.graph.outputs]


def run_call(call, values, sizes):
    """Return the results of a call, and then what its written arguments become."""
    def find(number):
        if isinstance(number, (list, tuple)):
            return [find(item) for item in number]
        return None if number is None else values[number]

    arguments = {name: find(numbers) for name, numbers in call.tensors.items()}
    for name, value in call.attrs.items():
        arguments[name] = list(value) if isinstance(value, (list, tuple)) else value
    for name, element, text in call.symbolic:
        size = evaluate(text, sizes)
        if element < 0:
            arguments[name] = size
        else:
            arguments[name][element] = size
    written = []
    for argument in schema(call.op)["arguments"]:
        if argument["mutated"] and arguments.get(argument["name"]) is not None:
            given = arguments[argument["name"]]
            copies = [ops.clone(item) for item in (given if isinstance(given, list) else [given])]
            arguments[argument["name"]] = copies if isinstance(given, list) else copies[0]
            written += copies
    made = getattr(ops, call.op)(**arguments)
    made = [made] if isinstance(made, _C.Tensor) else list(made or ())
    return made + written
