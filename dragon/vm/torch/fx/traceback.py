"""`torch.fx.traceback`: what is known of the program while graphs are made of graphs."""
import functools
import traceback
from enum import Enum

from dragon.core.scopes import contextmanager

_state = {"meta": {}, "preserve": False, "replay": None}


class NodeSourceAction(Enum):
    """What was done with a node to make another of it."""

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """Where a node comes from: another node, and what was done with it.

    Parameters
    ----------
    node : Node, optional
        The other node.
    pass_name : str, optional, default=""
        Who did it.
    action : Union[NodeSourceAction, List[NodeSourceAction]], optional
        What was done.

    """

    def __init__(self, node, pass_name="", action=None):
        self.pass_name = pass_name
        self.action = action if isinstance(action, list) else [action] if action else []
        self.name = node.name if node is not None else ""
        self.target = str(node.target) if node is not None else ""
        self.graph_id = id(node.graph) if node is not None else -1
        self.from_node = list(node.meta.get("from_node", [])) if node is not None else []

    def __repr__(self):
        return self.print_readable()

    def _get_action_string(self):
        return "+".join(item.name.lower() for item in self.action)

    def print_readable(self, indent=0):
        """Return the history as lines, the oldest last."""
        lines = [f"{'    ' * indent}(name={self.name}, pass_name={self.pass_name}, "
                 f"action={self._get_action_string()}, graph_id={self.graph_id})\n"]
        return "".join(lines + [item.print_readable(indent + 1) for item in self.from_node])

    def to_dict(self):
        """Return the history as a dictionary."""
        return {"name": self.name, "target": self.target, "graph_id": self.graph_id, "pass_name": self.pass_name,
                "action": self._get_action_string(), "from_node": [item.to_dict() for item in self.from_node]}

    def __eq__(self, other):
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self):
        return hash((self.name, self.target, self.graph_id, self.pass_name))


@contextmanager
def preserve_node_meta(enable=True):
    """Have nodes that are made within take over what is known of the node that is run."""
    before = _state["preserve"], _state["meta"]
    _state["preserve"] = enable
    _state["meta"] = dict(before[1])
    try:
        yield
    finally:
        _state["preserve"], _state["meta"] = before


def has_preserved_node_meta():
    """Return whether nodes take over what is known."""
    return _state["preserve"]


def get_current_meta():
    """Return what is known of the node that is run."""
    return _state["meta"]


@contextmanager
def set_current_meta(node, pass_name=""):
    """Let a node be the one that is run."""
    before = _state["meta"]
    if has_preserved_node_meta() and node.meta:
        _state["meta"] = {**before, **node.meta}
        if pass_name or "from_node" in node.meta:
            _state["meta"]["from_node"] = [NodeSource(node, pass_name, NodeSourceAction.CREATE)]
    try:
        yield
    finally:
        _state["meta"] = before


@contextmanager
def set_current_replay_node(node):
    """Let a node be the one that is run again."""
    before, _state["replay"] = _state["replay"], node
    try:
        yield
    finally:
        _state["replay"] = before


def get_current_replay_node():
    """Return the node that is run again."""
    return _state["replay"]


def set_stack_trace(stack):
    """Say where in the program the next nodes come from, where meta is preserved."""
    if has_preserved_node_meta() and stack:
        _state["meta"]["stack_trace"] = "".join(stack)


def format_stack():
    """Return the place in the program as lines."""
    if has_preserved_node_meta():
        return [_state["meta"].get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@contextmanager
def annotate(annotation_dict):
    """Give nodes that are made within remarks, under the key "custom" of their meta, where meta is preserved."""
    before = _state["meta"]
    _state["meta"] = {**before, "custom": {**before.get("custom", {}), **annotation_dict}}
    try:
        yield
    finally:
        _state["meta"] = before


def annotate_fn(annotation_dict):
    """Return a decorator: `annotate` around each call of a function."""
    def decorate(function):
        @functools.wraps(function)
        def within(*args, **kwargs):
            with annotate(annotation_dict):
                return function(*args, **kwargs)
        return within
    return decorate


def get_graph_provenance_json(graph):
    """Return {name of a node: where it comes from}, of nodes of which that is known."""
    return {node.name: [item.to_dict() for item in node.meta["from_node"]]
            for node in graph.nodes if "from_node" in node.meta}
