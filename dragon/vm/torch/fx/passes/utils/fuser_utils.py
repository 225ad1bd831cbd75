"""Make one node of several: the others become the graph of a module that it calls."""
import heapq
import operator

from dragon.vm.torch.core.graphs.partitions import validate_partition
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.passes.utils.common import lift_subgraph_as_module


def topo_sort(nodes):
    """Return nodes in the order in which they run, which need not be that of the list."""
    inner, done = set(nodes), {}
    waiting = {node: sum(used in inner for used in node.all_input_nodes) for node in nodes}
    place = {node: number for number, node in enumerate(nodes)}
    ready = [number for number, node in enumerate(nodes) if not waiting[node]]
    while ready:
        node = nodes[heapq.heappop(ready)]
        done[node] = None
        for user in node.users:
            if user in waiting and user not in done:
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready, place[user])
    if len(done) != len(waiting):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return list(done)


def fuse_as_graphmodule(gm, nodes, module_name, partition_lookup_table=None, *, always_return_tuple=False):
    """Return a module of some nodes of a graph.

    Parameters
    ----------
    gm : GraphModule
        The module whose nodes they are.
    nodes : List[Node]
        The nodes, in order.
    module_name : str
        What the class is called.
    partition_lookup_table : Dict[Node, int], optional
        The nodes once more, where looking them up is to be quick.
    always_return_tuple : bool, optional, default=False
        One output comes as a tuple, too.

    Returns
    -------
    Tuple[GraphModule, Tuple[Node, ...], Tuple[Node, ...]]
        The module, the nodes that it takes values of, and those whose values it gives.

    """
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
    inner = set(nodes) if partition_lookup_table is None else partition_lookup_table
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    graph, values, inputs, outputs = Graph(), {}, {}, {}

    def of(used):
        if used in values:
            return values[used]
        inputs[used] = graph.placeholder(used.name, type_expr=used.type)
        inputs[used].meta = dict(used.meta)
        values[used] = inputs[used]
        return values[used]
    for node in nodes:
        values[node] = graph.node_copy(node, of)
    for node in nodes:
        if any(user not in inner for user in node.users):
            outputs[node] = values[node]
    results = tuple(outputs.values())
    graph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    graph.lint()
    module, _ = lift_subgraph_as_module(gm, graph, comp_name="", class_name=module_name)
    return module, tuple(inputs), tuple(outputs)


def insert_subgm(gm, sub_gm, orig_inputs, orig_outputs, insertion_point=None):
    """Put a call of a module into a graph, and have others use what it gives.

    Parameters
    ----------
    gm : GraphModule
        The module that is changed.
    sub_gm : GraphModule
        The module that is called.
    orig_inputs, orig_outputs : Tuple[Node, ...]
        What it takes, and in place of what it gives.
    insertion_point : Node, optional
        After which node; by default the last of those whose place it takes.

    Returns
    -------
    GraphModule
        The module that is changed.

    """
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    if insertion_point is None:
        insertion_point = max(orig_outputs) if orig_outputs else next(iter(reversed(gm.graph.nodes)))
    with gm.graph.inserting_after(insertion_point):
        made = gm.graph.call_module(name, args=tuple(orig_inputs), kwargs=None)
        returned = sub_gm.graph.output_node().args[0]
        if not isinstance(returned, tuple):
            orig_outputs[0].replace_all_uses_with(made)
            made.meta = dict(orig_outputs[0].meta)
        else:
            with gm.graph.inserting_after(made):
                for place, old in reversed(list(enumerate(orig_outputs))):
                    item = gm.graph.call_function(operator.getitem, (made, place))
                    item.meta = dict(old.meta)
                    old.replace_all_uses_with(item)
    return gm


def erase_nodes(gm, nodes):
    """Take nodes out of a graph, the last first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(gm, partitions, prefix="fused_", always_return_tuple=False):
    """Make one node of the nodes of each part.

    Parameters
    ----------
    gm : GraphModule
        The module, which is changed.
    partitions : List[Dict[Node, Optional[int]]]
        The parts.
    prefix : str, optional, default="fused_"
        How the modules' names begin.
    always_return_tuple : bool, optional, default=False
        A module with one output returns a tuple, too.

    Returns
    -------
    GraphModule
        The module.

    """
    for place, part in enumerate(partitions):
        nodes = topo_sort(list(part))
        module, inputs, outputs = fuse_as_graphmodule(gm, nodes, f"{prefix}{place}", part,
                                                      always_return_tuple=always_return_tuple)
        insert_subgm(gm, module, inputs, outputs, max(nodes))
        erase_nodes(gm, nodes)
    _sort(gm)
    gm.recompile()
    return gm


def _sort(gm):
    """Put nodes after those that they use, where a call of a module now stands behind a user."""
    done, order = set(), []

    def visit(node):
        stack = [(node, iter(node.all_input_nodes))]
        while stack:
            top, rest = stack[-1]
            following = next((used for used in rest if used not in done), None)
            if following is None:
                stack.pop()
                if top not in done:
                    done.add(top)
                    order.append(top)
            else:
                stack.append((following, iter(following.all_input_nodes)))
    for node in gm.graph.nodes:
        visit(node)
    if order != list(gm.graph.nodes):
        for node in order:
            gm.graph._root.prepend(node)
