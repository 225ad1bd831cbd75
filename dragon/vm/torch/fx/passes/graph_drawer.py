"""`FxGraphDrawer`: a graph as a picture, drawn by pydot."""
import hashlib

from dragon.vm.torch.core.graphs.naming import module_name
from dragon.vm.torch.fx.node import _format_arg
from dragon.vm.torch.fx.passes.shape_prop import TensorMetadata

try:
    import pydot
    HAS_PYDOT = True
except ModuleNotFoundError:
    pydot, HAS_PYDOT = None, False

_COLORS = {"placeholder": '"AliceBlue"', "call_module": "LemonChiffon1", "get_param": "Yellow2",
           "get_attr": "LightGrey", "output": "PowderBlue"}
_SHADES = "CadetBlue1 Coral DarkOliveGreen1 DarkSeaGreen1 GhostWhite Khaki1 LavenderBlush1 LightSkyBlue MistyRose1 " \
          "MistyRose2 PaleTurquoise2 PeachPuff1 Salmon Thistle1 Thistle3 Wheat1".split()


class FxGraphDrawer:
    """Draw the graph of a module, and those of the modules of graphs within.

    Parameters
    ----------
    graph_module : GraphModule
        The module.
    name : str
        The name of the picture.
    ignore_getattr : bool, optional, default=False
        Leave nodes that read attributes away.
    ignore_parameters_and_buffers : bool, optional, default=False
        Leave the parameters of layers away.
    skip_node_names_in_args : bool, optional, default=True
        Arguments that are nodes are seen by their arrows alone.
    parse_stack_trace : bool, optional, default=False
        Tell the file and line that nodes come from.
    dot_graph_shape : str, optional
        The shape of nodes, "record" by default.
    normalize_args : bool, optional, default=False
        Give all arguments by name, where the signature is known.

    """

    def __init__(self, graph_module, name, ignore_getattr=False, ignore_parameters_and_buffers=False,
                 skip_node_names_in_args=True, parse_stack_trace=False, dot_graph_shape=None, normalize_args=False):
        if not HAS_PYDOT:
            raise RuntimeError("FXGraphDrawer requires the pydot package to be installed. Please install pydot "
                               "through your favorite Python package manager.")
        self._name = name
        self.dot_graph_shape = dot_graph_shape or "record"
        self.normalize_args = normalize_args
        self.options = ignore_getattr, ignore_parameters_and_buffers, skip_node_names_in_args, parse_stack_trace
        self._dot_graphs = {name: self._to_dot(graph_module, name)}
        for child, module in graph_module.named_children():
            if hasattr(module, "graph") and hasattr(module.graph, "nodes"):
                self._dot_graphs[f"{name}_{child}"] = self._to_dot(module, f"{name}_{child}")

    def get_dot_graph(self, submod_name=None):
        """Return the picture, or that of a module within, as a graph of pydot."""
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self):
        """Return the picture as a graph of pydot."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name):
        """Return the picture of a module within."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self):
        """Return all pictures by their names."""
        return self._dot_graphs

    def _style(self, node):
        style = {"shape": self.dot_graph_shape, "fillcolor": "#CAFFE3", "style": '"filled,rounded"',
                 "fontcolor": "#000000"}
        if node.op in _COLORS:
            style["fillcolor"] = _COLORS[node.op]
        else:
            name = node._pretty_print_target(node.target)
            style["fillcolor"] = _SHADES[int(hashlib.md5(name.encode()).hexdigest()[:8], 16) % len(_SHADES)]
        return style

    def _label(self, module, node):
        _, no_parameters, skip_names, parse_trace = self.options
        words = "{" + f"name=%{node.name}|op_code={node.op}\n"
        if node.op == "call_module":
            leaf = module.get_submodule(node.target)
            shown = [] if no_parameters else [f"{name}: {getattr(leaf, name)}" for name in
                                              getattr(leaf, "__constants__", ())]
            words += rf"\n{module_name(type(leaf))}.{type(leaf).__name__}" + "".join(rf"|{item}" for item in shown)
        else:
            words += "|target=" + node._pretty_print_target(node.target) + r"\n"
            args, kwargs = node.args, node.kwargs
            if self.normalize_args:
                normal = node.normalized_arguments(module, normalize_to_only_use_kwargs=True)
                args, kwargs = normal if normal is not None else (args, kwargs)
            words += self._arguments("args", args, skip_names) + self._arguments("kwargs", kwargs, skip_names)
        words += f"|num_users={len(node.users)}" + r"\n"
        meta = node.meta.get("tensor_meta")
        if isinstance(meta, TensorMetadata):
            words += rf"|dtype={meta.dtype}\nshape={tuple(meta.shape)}\nrequires_grad={meta.requires_grad}\n" \
                     rf"stride={meta.stride}\n"
        if parse_trace and node.stack_trace:
            lines = [line.strip() for line in node.stack_trace.split("\n") if line.strip().startswith("File ")]
            words += "".join(rf"|{line}\n" for line in lines[-1:])
        return words + "}"

    @staticmethod
    def _arguments(title, given, skip_names):
        if not given:
            return ""
        shown = _format_arg(given)
        if skip_names:
            items = given.values() if isinstance(given, dict) else given
            if all(hasattr(item, "op") for item in items):
                return ""
        for old, new in (("{", r"\{"), ("}", r"\}"), ("|", r"\|"), ("<", r"\<"), (">", r"\>")):
            shown = shown.replace(old, new)
        return rf"|{title}={shown}\n"

    def _to_dot(self, module, name):
        drawn = pydot.Dot(name, rankdir="TB")
        no_attributes = self.options[0]
        kept = [node for node in module.graph.nodes if not (no_attributes and node.op == "get_attr")]
        for node in kept:
            drawn.add_node(pydot.Node(node.name, label=self._label(module, node), **self._style(node)))
        for node in kept:
            for user in node.users:
                drawn.add_edge(pydot.Edge(node.name, user.name))
        return drawn
