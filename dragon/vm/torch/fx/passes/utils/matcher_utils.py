"""`torch.fx.passes.utils.matcher_utils`: where a small graph occurs in a large one."""
import copy
import logging
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Dict, List

from dragon.vm.torch.core.graphs.partitions import validate_partition
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.node import Node
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.utils import _pytree as pytree

logger = logging.getLogger(__name__)


@dataclass
class InternalMatch:
    """A place where the small graph occurs: its nodes, and those of the large one that they stand for."""

    anchors: List[Node]
    nodes_map: Dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: List[Node] = field(default_factory=list)
    returning_nodes: List[Node] = field(default_factory=list)
    name_node_map: Dict[str, Any] = field(default_factory=dict)

    def __copy__(self):
        return InternalMatch(self.anchors, dict(self.nodes_map), list(self.placeholder_nodes),
                             list(self.returning_nodes), dict(self.name_node_map))


class SubgraphMatcher:
    """Find where a small graph occurs.

    Parameters
    ----------
    pattern : Graph
        The small graph.
    match_output : bool, optional, default=False
        Its output must be the large graph's, too.
    match_placeholder : bool, optional, default=False
        Its inputs must be inputs there, too; else they stand for any node.
    remove_overlapping_matches : bool, optional, default=True
        No node of the large graph is in two places.
    ignore_literals : bool, optional, default=False
        Numbers and the like need not be equal.

    """

    def __init__(self, pattern, match_output=False, match_placeholder=False, remove_overlapping_matches=True,
                 ignore_literals=False):
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op not in ("output", "placeholder") and not node.users and not node.is_impure():
                raise AssertionError(f"SubgraphMatcher cannot be initialized with a pattern with dead code: {node}")
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = [output] if match_output else [node for node in output.all_input_nodes
                                                              if len(node.users) == 1]

    def _match_attributes(self, pn, gn):
        found = []
        for node in (pn, gn):
            value = node.graph.owning_module
            for word in node.target.split("."):
                value = getattr(value, word)
            found.append(value)
        first, second = found
        if type(first) is not type(second):
            return False
        if isinstance(first, Tensor):
            return True  # numbers differ from model to model
        if isinstance(first, Module):
            return type(first) is type(second)
        raise RuntimeError(f"Unsupported type {type(first)} when matching attributes")

    def _nodes_are_equal(self, pn, gn, node_name_match=""):
        if pn.op == "placeholder" and not self.match_placeholder:
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in ("placeholder", "output"):
            return True
        if pn.op == "get_attr":
            return self._match_attributes(pn, gn)
        if pn.op == "call_module":
            owners = pn.graph.owning_module, gn.graph.owning_module
            if all(owner is not None for owner in owners) and pn.target != gn.target:
                kinds = [type(owner.get_submodule(node.target)) for owner, node in zip(owners, (pn, gn))]
                return kinds[0] is kinds[1]
        return pn.target == gn.target

    def _is_contained(self, nodes_map):
        """Return whether nobody else uses what is within: only results of the small graph may have other users."""
        inner = {gn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        for pn, gn in nodes_map.items():
            if pn.op == "placeholder" or pn in self.pattern_returning_nodes or not isinstance(gn, Node):
                continue
            if any(user not in inner for user in gn.users):
                return False
        return True

    def _remove_overlapping_matches(self, matches):
        kept, taken = [], set()
        for match in matches:
            nodes = {gn for pn, gn in match.nodes_map.items()
                     if pn.op not in ("placeholder", "output") and isinstance(gn, Node)}
            if not nodes & taken:
                kept.append(match)
                taken |= nodes
        return kept

    def _match_literals(self, pn, gn, match):
        if isinstance(pn, Node) and isinstance(gn, Node):
            raise AssertionError("SubgraphMatcher: got two nodes, expected a value that is none")
        if isinstance(pn, Node):  # an input of the small graph may stand for a number
            if pn.op != "placeholder":
                return False
            if pn in match.nodes_map:
                return match.nodes_map[pn] == gn
            match.nodes_map[pn] = gn
            return True
        return not isinstance(gn, Node) and type(gn) is type(pn) and gn == pn

    def _match_nodes(self, pn, gn, match, node_name_match=""):
        if pn in match.nodes_map:
            return match.nodes_map[pn] is gn
        if gn in [value for value in match.nodes_map.values() if isinstance(value, Node)]:
            return False
        if not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        saved = copy.copy(match)
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        if pn.op == "get_attr":
            return True
        pairs = self._pair_arguments(pn, gn)
        ok = pairs is not None
        for first, second in pairs or ():
            if isinstance(first, Node) and isinstance(second, Node):
                ok = self._match_nodes(first, second, match)
            else:
                ok = self.ignore_literals and not isinstance(first, Node) and not isinstance(second, Node) \
                    or self._match_literals(first, second, match)
            if not ok:
                break
        if not ok:
            match.nodes_map.clear()
            match.nodes_map.update(saved.nodes_map)
        return ok

    def _pair_arguments(self, pn, gn):
        """Return the leaves of the arguments of two nodes, pair by pair, None where they are not alike."""
        if len(pn.args) == len(gn.args) and set(pn.kwargs) == set(gn.kwargs):
            trees = [(tuple(node.args), [node.kwargs[key] for key in pn.kwargs]) for node in (pn, gn)]
        else:
            owners = pn.graph.owning_module, gn.graph.owning_module
            normal = [node.normalized_arguments(owner, normalize_to_only_use_kwargs=True)
                      for node, owner in zip((pn, gn), owners)
                      if node.op != "call_module" or owner is not None]
            if len(normal) < 2 or None in normal or set(normal[0].kwargs) != set(normal[1].kwargs):
                return None
            trees = [[item.kwargs[key] for key in normal[0].kwargs] for item in normal]
        leaves = []
        for tree in trees:
            leaves.append([part for item in pytree.tree_leaves(tree, is_leaf=lambda value: isinstance(value, slice))
                           for part in ((item.start, item.stop, item.step) if isinstance(item, slice) else (item,))])
        return list(zip(*leaves)) if len(leaves[0]) == len(leaves[1]) else None

    def match(self, graph, node_name_match=""):
        """Return the places where the small graph occurs.

        Parameters
        ----------
        graph : Graph
            The large graph.
        node_name_match : str, optional, default=""
            Nodes whose name has this are taken to be equal to the last of the small graph.

        Returns
        -------
        List[InternalMatch]
            The places, the last of the graph first.

        """
        candidates = defaultdict(list)
        for anchor in self.pattern_anchors:
            for node in graph.nodes:
                if self._nodes_are_equal(anchor, node, node_name_match):
                    candidates[anchor].append(node)
        found = []

        def backtrack(index, match):
            if index == len(self.pattern_anchors):
                match.placeholder_nodes = [match.nodes_map[node] for node in self.pattern_placeholder_nodes
                                           if node in match.nodes_map]
                match.returning_nodes = [match.nodes_map[node] for node in self.pattern_returning_nodes]
                found.append(match)
                return
            anchor = self.pattern_anchors[index]
            for node in candidates[anchor]:
                trial = copy.copy(match)
                if self._match_nodes(anchor, node, trial, node_name_match):
                    backtrack(index + 1, trial)
        backtrack(0, InternalMatch(anchors=self.pattern_anchors))
        found = [match for match in found if self._is_contained(match.nodes_map)]
        valid = []
        for match in found:
            inner = [gn for pn, gn in match.nodes_map.items()
                     if pn.op not in ("placeholder", "output") and isinstance(gn, Node)]
            if validate_partition(inner):
                valid.append(match)
        return self._remove_overlapping_matches(valid) if self.remove_overlapping_matches else valid
