"""`CSEPass`: what is computed twice of the same is computed once."""
from dragon.dialects.aten.table import random_operators
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import Node, map_arg
from dragon.vm.torch.fx.passes.infra.pass_base import PassBase, PassResult
from dragon.vm.torch.utils import _pytree as pytree

rand_ops = frozenset(random_operators())


def get_CSE_banned_ops():
    """Return the names of functions whose calls are never one: those of random numbers."""
    return set(rand_ops)


class CSEPass(PassBase):
    """Make one node of those that do the same.

    Parameters
    ----------
    banned_ops : Set[Any], optional
        Functions or operators, or their names, whose calls stay as they are.

    """

    def __init__(self, banned_ops=None):
        self.banned_ops = banned_ops or set()
        super().__init__()

    def _stays(self, node):
        name = getattr(node.target, "__name__", node.target)
        base = str(name).partition(".")[0]
        return (node.op not in ("call_function", "call_method") or node.target in self.banned_ops
                or getattr(node.target, "overloadpacket", None) in self.banned_ops
                or base in self.banned_ops or base in rand_ops or base.endswith("_") and not base.endswith("__")
                or node.is_impure() or base.startswith("i") and getattr(node.target, "__module__", "") == "_operator"
                and base not in ("is_", "is_not", "invert", "index", "inv", "indexOf"))

    def call(self, graph_module):
        """Return the module of a graph without what is computed twice."""
        graph, values, seen, modified = Graph(), {}, {}, False
        for node in graph_module.graph.nodes:
            if node.op == "output":
                made = graph.output(map_arg(node.args[0], values.__getitem__), type_expr=node.type)
                made.meta = dict(node.meta)
                continue
            key = None if self._stays(node) else self._key(node, values)
            if key is not None and key in seen:
                values[node] = seen[key]
                modified = True
                continue
            values[node] = graph.node_copy(node, values.__getitem__)
            if key is not None:
                seen[key] = values[node]
        made = GraphModule(graph_module, graph)
        return PassResult(made, modified)

    @staticmethod
    def _key(node, values):
        """Return what two nodes share that do the same, None where that cannot be said."""
        leaves, spec = pytree.tree_flatten((tuple(node.args), dict(node.kwargs)),
                                           is_leaf=lambda item: isinstance(item, slice))

        def of(leaf):
            if isinstance(leaf, Node):
                return "node", id(values[leaf])
            if isinstance(leaf, slice):
                return ("slice", *(of(item) for item in (leaf.start, leaf.stop, leaf.step)))
            return type(leaf), leaf
        key = node.op, node.target, tuple(map(of, leaves)), str(spec)
        try:
            hash(key)
        except TypeError:
            return None
        return key
