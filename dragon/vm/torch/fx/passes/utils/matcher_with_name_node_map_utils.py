"""`SubgraphMatcherWithNameNodeMap`: a matcher whose small graph gives some of its nodes names."""
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import Node
from dragon.vm.torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from dragon.vm.torch.utils import _pytree as pytree


def _split_to_graph_and_name_node_map(gm):
    """Take {name: node} out of what a graph returns; return the module without it, and the names."""
    names = {}
    output = gm.graph.output_node()
    returned = output.args[0]
    info = getattr(gm.graph._codegen, "pytree_info", None)
    if info is not None and info.out_spec is not None:  # of an exporter's graph, which returns leaves
        returned = pytree.tree_unflatten(list(returned), info.out_spec)
        is_pair = isinstance(returned, (tuple, list)) and len(returned) > 1 and isinstance(returned[-1], dict)
        spec = pytree.tree_structure(tuple(returned[:-1])) if is_pair else info.out_spec
        gm.graph._codegen.pytree_info = info._replace(out_spec=spec)
        gm._out_spec = spec
    if not isinstance(returned, (tuple, list)) or not isinstance(returned[-1], dict):
        raise AssertionError("SubgraphMatcherWithNameNodeMap: got a pattern that returns no dictionary of nodes by "
                             "name, expected one as the last of what it returns")
    *first, names = returned
    output.args = (tuple(pytree.tree_leaves(first)) if info is not None else tuple(first),)
    gm.graph.lint()
    gm.recompile()
    return gm, dict(names)


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Find where a small graph occurs; each place knows its nodes by the names that the small graph returns.

    Parameters
    ----------
    pattern_gm : GraphModule
        The small graph: the last of what it returns is {name: node}.
    match_output, match_placeholder, remove_overlapping_matches, ignore_literals : bool, optional
        As of `SubgraphMatcher`.

    """

    def __init__(self, pattern_gm, match_output=False, match_placeholder=False, remove_overlapping_matches=True,
                 ignore_literals=False):
        if not isinstance(pattern_gm, GraphModule):
            raise AssertionError(f"SubgraphMatcherWithNameNodeMap: got {type(pattern_gm).__name__}, expected a "
                                 "GraphModule")
        pattern_gm, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        super().__init__(pattern_gm.graph, match_output, match_placeholder, remove_overlapping_matches,
                         ignore_literals)

    def match(self, graph, node_name_match=""):
        """Return the places where the small graph occurs."""
        found = super().match(graph, node_name_match)
        for match in found:
            match.name_node_map = {name: match.nodes_map[node] if isinstance(node, Node) else node
                                   for name, node in self.name_node_map.items()}
        return found
