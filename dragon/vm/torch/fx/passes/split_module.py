"""`torch.fx.passes.split_module`: a module of modules, each with a part of a graph."""
from dragon.vm.torch.core.graphs.attributes import _get_attr
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import map_arg
from dragon.vm.torch.fx.proxy import Proxy


class Partition:
    """A part: its nodes, and what goes in and out.

    Parameters
    ----------
    name : str
        Its name.

    """

    def __init__(self, name):
        self.name, self.submod_name = name, f"submod_{name}"
        self.node_names, self.inputs, self.outputs = [], {}, {}
        self.dependencies, self.dependents = {}, {}
        self.graph = Graph()
        self.environment, self.targets = {}, {}

    def __repr__(self):
        return (f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n "
                f"partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}")


def split_module(m, root_m, split_callback, qualname_map=None, keep_original_order=False,
                 keep_original_node_name=False, keep_original_input_name=True, *, partition_affix=None,
                 tuple_return=False):
    """Return a module of modules, each of which has a part of a graph.

    Parameters
    ----------
    m : GraphModule
        The module whose graph is split.
    root_m : Module
        Not used.
    split_callback : Callable[[Node], int]
        Returns the part of a node.
    qualname_map : Dict[str, str], optional
        {name within the new module: name in the old one} is put into it.
    keep_original_order : bool, optional, default=False
        The parts run in the order in which their first nodes did; by default, after those that they use.
    keep_original_node_name : bool, optional, default=False
        Nodes have the names that they had.
    keep_original_input_name : bool, optional, default=True
        Inputs of parts are named as the nodes that give them.
    partition_affix : str, optional
        Stands in the names of parts.
    tuple_return : bool, optional, default=False
        A part with one output returns a tuple, too.

    Returns
    -------
    GraphModule
        The module.

    """
    splitter = _Splitter(m, split_callback, partition_affix)
    splitter.look()
    order = list(splitter.parts) if keep_original_order else splitter.sort()
    splitter.fill(keep_original_node_name, keep_original_input_name, tuple_return)
    return splitter.join(order, keep_original_order, qualname_map, tuple_return)


class _Splitter:
    """The state of one splitting."""

    def __init__(self, module, callback, affix):
        self.module, self.callback, self.affix = module, callback, affix
        self.parts, self.part_of = {}, {}
        self.nodes = {node.name: node for node in module.graph.nodes}

    def look(self):
        """Find the part of each node, and what goes from part to part."""
        for node in self.module.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(self.callback(node))
            if name not in self.parts:
                self.parts[name] = Partition(name if self.affix is None else f"{self.affix}_{name}")
            self.parts[name].node_names.append(node.name)
            self.part_of[node] = name
        for node in self.module.graph.nodes:
            user = self.part_of.get(node)
            for used in node.all_input_nodes:
                maker = self.part_of.get(used)
                if maker != user:
                    self._note(used, maker, user)

    def _note(self, used, maker, user):
        if maker is not None:
            self.parts[maker].outputs.setdefault(used.name)
        if user is not None:
            self.parts[user].inputs.setdefault(used.name)
            if maker is not None:
                self.parts[user].dependencies.setdefault(maker)
                self.parts[maker].dependents.setdefault(user)

    def sort(self):
        """Return the parts, each after those that it uses."""
        waiting = {name: len(part.dependencies) for name, part in self.parts.items()}
        ready, order = [name for name, count in waiting.items() if not count], []
        while ready:
            name = ready.pop()
            order.append(name)
            for user in self.parts[name].dependents:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        if len(order) != len(self.parts):
            raise RuntimeError("cycle exists between partitions!")
        return order

    def fill(self, keep_names, keep_inputs, tuple_return):
        """Write the graphs of the parts."""
        for part in self.parts.values():
            for place, name in enumerate(part.inputs):
                node = self.nodes[name]
                made = part.graph.placeholder(name if keep_inputs else f"arg_{place}", type_expr=node.type)
                made.meta = node.meta.copy()
                part.environment[node] = made
        for node, name in self.part_of.items():
            part = self.parts[name]
            args, kwargs = (map_arg(value, lambda used, env=part.environment: env[used])
                            for value in (node.args, node.kwargs))
            target = node.target
            if node.op == "call_module":
                target = "_".join(node.target.split("."))
                part.targets[target] = node.target
            made = part.graph.create_node(node.op, target, args, kwargs, type_expr=node.type,
                                          name=node.name if keep_names else None)
            made.meta = node.meta.copy()
            part.environment[node] = made
        for part in self.parts.values():
            values = tuple(part.environment[self.nodes[name]] for name in part.outputs)
            part.graph.output(values[0] if len(values) == 1 and not tuple_return else values)

    def join(self, order, keep_order, qualname_map, tuple_return):
        """Write the graph that calls the parts."""
        graph, values, attributes = Graph(), {}, {}

        def read(node):
            values[node] = graph.get_attr(node.target, type_expr=node.type)
            values[node].meta = node.meta.copy()
            attributes[node.target] = _get_attr(self.module, node.target)

        def call(name):
            part = self.parts[name]
            inner = {}
            for target, place in part.targets.items():
                inner[target] = self.module.get_submodule(place)
                if qualname_map is not None:
                    qualname_map[f"{part.submod_name}.{target}"] = place
            attributes[part.submod_name] = GraphModule(inner, part.graph)
            made = graph.call_module(part.submod_name, tuple(values[self.nodes[item]] for item in part.inputs))
            if len(part.outputs) > 1 or tuple_return:
                proxy = Proxy(made)
                for place, item in enumerate(part.outputs):
                    values[self.nodes[item]] = proxy[place].node
            else:
                for item in part.outputs:
                    values[self.nodes[item]] = made
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                values[node] = graph.node_copy(node)
        waiting = list(order)
        for node in self.module.graph.nodes:
            if node.op == "get_attr" and node.users and node not in values:
                read(node)
            elif keep_order and self.part_of.get(node) in waiting:
                self._call_when_ready(waiting, self.part_of[node], values, read, call)
        for name in waiting:
            call(name)
        for node in self.module.graph.nodes:
            if node.op == "output":
                made = graph.output(map_arg(node.args[0], lambda used: values[used]), type_expr=node.type)
                made.meta = node.meta.copy()
        return GraphModule(attributes, graph)

    def _call_when_ready(self, waiting, name, values, read, call):
        """Call a part, and before it what it reads."""
        part = self.parts[name]
        for item in part.inputs:
            node = self.nodes[item]
            if node not in values and node.op == "get_attr":
                read(node)
        missing = [item for item in part.inputs if self.nodes[item] not in values]
        if missing:
            return
        waiting.remove(name)
        call(name)
