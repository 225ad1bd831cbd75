"""Tools of passes that split graphs."""
import heapq
from typing import Dict, List, Set

from dragon.vm.torch.core.graphs.naming import qualified_name
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.node import Node

CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}
NodeList, NodeSet, Names = List[Node], Set[Node], List[str]
Tensors, TensorOrTensors = (Tensor,), (Tensor, tuple)
ModulesByName = Dict[str, object]


def get_acc_ops_name(k):
    """Return the name of a function or of a class, with its module."""
    if isinstance(k, str):
        return k
    return qualified_name(k)


def get_node_target(submodules, node):
    """Return what a node calls as a name: of a module its class, of a function its place, of a method its name.

    Parameters
    ----------
    submodules : Dict[str, Module]
        The modules by their dotted names.
    node : Node
        The node.

    Returns
    -------
    str
        The name.

    """
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"get_node_target: got a node that does {node.op}, expected one of "
                             f"{', '.join(sorted(CALLABLE_NODE_OPS))}")
    if node.op == "call_module":
        module = submodules[node.target]
        kind = getattr(module, "_base_class_origin", type(module))
        return qualified_name(kind)
    if node.op == "call_function":
        name = qualified_name(node.target)
        return f"builtins.{name}" if "." not in name else name
    return node.target


def is_node_output_tensor(node):
    """Return whether a node gives a tensor, as far as `ShapeProp` has noted it."""
    kind = node.meta.get("type", None)
    return kind is not None and issubclass(kind, Tensor)


def _sorted(gm, key):
    """Return the nodes so that each comes after those that it uses; of those that could be next, the least by key."""
    waiting = {node: len(node.all_input_nodes) for node in gm.graph.nodes}
    ready = [(key(node), place, node) for place, node in enumerate(gm.graph.nodes) if not waiting[node]]
    heapq.heapify(ready)
    order, count = [], len(waiting)
    while ready:
        node = heapq.heappop(ready)[2]
        order.append(node)
        for user in node.users:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (key(user), count, user))
                count += 1
    if len(order) < len(waiting):
        raise RuntimeError(f"Input graph has cycles, unable to add {[node for node in waiting if waiting[node]]}")
    return order


def legalize_graph(gm):
    """Put the nodes of a graph into an order in which they can run: inputs first, the output last."""
    kinds = {"placeholder": 0, "get_attr": 1, "output": 3}
    for node in _sorted(gm, lambda node: kinds.get(node.op, 2)):
        gm.graph._root.prepend(node)
    gm.graph.lint()
    return gm


def stable_topological_sort(gm):
    """Put the nodes of a graph into an order in which they can run, as near to theirs as can be."""
    place = {node: number for number, node in enumerate(gm.graph.nodes)}
    for node in _sorted(gm, place.__getitem__):
        gm.graph._root.prepend(node)
    gm.graph.lint()
    return gm


class FxNetAccFusionsFinder:
    """Find groups of nodes that give each other what is no tensor, and so must stay in one part.

    Parameters
    ----------
    module : GraphModule
        The module.
    acc_nodes : Set[Node]
        The nodes among which to look.

    """

    def __init__(self, module, acc_nodes):
        self.module, self.nodes, self.acc_nodes = module, list(module.graph.nodes), acc_nodes

    def __call__(self):
        groups = {}
        for node in self.nodes:
            if node in self.acc_nodes and node.op in CALLABLE_NODE_OPS and "tensor_meta" not in node.meta:
                group = {node}
                waiting = [node]
                while waiting:
                    one = waiting.pop()
                    near = [*one.users] if "tensor_meta" not in one.meta else []
                    near += [used for used in one.all_input_nodes
                             if "tensor_meta" not in used.meta and used.op in CALLABLE_NODE_OPS]
                    for other in near:
                        if other in self.acc_nodes and other not in group:
                            group.add(other)
                            waiting.append(other)
                for member in group:
                    group = group | groups.get(member, set())
                for member in group:
                    groups[member] = group
        return groups
