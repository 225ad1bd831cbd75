"""Modules made of parts of graphs."""
from dragon.vm.torch.core.graphs.attributes import _copy_attr
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from dragon.vm.torch.nn.modules.module import Module


class HolderModule(Module):
    """A module of other modules.

    Parameters
    ----------
    d : Dict[str, Module]
        The modules by name.

    """

    def __init__(self, d):
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(gm, subgraph, comp_name="", class_name="GraphModule"):
    """Return a module of a graph that has what another module has under the names that the graph knows.

    Parameters
    ----------
    gm : GraphModule
        The other module.
    subgraph : Graph
        The graph.
    comp_name : str, optional, default=""
        The name of the part.
    class_name : str, optional, default="GraphModule"
        What the class is called.

    Returns
    -------
    Tuple[GraphModule, Dict[str, str]]
        The module, and {name within it: name in the other}.

    """
    holder, places = HolderModule({}), {}
    for node in subgraph.nodes:
        if node.op in ("call_module", "get_attr"):
            _copy_attr(gm, holder, node.target)
            places[f"{comp_name}.{node.target}"] = node.target
    return GraphModule(holder, subgraph, class_name), places


def compare_graphs(left: Graph, right: Graph):
    """Return whether two graphs do the same, in the same way."""
    return len(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)) > 0
