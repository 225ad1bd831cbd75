"""`torch.fx.experimental.const_fold`: what depends on parameters alone is computed once."""
import operator

from dragon.vm.torch.core.graphs.naming import torch_module
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx._symbolic_trace import symbolic_trace
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import map_arg
from dragon.vm.torch.nn.parameter import Parameter


class FoldedGraphModule(GraphModule):
    """A module whose constant part runs once, before its first call.

    Parameters
    ----------
    root : Module
        What the graph calls and reads.
    graph : Graph
        The rest of the graph.
    const_subgraph : Graph, optional
        The constant part.
    fx_const_folded_attrs_name : str, optional
        The attribute that gets its values.
    device_for_folded_attrs : str, optional, default="cuda"
        Where they are to be.

    """

    def __init__(self, root, graph, const_subgraph=None, fx_const_folded_attrs_name=None,
                 device_for_folded_attrs="cuda"):
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args, **kwargs):
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self):
        """Run the constant part, and keep its values."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("FoldedGraphModule.run_folding: got a second call, expected one")
        self.has_folding_been_run = True
        torch = torch_module()

        def keep(value):
            if not isinstance(value, Tensor):
                value = torch.tensor(value)
            value = value.to(self.device_for_folded_attrs)
            return Parameter(value.detach(), requires_grad=value.requires_grad)
        folded = self.const_subgraph_module()
        setattr(self, self.fx_const_folded_attrs_name,
                torch.nn.ParameterList(map(keep, folded)) if isinstance(folded, tuple) else keep(folded))


def get_unique_attr_name_in_module(mod_traced, name):
    """Return a name like another that a module has not."""
    free, number = name, 0
    while hasattr(mod_traced, free):
        number += 1
        free = f"{name}_{number}"
    return free


def split_const_subgraphs(module, skip_folding_node_fn=None, device_for_folded_attrs="cpu"):
    """Return a module that computes once what depends on parameters alone.

    Parameters
    ----------
    module : Union[Module, GraphModule]
        The module.
    skip_folding_node_fn : Callable[[Node], bool], optional
        Whether a node is to be computed at each call nevertheless.
    device_for_folded_attrs : str, optional, default="cpu"
        Where the values are to be.

    Returns
    -------
    FoldedGraphModule
        The module.

    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant, folds = {}, False
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "get_attr" and not (node.all_input_nodes and set(node.all_input_nodes) <= set(constant)):
            continue
        if skip_folding_node_fn and skip_folding_node_fn(node) or node.is_impure():
            continue
        if node.op == "call_module":
            continue
        constant[node] = None
        folds = folds or node.op != "get_attr"
    if not folds:
        return FoldedGraphModule(traced, traced.graph)
    inner, values = Graph(), {}
    for node in constant:
        values[node] = inner.node_copy(node, values.__getitem__)
    used = [node for node in constant if node.op != "get_attr" and any(user not in constant for user in node.users)]
    results = tuple(values[node] for node in used)
    inner.output(results[0] if len(results) == 1 else results)
    _without_unused(inner)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    rest = _rest_of(traced, constant, used, name)
    torch = torch_module()
    # The attribute is there before its values are, so that the graph finds it.
    setattr(traced, name, torch.nn.ParameterList() if len(used) > 1 else Parameter(torch.empty(1)))
    return FoldedGraphModule(traced, rest, inner, name, device_for_folded_attrs)


def _without_unused(graph):
    for node in reversed(graph.nodes):
        if node.op != "output" and not node.users:
            graph.erase_node(node)


def _rest_of(traced, constant, used, name):
    """Return the graph that reads what the constant part gives."""
    rest, values, done = Graph(), {}, False

    def read():
        held = rest.get_attr(name)
        for place, node in enumerate(used):
            values[node] = held if len(used) == 1 else rest.call_function(operator.getitem, (held, place))
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            values[node] = rest.node_copy(node)
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            continue
        if not done:
            read()
            done = True
        if node.op == "output":
            made = rest.output(map_arg(node.args[0], values.__getitem__), type_expr=node.type)
            made.meta = dict(node.meta)
        elif node not in constant or node.op == "get_attr" and any(user not in constant for user in node.users):
            values[node] = rest.node_copy(node, values.__getitem__)
    rest.set_codegen(traced.graph._codegen)
    return rest
