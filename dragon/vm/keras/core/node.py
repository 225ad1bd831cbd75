"""One call of an operation with symbolic tensors: an edge bundle of the graph that models are made of."""
import collections

from dragon.vm.keras.core import tree
from dragon.vm.keras.core.keras_tensor import KerasTensor

KerasHistory = collections.namedtuple("KerasHistory", ["operation", "node_index", "tensor_index"])


class SymbolicArguments:
    """The arguments of a call, with the symbolic tensors among them."""

    def __init__(self, *args, **kwargs):
        self.args = tree.map_structure(lambda x: x, args)
        self.kwargs = tree.map_structure(lambda x: x, kwargs)
        single = not kwargs and len(args) == 1 and isinstance(args[0], KerasTensor)
        self._single_positional_tensor = args[0] if single else None
        self._flat_arguments = tree.flatten((self.args, self.kwargs))
        self.keras_tensors = [x for x in self._flat_arguments if isinstance(x, KerasTensor)]

    def fill_in(self, tensors):
        """Return the arguments with tensors, given by the ids of the symbolic ones, in the latters' places."""
        if self._single_positional_tensor is not None:
            return (tensors[id(self._single_positional_tensor)],), {}

        def swap(x):
            return tensors.get(id(x)) if isinstance(x, KerasTensor) else x
        return self.convert(swap)

    def convert(self, conversion):
        """Return the arguments, each passed through a function."""
        return tree.map_structure(conversion, self.args), tree.map_structure(conversion, self.kwargs)


class Node:
    """A call of an operation.

    Parameters
    ----------
    operation : Operation
        What was called.
    call_args : Sequence[Any], optional
        Its arguments.
    call_kwargs : Dict[str, Any], optional
        Its named arguments.
    outputs : Any, optional
        The symbolic tensors it returned.

    """

    def __init__(self, operation, call_args=None, call_kwargs=None, outputs=None):
        self.operation = operation
        self.arguments = SymbolicArguments(*(call_args or ()), **(call_kwargs or {}))
        self.outputs = [] if outputs is None else tree.flatten(outputs)
        for x in self.arguments.keras_tensors:
            if not isinstance(x, KerasTensor):
                raise ValueError(f"All operation inputs must be KerasTensors. Received: {x}")
        zero_history = KerasHistory(None, 0, 0)
        for x in self.arguments.keras_tensors:
            if not hasattr(x, "_keras_history"):
                x._keras_history = zero_history
        self._parents = []
        for x in self.arguments.keras_tensors:
            parent, index, _ = x._keras_history
            if parent is not None:
                parent._outbound_nodes.append(self)
                self._parents.append(parent._inbound_nodes[index])
        for number, x in enumerate(self.outputs):
            if not isinstance(x, KerasTensor):
                raise ValueError(f"All operation outputs must be tensors. Operation {operation} returned a "
                                 f"non-tensor. Received: {x}")
            x._keras_history = KerasHistory(operation, len(operation._inbound_nodes), number)
        operation._inbound_nodes.append(self)

    def __repr__(self):
        return f"<Node operation={self.operation}, id={id(self)}>"

    input_tensors = property(lambda self: self.arguments.keras_tensors, doc="The symbolic tensors that went in.")
    output_tensors = property(lambda self: self.outputs, doc="The symbolic tensors that came out.")
    is_input = property(lambda self: not self.arguments.keras_tensors, doc="Whether nothing went in.")
    parent_nodes = property(lambda self: list(dict.fromkeys(self._parents)),
                            doc="The nodes whose outputs went in, each once.")
