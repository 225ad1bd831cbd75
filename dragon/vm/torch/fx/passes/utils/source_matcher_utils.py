"""Parts of a graph by the modules and functions of the program that they come from."""
import logging
from dataclasses import dataclass, field
from typing import Any, List

from dragon.vm.torch.fx.node import Node

logger = logging.getLogger(__name__)


@dataclass
class SourcePartition:
    """The nodes that come from one module or function, and what goes in and out."""

    nodes: List[Node]
    source: Any
    input_nodes: List[Node] = field(default_factory=list)
    output_nodes: List[Node] = field(default_factory=list)
    params: List[Node] = field(default_factory=list)


def get_source_partitions(graph, wanted_sources, filter_fn=None):
    """Return the parts of a graph that come from certain modules and functions.

    Parameters
    ----------
    graph : Graph
        The graph; the nodes' `meta` says where they come from, as "source_fn_stack" or "torch_fn".
    wanted_sources : List[Any]
        Classes of modules, and functions.
    filter_fn : Callable[[Node], bool], optional
        Parts are kept whose nodes all are to its liking.

    Returns
    -------
    Dict[Any, List[SourcePartition]]
        The parts of each.

    """
    found = {}
    for node in graph.nodes:
        stack = node.meta.get("source_fn_stack")
        source = stack[-1] if stack else None
        if source is None and node.meta.get("torch_fn"):
            name, kind = node.meta["torch_fn"]
            source = name, kind
        if source is not None and source[1] in wanted_sources:
            nodes = found.setdefault(source[1], {}).setdefault(source[0], [])
            nodes.append(node)
    parts = {kind: [_make_partition(nodes, kind) for nodes in named.values()] for kind, named in found.items()}
    if filter_fn is not None:
        parts = {kind: [part for part in listed if all(map(filter_fn, part.nodes))] for kind, listed in parts.items()}
        parts = {kind: listed for kind, listed in parts.items() if listed}
    return parts


def _make_partition(nodes, source):
    inputs, outputs, parameters = {}, {}, {}
    inner = set(nodes)
    for node in nodes:
        for used in node.args:
            if isinstance(used, Node) and used not in inner and used.op != "get_attr":
                inputs[used] = None
        if node.op == "get_attr":
            parameters[node] = None
        if any(user not in inner for user in node.users):
            outputs[node] = None
    return SourcePartition(nodes, source, list(inputs), list(outputs), list(parameters))


def check_subgraphs_connected(subgraph1, subgraph2):
    """Return whether the second part uses values of the first."""
    return any(node in subgraph1.nodes for part in reversed(subgraph1.nodes) for user in part.users
               if user in subgraph2.nodes for node in [part])
