"""Graphs of layers as data: their calls written and read, and graphs copied from symbolic tensors within them."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.function import collect_nodes, make_node_key
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.node import KerasHistory, Node
from dragon.vm.keras.core.operation import Operation


def write_node(node, own_nodes=()):
    """Return the arguments of a call as data; None for an input.

    Parameters
    ----------
    node : Node
        The call.
    own_nodes : Collection[str], optional
        The keys of the calls that are written; others are not counted.

    """
    if not node.input_tensors:
        return None
    from dragon.vm.keras.saving.serialization import serialize_keras_object

    def write(x):
        if not isinstance(x, KerasTensor):
            return x
        history = operation, index, number = x._keras_history
        others = sum(make_node_key(operation, before) not in own_nodes for before in range(index))
        x._keras_history = KerasHistory(operation, index - others, number)
        try:
            return serialize_keras_object(x)
        finally:
            x._keras_history = history
    return {"args": serialize_keras_object(tree.map_structure(write, node.arguments.args)),
            "kwargs": serialize_keras_object(tree.map_structure(write, node.arguments.kwargs))}


def _find_output(layers, name, index, number):
    """Return an output of a call that was read; IndexError if the call was not made yet."""
    if name not in layers:
        raise ValueError(f"Invalid Functional model configuration. Missing node: {name}")
    nodes = layers[name]._inbound_nodes
    if len(nodes) <= index:
        raise IndexError(f"Layer node index out of bounds: layer {name} was called {len(nodes)} times. "
                         f"Received: index={index}")
    return nodes[index].output_tensors[number]


def read_node(data, layers):
    """Return the arguments of a call that was written, as (args, kwargs)."""
    if not data:
        return [], {}
    if isinstance(data, list):  # as Keras 2 wrote calls
        tensors, kwargs = [], {}
        for name, index, number, *rest in data:
            kwargs = rest[0] if rest else {}
            tensors.append(_find_output(layers, name, index, number))
        return [tensors[0] if len(tensors) == 1 else tensors], kwargs
    from dragon.vm.keras.saving.serialization import deserialize_keras_object

    def revive(x):
        if not isinstance(x, KerasTensor) or getattr(x, "_written_history", None) is None:
            return x
        return _find_output(layers, *x._written_history)
    return tuple(tree.map_structure(revive, deserialize_keras_object(data[name])) for name in ("args", "kwargs"))


def read_graph(layer_data, input_data, output_data, custom_objects, graph_class):
    """Return the symbolic inputs and outputs of a graph that was written."""
    from dragon.vm.keras.saving.serialization import deserialize_keras_object
    layers, waiting = {}, {}
    for data in layer_data:
        if "module" in data:
            layer = deserialize_keras_object(data, custom_objects=custom_objects)
        else:
            from dragon.vm.keras.saving.legacy_h5 import model_from_config
            layer = model_from_config(data, custom_objects=custom_objects)
        if not isinstance(layer, Operation):
            raise ValueError("Unexpected object from deserialization, expected a layer or operation, got a "
                             f"{type(layer)}")
        layers[data["name"]] = layer
        if data["inbound_nodes"]:
            waiting[data["name"]] = list(data["inbound_nodes"])
    while waiting:
        before = sum(map(len, waiting.values()))
        for name in list(waiting):
            _make_calls(layers, name, waiting)
        if before == sum(map(len, waiting.values())):
            raise ValueError("Invalid Functional model configuration. The graph of the Functional model either has "
                             "loops or disconnected nodes. The following nodes failed to be resolved: "
                             f"{waiting}")

    def find(place):
        name, index, number = place
        return _find_output(layers, name, index - isinstance(layers.get(name), graph_class), number)

    def find_all(places):
        if isinstance(places, list) and len(places) == 3 and isinstance(places[0], str):
            return find(places)
        if isinstance(places, dict):
            return {key: find_all(place) for key, place in places.items()}
        return type(places)(find_all(place) for place in places)
    return find_all(input_data), find_all(output_data)


def _make_calls(layers, name, waiting):
    """Make the calls of a layer whose arguments are there, in their order."""
    calls = waiting[name]
    while calls:
        try:
            args, kwargs = read_node(calls[0], layers)
        except IndexError:  # the call that the arguments come from is yet to be made
            return
        layers[name](*args, **kwargs)
        calls.pop(0)
    del waiting[name]


def clone_graph(inputs, outputs):
    """Return inputs and outputs of a copy of the graph between tensors, if some of the inputs are within a graph.

    Parameters
    ----------
    inputs : Any
        Symbolic tensors.

    """
    from dragon.vm.keras.layers.core.input_layer import Input, InputLayer
    copies, operations = {}, {}

    def copy_of(x):
        if not isinstance(x, KerasTensor):
            return x
        if id(x) not in copies:
            copies[id(x)] = KerasTensor(shape=x.shape, dtype=x.dtype, sparse=x.sparse, name=f"{x.name}_clone")
        return copies[id(x)]
    nodes, _ = collect_nodes(inputs, outputs)
    made = []
    for x in tree.flatten(inputs):
        operation, index, _ = x._keras_history
        if operation._inbound_nodes[index].is_input:
            made.append(x)
        else:
            optional = isinstance(operation, InputLayer) and operation.optional
            made.append(Input(batch_shape=x.shape, dtype=x.dtype, sparse=x.sparse, name=f"{x.name}CLONE",
                              optional=optional))
            operations[id(operation)] = made[-1]._keras_history[0]
        copies[id(x)] = made[-1]
    results = []
    for x in tree.flatten(outputs):
        result = copy_of(x)
        if not hasattr(result, "_keras_history"):
            result._keras_history = x._keras_history
        results.append(result)
    for node in nodes:
        operation = operations.get(id(node.operation), node.operation)
        is_input = isinstance(operation, InputLayer)
        if is_input and node.is_input:
            continue
        Node(operation, call_args=tree.map_structure(copy_of, node.arguments.args),
             call_kwargs=tree.map_structure(copy_of, node.arguments.kwargs),
             outputs=tree.map_structure(copy_of, node.output_tensors))
    return tree.pack_sequence_as(inputs, made), tree.pack_sequence_as(outputs, results)


def get_source_inputs(tensor):
    """Return the symbolic inputs that a symbolic tensor depends on.

    Parameters
    ----------
    tensor : KerasTensor
        The tensor.

    """
    if not hasattr(tensor, "_keras_history"):
        return tensor
    operation, index, _ = tensor._keras_history
    if operation is None or not operation._inbound_nodes:
        return [tensor]
    node = operation._inbound_nodes[index]
    if node.is_input:
        return tree.flatten(node.output_tensors)
    return list({id(x): x for inner in node.input_tensors for x in get_source_inputs(inner)}.values())
