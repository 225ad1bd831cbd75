"""`keras.Function`: a graph of operations between symbolic tensors, which is walked with others in their places."""
import collections

from dragon.vm.keras.core import tree
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.operation import Operation
from dragon.vm.shared.letters import expect


class Function(Operation):
    """The operations between symbolic inputs and outputs. ..."""

    def __init__(self, inputs, outputs, name=None):
        Operation.__init__(self, name=name)
        self._make_graph(inputs, outputs)

    get_config = Operation.get_config  # a graph is no argument

    def _make_graph(self, inputs, outputs):
        fields = self.__dict__
        fields["_inputs_struct"] = tree.map_structure(lambda x: x, inputs)
        fields["_outputs_struct"] = tree.map_structure(lambda x: x, outputs)
        fields["_inputs"], fields["_outputs"] = tree.flatten(inputs), tree.flatten(outputs)
        for name, tensors in (("inputs", self._inputs), ("outputs", self._outputs)):
            if not tensors:
                raise ValueError(f"`{name}` argument cannot be empty. Received:\ninputs={inputs}\noutputs={outputs}")
        (fields["_nodes"], fields["_nodes_by_depth"], fields["_operations"],
         fields["_operations_by_depth"]) = map_graph(self._inputs, self._outputs)
        fields["_order"] = [node for depth in sorted(self._nodes_by_depth, reverse=True)
                            for node in self._nodes_by_depth[depth] if node.operation and not node.is_input]
        self._check_connected()

    def _check_connected(self):
        known = {id(x) for x in self._inputs}
        for node in self._order:
            if all(id(x) in known for x in node.input_tensors):
                known.update(id(x) for x in node.outputs)
        for number, x in enumerate(self._outputs):
            if id(x) not in known:
                path = ".".join(str(key) for key in tree.flatten_with_path(self._outputs_struct)[number][0])
                raise ValueError(f"Output with path `{path}` is not connected to `inputs`. Received: {x}")

    operations = property(lambda self: self._operations[:], doc="The operations, from inputs to outputs.")
    inputs = property(lambda self: self._inputs, doc="The symbolic inputs as a list.")
    outputs = property(lambda self: self._outputs, doc="The symbolic outputs as a list.")

    def compute_output_spec(self, inputs):
        """Return the symbolic outputs for other symbolic inputs."""
        self._assert_input_compatibility(inputs)
        if all(x.shape == own.shape for x, own in zip(tree.flatten(inputs), self._inputs)):
            return tree.map_structure(lambda x: KerasTensor(shape=x.shape, dtype=x.dtype), self._outputs_struct)
        return self._run_through_graph(inputs, lambda operation: operation.compute_output_spec)

    def compute_output_shape(self, input_shape):
        """Return the shapes of the outputs for other shapes of the inputs."""
        inputs = tree.map_shape_structure(lambda shape: KerasTensor(shape=shape), input_shape)
        for x, own in zip(tree.flatten(inputs), self._inputs):
            x._dtype, x._sparse = own.dtype, own.sparse
        return tree.map_structure(lambda x: x.shape, self.compute_output_spec(inputs))

    def call(self, inputs):
        """Return the outputs."""
        self._assert_input_compatibility(inputs)
        return self._run_through_graph(inputs)

    def _run_through_graph(self, inputs, operation_fn=None):
        """Return the outputs that operations, or what a function makes of them, give for inputs."""
        tensors = {id(own): x for own, x in zip(self._inputs, tree.flatten(inputs))}
        for node in self._order:
            if any(id(x) not in tensors for x in node.input_tensors):
                continue
            args, kwargs = node.arguments.fill_in(tensors)
            operation = node.operation
            results = (operation if operation_fn is None else operation_fn(operation))(*args, **kwargs)
            for own, x in zip(node.outputs, tree.flatten(results)):
                tensors[id(own)] = x
        return tree.pack_sequence_as(self._outputs_struct, [tensors[id(x)] for x in self._outputs])

    def _assert_input_compatibility(self, inputs):
        try:
            tree.assert_same_structure(inputs, self._inputs_struct)
        except ValueError:
            raise ValueError("Function was called with an invalid input structure. "
                             f"Expected input structure: {self._inputs_struct}\n"
                             f"Received input structure: {inputs}") from None
        for x, own in zip(tree.flatten(inputs), self._inputs):
            shape = tuple(x.shape)
            if len(shape) != len(own.shape) or any(
                    a is not None and b is not None and a != b for a, b in zip(shape, own.shape)):
                raise ValueError(f"{type(self).__name__} was passed incompatible inputs. For input '{own.name}', "
                                 f"expected shape {own.shape}, but received instead a tensor with shape {shape}.")


def make_node_key(operation, node_index):
    """Return what a call of an operation goes by in a graph."""
    return f"{id(operation)}_ib-{node_index}"


def map_graph(inputs, outputs):
    """Return the graph between symbolic tensors.

    Returns
    -------
    tuple
        The keys of nodes, nodes by their depth (steps before the outputs), operations from inputs to outputs, and
        operations by their depth.

    """
    ordered, places = collect_nodes(inputs, outputs)
    in_graph = set(ordered)
    keys = {make_node_key(node.operation, node.operation._inbound_nodes.index(node)) for node in ordered}
    depths, operation_depths = {}, {}
    for node in reversed(ordered):
        # An operation that is called at several depths counts where it is called first.
        depth = max(depths.setdefault(node, 0), operation_depths.get(node.operation, 0))
        depths[node] = operation_depths[node.operation] = depth
        for parent in node.parent_nodes:
            if parent in in_graph:
                depths[parent] = max(depth + 1, depths.get(parent, 0))
    for x in inputs:
        operation, index, _ = expect(x, KerasTensor, "Function", "a tensor of the graph")._keras_history
        if operation and operation not in operation_depths and operation._inbound_nodes[index].is_input:
            # An input that no output needs.
            operation_depths[operation], places[operation] = 0, -1
            depths[operation._inbound_nodes[index]] = 0
            keys.add(make_node_key(operation, index))
    nodes_by_depth, operations_by_depth = collections.defaultdict(list), collections.defaultdict(list)
    for node, depth in depths.items():
        nodes_by_depth[depth].append(node)
    for operation, depth in operation_depths.items():
        operations_by_depth[depth].append(operation)
    operations = []
    for depth in sorted(operations_by_depth, reverse=True):
        operations += sorted(operations_by_depth[depth], key=lambda operation: places[operation])
    _check_computable(inputs, nodes_by_depth)
    counts = collections.Counter(operation.name for operation in operations)
    for name, count in counts.items():
        if count != 1:
            raise ValueError(f'The name "{name}" is used {count} times in the model. All operation names should be '
                             "unique.")
    return keys, nodes_by_depth, operations, operations_by_depth


def _check_computable(inputs, nodes_by_depth):
    known, before = {id(x) for x in inputs}, []
    for depth in sorted(nodes_by_depth, reverse=True):
        for node in nodes_by_depth[depth]:
            for x in node.input_tensors:
                if id(x) not in known:
                    raise ValueError(f"Graph disconnected: cannot find parent for tensor {x} at operation "
                                     f"'{node.operation}'. The following previous operations were accessed without "
                                     f"issue: {before}. Output of that operation is not connected to `inputs`")
                before.append(node.operation.name)
            known.update(id(x) for x in node.outputs)


def collect_nodes(inputs, outputs):
    """Return the nodes that outputs depend on, each behind those it depends on, and operations as they are met."""
    stops = {id(x) for x in tree.flatten(inputs)}
    finished, in_progress, ordered, places = set(), set(), [], {}
    for output in tree.flatten(outputs):
        # Each entry is a node that is being looked at and the inputs of it that are still to be followed.
        stack = []
        _enter(output, stops, finished, in_progress, places, stack)
        while stack:
            node, rest = stack[-1]
            x = next(rest, None)
            if x is not None:
                _enter(x, stops, finished, in_progress, places, stack)
                continue
            stack.pop()
            finished.add(node)
            in_progress.remove(node)
            ordered.append(node)
    return ordered, places


def _enter(x, stops, finished, in_progress, places, stack):
    """Begin to look at the node that a tensor comes from, unless that was done."""
    operation, index, _ = expect(x, KerasTensor, "Function", "a tensor of the graph")._keras_history
    if not operation:
        return
    node = operation._inbound_nodes[index]
    if node in finished:
        return
    if not node.is_input and id(x) in stops:  # an intermediate tensor that was declared an input
        finished.add(node)
        return
    if node in in_progress:
        raise ValueError(f"Tensor {x} from operation '{operation.name}' is part of a cycle.")
    places.setdefault(operation, len(places))
    in_progress.add(node)
    stack.append((node, iter(() if node.is_input else node.input_tensors)))
