"""What a well-made graph keeps to."""
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.node import map_arg
from dragon.vm.torch.nn.modules.module import Module


def check_graph(graph):
    """Raise RuntimeError or ValueError where a graph is not well made.

    Parameters
    ----------
    graph : Graph
        The graph.

    """
    seen, names = set(), set()

    def check_use(used, node):
        if used.graph is not graph:
            raise RuntimeError(f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an "
                               "argument! If you are copying nodes from another graph, make sure to use "
                               "``arg_transform`` on node_copy() to remap values\n" + str(graph))
        if used not in seen:
            raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check "
                               "that Nodes in the graph are topologically ordered\n" + str(graph))
    for node in graph.nodes:
        if node.op not in ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output"):
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        if node not in graph._table.find_nodes(op=node.op, target=node.target):
            raise RuntimeError(f"Node '{node}' is not in the graph's table of nodes")
        for value in (node.args, node.kwargs):
            map_arg(value, lambda used: check_use(used, node))
        seen.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
        if node.op == "call_function" and not callable(node.target):
            raise ValueError(f"Node {node} target {node.target} has type {type(node.target)} but a Callable is "
                             "expected")
        if node.op != "call_function" and not isinstance(node.target, str):
            raise ValueError(f"Node {node} target {node.target} has type {type(node.target)} but a str is expected")
    if graph.owning_module is not None:
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                _check_path(graph.owning_module, node)


def _check_path(root, node):
    """Check that the target of a node is there."""
    owner, words = root, node.target.split(".")
    for place, word in enumerate(words):
        if not hasattr(owner, word):
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {word} of "
                               f"{'.'.join(words[:place])}")
        found = getattr(owner, word)
        is_last = place == len(words) - 1
        if node.op == "call_module" and is_last and not isinstance(found, Module):
            raise RuntimeError(f"Node {node} target {node.target} {word} of {'.'.join(words[:place])} does not "
                               "reference an nn.Module")
        if node.op == "get_attr" and is_last and not isinstance(found, (Module, Tensor)) and \
                word not in owner._buffers:
            return  # anything may be an attribute; PyTorch only warns
        owner = found
