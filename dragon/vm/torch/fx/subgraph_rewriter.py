"""`torch.fx.replace_pattern`: put other nodes where a small graph occurs."""
from dataclasses import dataclass
from typing import Dict, List, NamedTuple

from dragon.vm.torch.core.graphs.attributes import _assign_attr, _del_attr, _has_attr
from dragon.vm.torch.fx._symbolic_trace import symbolic_trace
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import Node
from dragon.vm.torch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from dragon.vm.torch.nn.modules.module import Module


class Match(NamedTuple):
    """A place that was replaced: its last node, and the nodes that those of the small graph stood for."""

    anchor: Node
    nodes_map: Dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A place that was replaced, and the nodes that are there now."""

    anchor: Node
    nodes_map: Dict[Node, Node]
    replacements: List[Node]


def _replace_attributes(gm, replacement):
    """Give a module what the nodes of a replacement call and read, and take out what nobody does any more."""
    gm.delete_all_unused_submodules()

    def find(owner, target):
        for word in target.split("."):
            owner = getattr(owner, word, None)
        return owner
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            here = find(gm, node.target)
            there = find(replacement, node.target) if isinstance(replacement, Module) else None
            if here is not None and there is None:
                continue
            if there is not None and here is None:
                if _has_attr(gm, node.target):
                    _del_attr(gm, node.target)
                _assign_attr(there, gm, node.target)
            elif here is None:
                raise RuntimeError(f'Attempted to create a "{node.op}" node during subgraph rewriting with target '
                                   f"{node.target}, but the referenced attribute does not exist in the replacement "
                                   "GraphModule")
    gm.graph.lint()


def _graph_of(thing):
    if isinstance(thing, GraphModule):
        return thing.graph
    return thing if isinstance(thing, Graph) else symbolic_trace(thing).graph


def replace_pattern(gm, pattern, replacement):
    """Put other nodes wherever a small graph occurs.

    Parameters
    ----------
    gm : GraphModule
        The module, which is changed.
    pattern : Union[Callable, GraphModule]
        The small graph: a function is traced.
    replacement : Union[Callable, GraphModule]
        What takes its place; its inputs stand for those of the small graph, in order.

    Returns
    -------
    List[Match]
        The places.

    Examples
    --------
    >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> matches = torch.fx.replace_pattern(module, lambda x: torch.relu(x), lambda x: torch.sigmoid(x))
    >>> len(matches)
    1
    >>> module(torch.tensor(0.0))
    tensor(1.5000)

    """
    return [Match(item.anchor, item.nodes_map) for item in _replace_pattern(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False,
                                 replacement_callback=None, node_name_match=""):
    """Put other nodes where a small graph occurs, as far as functions agree.

    Parameters
    ----------
    gm : GraphModule
        The module, which is changed.
    pattern : Union[Callable, Graph, GraphModule]
        The small graph.
    replacement : Union[Callable, Graph, GraphModule], optional
        What takes its place.
    match_filters : List[Callable[[InternalMatch, Graph, Graph], bool]], optional
        All must say yes to a place, of which they get the large and the small graph, too.
    ignore_literals : bool, optional, default=False
        Numbers and the like need not be equal.
    replacement_callback : Callable[[InternalMatch, Graph, Graph], Graph], optional
        Returns what takes a place, in place of `replacement`.
    node_name_match : str, optional, default=""
        Nodes whose name has this are taken to be equal to the last of the small graph.

    Returns
    -------
    List[ReplacedPatterns]
        The places, and the nodes that are there now.

    """
    return _replace_pattern(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback,
                            node_name_match)


def _replace_pattern(gm, pattern, replacement=None, match_filters=None, ignore_literals=False,
                     replacement_callback=None, node_name_match=""):
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either replacement GraphModule or replacement callback")
    graph, small = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(small, match_output=False, match_placeholder=False, remove_overlapping_matches=True,
                              ignore_literals=ignore_literals)
    places = [place for place in matcher.match(graph, node_name_match)
              if all(agrees(place, graph, small) for agrees in match_filters or ())]
    common = None if replacement_callback else _graph_of(replacement)
    done, changed = [], {}
    for place in places:
        other = replacement_callback(place, graph, small) if replacement_callback else common
        done.append(_replace_one(graph, small, place, other, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _replace_attributes(gm, replacement)
    return done


def _replace_one(graph, small, place: InternalMatch, other, changed):
    """Put the nodes of a graph into one place."""
    inputs = [node for node in other.nodes if node.op == "placeholder"]
    if len(inputs) != len(place.placeholder_nodes):
        raise AssertionError(f"torch.fx.replace_pattern: got a replacement of {len(inputs)} inputs, expected "
                             f"{len(place.placeholder_nodes)}, as the pattern uses")
    values = {}
    for node, given in zip(inputs, place.placeholder_nodes):
        while isinstance(given, Node) and given in changed:  # what an earlier place gave has been replaced
            given = changed[given]
        values[node] = given
    returned = list(place.returning_nodes)
    inner = {gn for pn, gn in place.nodes_map.items()
             if pn.op not in ("placeholder", "output") and isinstance(gn, Node)}
    users = sorted(user for node in returned for user in node.users if user not in inner)
    first = graph.inserting_before(users[0]) if users else graph.inserting_after(max(returned))
    with first:
        result = graph.graph_copy(other, values)
    results = [result] if isinstance(result, Node) else list(result) if isinstance(result, (list, tuple)) else [result]
    if len(results) != len(returned):
        raise AssertionError(f"torch.fx.replace_pattern: got a replacement that returns {len(results)} values, "
                             f"expected {len(returned)}, as the pattern does")
    made = [values[node] for node in other.nodes if node.op not in ("placeholder", "output")]
    for old, new in zip(returned, results):
        old.replace_all_uses_with(new)
        changed[old] = new
    for node in sorted(inner, reverse=True):
        if not node.users and not node._erased:
            graph.erase_node(node)
    nodes_map = {pn: changed.get(gn, gn) if pn.op == "placeholder" else gn for pn, gn in place.nodes_map.items()}
    return ReplacedPatterns(place.anchors[0], nodes_map, made)
