"""`torch.fx.experimental.optimization`: modules made quicker for use after training."""
import copy

from dragon.vm.torch.core.graphs.naming import torch_module
from dragon.vm.torch.core.graphs.tracer import Tracer
from dragon.vm.torch.fx._symbolic_trace import symbolic_trace
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import Node
from dragon.vm.torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval


def _parent_name(target):
    """Return (name of the holder, name within it) of a dotted name."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern, node, modules):
    """Return whether a node and the one before it call modules of certain classes.

    Parameters
    ----------
    pattern : Iterable[type]
        The two classes.
    node : Node
        The second node.
    modules : Dict[str, Module]
        The modules by their dotted names.

    Returns
    -------
    bool
        Whether they do.

    """
    if not node.args or not isinstance(node.args[0], Node):
        return False
    return all(one.op == "call_module" and isinstance(one.target, str) and one.target in modules
               and type(modules[one.target]) is kind for kind, one in zip(pattern, (node.args[0], node)))


def replace_node_module(node, modules, new_module):
    """Put another module where the one is that a node calls."""
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model, inplace=False, no_trace=False):
    """Return a module whose convolutions have taken in the batch normalizations that follow them.

    Parameters
    ----------
    model : Module
        The module, in evaluation mode.
    inplace : bool, optional, default=False
        Change it; else a copy.
    no_trace : bool, optional, default=False
        It is a GraphModule already.

    Returns
    -------
    Module
        The module.

    """
    nn = torch_module().nn
    pairs = [((getattr(nn, f"Conv{rank}d"), getattr(nn, f"BatchNorm{rank}d")), fuse_conv_bn_eval) for rank in (1, 2, 3)]
    pairs.append(((nn.Linear, nn.BatchNorm1d), fuse_linear_bn_eval))
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    for pattern, combine in pairs:
        for node in traced.graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            if len(node.args[0].users) > 1:  # what comes out of the convolution is used by others, too
                continue
            first, norm = modules[node.args[0].target], modules[node.target]
            if not norm.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, combine(first, norm))
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph)


def remove_dropout(model):
    """Return a module without its dropouts."""
    nn, traced = torch_module().nn, symbolic_trace(model)
    kinds = nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        if node.op == "call_module" and isinstance(modules[node.target], kinds):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph)


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """Return a module of some nodes of a graph.

    Parameters
    ----------
    orig_module : Module
        What the nodes call and read.
    nodes : List[Node]
        The nodes, in order.
    inputs : List[Node]
        Whose values it takes.
    outputs : List[Node]
        Whose values it returns.

    Returns
    -------
    GraphModule
        The module.

    """
    graph, values = Graph(), {}
    for node in inputs:
        values[node] = graph.placeholder(node.name)
    for node in nodes:
        values[node] = graph.node_copy(node, values.__getitem__)
    graph.output([values[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


class UnionFind:
    """Groups of numbers, which can be joined.

    Parameters
    ----------
    n : int
        How many numbers.

    """

    def __init__(self, n):
        self.parent = [None] * n
        self.size = [0] * n

    def make_set(self, v):
        """Make a group of one number."""
        self.parent[v], self.size[v] = v, 1

    def find(self, v):
        """Return the number that stands for a group."""
        if self.parent[v] is None:
            raise AssertionError(f"UnionFind: got {v}, expected a number of which make_set made a group")
        while self.parent[v] != v:
            self.parent[v] = self.parent[self.parent[v]]
            v = self.parent[v]
        return v

    def join(self, a, b):
        """Make one group of two."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return a
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return a


def optimize_for_inference(model, pass_config=None, tracer=Tracer):
    """Return a module that is quicker after training: without dropouts, and with batch normalizations taken in.

    Which layers oneDNN runs is the engine's to say in Dragon; the pass that would move layers into its layout is left
    away, whatever `pass_config` says of it.

    Parameters
    ----------
    model : Module
        The module, in evaluation mode.
    pass_config : Dict[str, Any], optional
        {"conv_bn_fuse": False} or {"remove_dropout": False} leaves a pass away.
    tracer : type, optional
        The class of the tracer.

    Returns
    -------
    Module
        The module.

    """
    config = {"conv_bn_fuse": True, "remove_dropout": True, **(pass_config or {})}
    unknown = set(config) - {"conv_bn_fuse", "remove_dropout", "mkldnn_layout_optimize"}
    if unknown:
        raise RuntimeError(f"optimize_for_inference: got {sorted(unknown)} in pass_config, expected conv_bn_fuse, "
                           "remove_dropout, mkldnn_layout_optimize")
    if config["remove_dropout"]:
        model = remove_dropout(model)
    if config["conv_bn_fuse"]:
        model = fuse(model)
    made = tracer()
    graph = made.trace(copy.deepcopy(model))
    return GraphModule(made.root, graph)
