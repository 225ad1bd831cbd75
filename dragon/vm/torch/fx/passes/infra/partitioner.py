"""`CapabilityBasedPartitioner`: group the nodes that a backend can run."""
import collections
import itertools

from dragon.vm.torch.core.graphs.naming import qualified_name
from dragon.vm.torch.fx.passes.utils.fuser_utils import fuse_by_partitions


class Partition:
    """A group of nodes.

    Parameters
    ----------
    id : int, optional
        Its number.
    nodes : Iterable[Node], optional
        The nodes.
    node_orders : Iterable[int], optional
        Their places, the last of the graph being 0.

    """

    def __init__(self, id=None, nodes=None, node_orders=None):
        nodes = list(nodes or [])
        self.id = id
        self.nodes = dict(zip(nodes, node_orders)) if node_orders is not None else dict.fromkeys(nodes)

    def __repr__(self):
        return str(self.nodes)

    def add_node(self, node, node_order=None):
        """Add a node."""
        self.nodes[node] = node_order

    def remove_node(self, node):
        """Take a node out."""
        del self.nodes[node]

    def size(self):
        """Return how many nodes there are."""
        return len(self.nodes)


class _DependencyViewer:
    """Which nodes use a node, be it by way of others.

    Parameters
    ----------
    graph_module : GraphModule
        The module.

    """

    def __init__(self, graph_module):
        self.downstreams = collections.defaultdict(set)
        for node in reversed(graph_module.graph.nodes):
            for user in node.users:
                self.downstreams[node].add(user)
                self.downstreams[node] |= self.downstreams[user]

    def downstreams_of(self, node):
        """Return the nodes that use a node."""
        return self.downstreams[node]


class CapabilityBasedPartitioner:
    """Group the nodes that a backend can run, as few groups as may be.

    Parameters
    ----------
    graph_module : GraphModule
        The module.
    operator_support : OperatorSupportBase
        Which nodes can be run.
    allows_single_node_partition : bool, optional, default=False
        Groups of one node are groups, too.
    non_compute_ops : Sequence[str], optional
        Names of functions that alone make no group.
    allowed_single_node_partition_ops : Sequence[str], optional
        Names of functions that alone make one nevertheless.
    skip_horizontal_fusion : bool, optional, default=False
        Only nodes that use each other are one group.

    """

    def __init__(self, graph_module, operator_support, allows_single_node_partition=False, non_compute_ops=None,
                 allowed_single_node_partition_ops=None, skip_horizontal_fusion=False):
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion
        self.dependency_viewer = _DependencyViewer(graph_module)

    def _is_node_supported(self, node):
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def propose_partitions(self):
        """Return groups of nodes.

        Returns
        -------
        List[Partition]
            The groups, the last of the graph first.

        """
        group_of, groups = {}, {}
        orders = {node: place for place, node in enumerate(reversed(self.graph_module.graph.nodes))}
        numbers = itertools.count()

        def merged(first, second):
            """Make one group of two, unless a way would then lead out of it and in again."""
            nodes = {**groups[first], **groups[second]}
            outside = {user for node in nodes for user in node.users if user not in nodes}
            waiting, seen = list(outside), set()
            while waiting:
                node = waiting.pop()
                if node in nodes:
                    return False
                if node in seen:
                    continue
                seen.add(node)
                waiting.extend(groups[group_of[node]] if node in group_of else ())
                waiting.extend(node.users)
            groups[first] = nodes
            for node in groups.pop(second):
                group_of[node] = first
            return True
        for node in reversed(self.graph_module.graph.nodes):
            if not self._is_node_supported(node) or node.op in ("placeholder", "output"):
                continue
            number = next(numbers)
            groups[number], group_of[node] = {node: orders[node]}, number
            near = list(dict.fromkeys(group_of[user] for user in node.users if user in group_of))
            if not self.skip_horizontal_fusion:
                near += [other for other in groups if other not in near and other != number]
            current = number
            for other in near:
                if other in groups and other != current and merged(other, current):
                    current = other
        found = []
        for number, nodes in groups.items():
            nodes = dict(sorted(nodes.items(), key=lambda item: -item[1]))
            part = Partition(number, nodes, nodes.values())
            if self.allows_single_node_partition or self._counts(nodes):
                found.append(part)
        return found

    def _counts(self, nodes):
        """Return whether a group is worth being one: of more than one node that computes."""
        names = [qualified_name(node.target) if callable(node.target) else node.target for node in nodes]
        if any(name in self.allowed_single_node_partition_ops for name in names):
            return True
        return sum(name not in ("_operator.getitem", *self.non_compute_ops) for name in names) > 1

    def fuse_partitions(self, partitions, prefix="fused_"):
        """Make one node of each group; return the module."""
        return fuse_by_partitions(self.graph_module, [part.nodes for part in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions):
        """Take nodes that compute nothing from the beginnings and ends of groups."""
        listed = set(self.non_compute_ops)

        def idle(node):
            return node.op == "call_function" and qualified_name(node.target) in listed
        for part in partitions:
            changed = True
            while changed:
                changed = False
                for node in list(part.nodes):
                    first = not any(used in part.nodes for used in node.all_input_nodes)
                    last = not any(user in part.nodes for user in node.users)
                    if idle(node) and (first or last):
                        part.remove_node(node)
                        changed = True

    def partition_and_fuse(self, prefix="fused_"):
        """Group nodes, and make one of each group; return the module."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)
