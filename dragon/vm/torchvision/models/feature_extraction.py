"""`torchvision.models.feature_extraction`: what models compute on the way, by tracing them."""
import copy
import inspect
import math
import re
from collections import OrderedDict

from dragon.core import warnings
from dragon.vm.torch import fx
from dragon.vm.torch.core.graphs.attributes import _copy_attr
from dragon.vm.torch.nn.modules.module import Module


class LeafModuleAwareTracer(fx.Tracer):
    """A tracer that is told which further classes of modules are leaves.

    Parameters
    ----------
    leaf_modules : List[type], optional
        The classes.

    """

    def __init__(self, *args, **kwargs):
        self.leaf_modules = {}
        if "leaf_modules" in kwargs:
            self.leaf_modules = kwargs.pop("leaf_modules")
        super().__init__(*args, **kwargs)

    def is_leaf_module(self, m, module_qualified_name):
        """Return whether calls of a module stay calls."""
        return isinstance(m, tuple(self.leaf_modules)) or super().is_leaf_module(m, module_qualified_name)


class NodePathTracer(LeafModuleAwareTracer):
    """A tracer that names nodes by the modules in which they are: "layer1.0.relu_1".

    Parameters
    ----------
    leaf_modules : List[type], optional
        Further classes of modules that are leaves.

    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.current_module_qualname = ""
        self.node_to_qualname = OrderedDict()

    def call_module(self, m, forward, args, kwargs):
        """Answer a call of a module, and know in which one the program is."""
        before = self.current_module_qualname
        try:
            path = self.path_of_module(m)
            self.current_module_qualname = path
            if not self.is_leaf_module(m, path):
                return forward(*args, **kwargs)
            return self.create_proxy("call_module", path, args, kwargs)
        finally:
            self.current_module_qualname = before

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """Add a node, and name it by its module."""
        made = super().create_proxy(kind, target, args, kwargs, name, type_expr, proxy_factory_fn)
        self.node_to_qualname[made.node] = self._get_node_qualname(self.current_module_qualname, made.node)
        return made

    def _get_node_qualname(self, module_qualname, node):
        words = module_qualname
        if node.op != "call_module":
            words = f"{words}.{node}" if words else str(node)
            words = re.sub(r"_\d+$", "", words)
        taken = set(self.node_to_qualname.values())
        name, number = words, 0
        while name in taken:
            number += 1
            name = f"{words}_{number}"
        return name


def _is_subseq(x, y):
    """Return whether a list is in another, in order, perhaps with other things between."""
    rest = iter(x)
    return all(any(item == other for other in rest) for item in y)


def _warn_graph_differences(train_tracer, eval_tracer):
    train, evaluated = list(train_tracer.node_to_qualname.values()), list(eval_tracer.node_to_qualname.values())
    if train == evaluated:
        return
    how = ("The nodes obtained by tracing the model in eval mode are a subsequence of those obtained in train mode"
           if _is_subseq(train, evaluated) else
           "The nodes obtained by tracing the model in train mode are a subsequence of those obtained in eval mode"
           if _is_subseq(evaluated, train) else
           "The nodes obtained by tracing the model in train mode are different to those obtained in eval mode")
    warnings.warn(f"{how}: pass train_return_nodes and eval_return_nodes where a name means something in one of them "
                  "alone, or suppress_diff_warning=True")


def _get_leaf_modules_for_ops():
    from dragon.vm.torchvision import ops
    return [value for value in vars(ops).values() if inspect.isclass(value) and issubclass(value, Module)]


def _set_default_tracer_kwargs(original):
    default = {"autowrap_modules": (math, ), "leaf_modules": _get_leaf_modules_for_ops()}
    made = dict(original or {})
    return {**default, **made}


def _trace(model, tracer_kwargs, concrete_args):
    tracer = NodePathTracer(**_set_default_tracer_kwargs(tracer_kwargs))
    graph = tracer.trace(model, concrete_args=concrete_args)
    return tracer, graph


def get_graph_node_names(model, tracer_kwargs=None, suppress_diff_warning=False, concrete_args=None):
    """Return the names of a model's nodes, which `create_feature_extractor` takes.

    Parameters
    ----------
    model : Module
        The model.
    tracer_kwargs : Dict[str, Any], optional
        Arguments of the tracer, such as "leaf_modules".
    suppress_diff_warning : bool, optional, default=False
        Do not warn where training and evaluation differ.
    concrete_args : Dict[str, Any], optional
        Arguments that are no inputs.

    Returns
    -------
    Tuple[List[str], List[str]]
        The names in training and in evaluation, in order.

    """
    was_training = model.training
    train, _ = _trace(model.train(), tracer_kwargs, concrete_args)
    evaluated, _ = _trace(model.eval(), tracer_kwargs, concrete_args)
    if not suppress_diff_warning:
        _warn_graph_differences(train, evaluated)
    model.train(was_training)
    return list(train.node_to_qualname.values()), list(evaluated.node_to_qualname.values())


class DualGraphModule(fx.GraphModule):
    """A module with a graph for training and one for evaluation.

    Parameters
    ----------
    root : Module
        What the graphs call and read.
    train_graph, eval_graph : Graph
        The graphs.
    class_name : str, optional, default="GraphModule"
        What the class is called.

    """

    def __init__(self, root, train_graph, eval_graph, class_name="GraphModule"):
        for graph in (train_graph, eval_graph):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and not isinstance(node.target, str):
                    raise TypeError(f"node.target should be of type str instead of {type(node.target)}")
        first = train_graph if root.training else eval_graph
        super().__init__(root, first, class_name)
        for graph in (train_graph, eval_graph):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        self.train()
        self.train_graph, self.eval_graph = train_graph, eval_graph
        self._tracer_cls = None
        if train_graph._tracer_cls is not eval_graph._tracer_cls:
            raise TypeError(f"Train mode and eval mode should use the same tracer class. Instead got "
                            f"{train_graph._tracer_cls} for train vs {eval_graph._tracer_cls} for eval")
        if train_graph._tracer_cls and "<locals>" not in train_graph._tracer_cls.__qualname__:
            self._tracer_cls = train_graph._tracer_cls
        self.train(root.training)

    def train(self, mode=True):
        """Take the graph for training, or that for evaluation."""
        if "train_graph" in self.__dict__:
            wanted = self.train_graph if mode else self.eval_graph
            if self.graph is not wanted:
                self.graph = wanted
        return super().train(mode)

    def _deepcopy_init(self):
        return DualGraphModule.__init__

    def __deepcopy__(self, memo):
        parts = Module()
        parts.__dict__.update(copy.deepcopy({key: value for key, value in self.__dict__.items()
                                             if key not in ("_graph", "train_graph", "eval_graph")}, memo))
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        DualGraphModule.__init__(made, parts, copy.deepcopy(self.train_graph, memo),
                                 copy.deepcopy(self.eval_graph, memo), type(self).__name__)
        return made


def _to_strdict(nodes):
    return dict(nodes) if isinstance(nodes, dict) else {name: name for name in nodes}


def create_feature_extractor(model, return_nodes=None, train_return_nodes=None, eval_return_nodes=None,
                             tracer_kwargs=None, suppress_diff_warning=False, concrete_args=None):
    """Return a module that returns what a model computes on the way.

    Parameters
    ----------
    model : Module
        The model.
    return_nodes : Union[List[str], Dict[str, str]], optional
        Names of nodes as `get_graph_node_names` tells them, or how they begin, up to a point: then the last of those is
        meant. In a dictionary, each has the name that it gets in what is returned.
    train_return_nodes, eval_return_nodes : Union[List[str], Dict[str, str]], optional
        Both in place of `return_nodes`, where training and evaluation differ.
    tracer_kwargs : Dict[str, Any], optional
        Arguments of the tracer, such as "leaf_modules".
    suppress_diff_warning : bool, optional, default=False
        Do not warn where training and evaluation differ.
    concrete_args : Dict[str, Any], optional
        Arguments that are no inputs.

    Returns
    -------
    GraphModule
        The module; what it returns is a dictionary.

    Examples
    --------
    >>> import torch, torchvision
    >>> model = torchvision.models.resnet18()
    >>> wanted = {"layer1": "low", "layer3": "high"}
    >>> body = torchvision.models.feature_extraction.create_feature_extractor(model, wanted)
    >>> {name: tuple(x.shape) for name, x in body(torch.zeros(1, 3, 64, 64)).items()}
    {'low': (1, 64, 16, 16), 'high': (1, 256, 4, 4)}

    """
    if all(nodes is None for nodes in (return_nodes, train_return_nodes, eval_return_nodes)):
        raise ValueError("Either `return_nodes` or `train_return_nodes` and `eval_return_nodes` together, should be "
                         "specified")
    if (train_return_nodes is None) != (eval_return_nodes is None):
        raise ValueError("If any of `train_return_nodes` and `eval_return_nodes` are specified, then both should be "
                         "specified")
    if return_nodes is not None and train_return_nodes is not None:
        raise ValueError("If `train_return_nodes` and `eval_return_nodes` are specified, then both should be specified "
                         "without `return_nodes`")
    wanted = {"train": _to_strdict(return_nodes if train_return_nodes is None else train_return_nodes),
              "eval": _to_strdict(return_nodes if eval_return_nodes is None else eval_return_nodes)}
    was_training = model.training
    tracers, graphs = {}, {}
    for mode in ("train", "eval"):
        model.train(mode == "train")
        tracers[mode], graphs[mode] = _trace(model, tracer_kwargs, concrete_args)
        _return_nodes(graphs[mode], tracers[mode], wanted[mode])
    if not suppress_diff_warning:
        _warn_graph_differences(tracers["train"], tracers["eval"])
    model.train(was_training)
    return DualGraphModule(model, graphs["train"], graphs["eval"], class_name=type(model).__name__)


def _return_nodes(graph, tracer, wanted):
    """Have a graph return certain nodes alone."""
    names = list(tracer.node_to_qualname.values())
    for query in wanted:
        if not any(re.match(rf"^{re.escape(query)}(\.|$)", name) for name in names):
            raise ValueError(f"node: '{query}' is not present in model. Hint: use `get_graph_node_names` to make sure "
                             f"the `return_nodes` you specified are present. It may even be that you need to specify "
                             "`train_return_nodes` and `eval_return_nodes` separately.")
    old = graph.output_node()
    if not old.args:
        raise RuntimeError("No output nodes found!")
    left, found = dict(wanted), OrderedDict()
    for node in reversed(graph.nodes):
        name = tracer.node_to_qualname.get(node)
        if name is None or node.op in ("output", "placeholder"):
            continue
        for query in list(left):
            if re.match(rf"^{re.escape(query)}(\.|$)", name):
                found[left.pop(query)] = node
                break
    graph.erase_node(old)
    graph.output({name: node for name, node in reversed(found.items())})
    graph.owning_module = None
    _eliminate(graph)


def _eliminate(graph):
    """Erase nodes whose values nobody uses."""
    for node in reversed(graph.nodes):
        if node.op not in ("placeholder", "output") and not node.users and not (
                node.op == "call_function" and node.is_impure()):
            graph.erase_node(node)
