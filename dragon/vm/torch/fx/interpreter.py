"""`torch.fx.Interpreter` and `Transformer`: run a graph node by node, and make another of it on the way."""
import inspect

from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.graphs.tracer import Tracer
from dragon.vm.torch.fx import traceback as fx_traceback
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import map_aggregate, map_arg
from dragon.vm.torch.fx.proxy import Proxy


class Interpreter:
    """Run a graph node by node; derived classes change what a node does.

    Parameters
    ----------
    module : Module
        The module whose graph it is, and where modules and attributes are found.
    garbage_collect_values : bool, optional, default=True
        Forget values after their last use.
    graph : Graph, optional
        Another graph than the module's.

    Examples
    --------
    >>> class Loud(torch.fx.Interpreter):
    ...     def call_function(self, target, args, kwargs):
    ...         print(target.__name__)
    ...         return super().call_function(target, args, kwargs)
    >>> Loud(torch.fx.symbolic_trace(lambda x: torch.neg(x) * 2)).run(torch.tensor(1.0))
    neg
    mul
    tensor(-2.)

    """

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses = {}
        if garbage_collect_values:
            seen = {}
            for node in reversed(self.graph.nodes):
                for used in node.all_input_nodes:
                    if used not in seen:
                        seen[used] = node
                        self.user_to_last_uses.setdefault(node, []).append(used)

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """Run the graph.

        Parameters
        ----------
        args : Any
            The arguments, by place.
        initial_env : Dict[Node, Any], optional
            Values that are known; their nodes are not run.
        enable_io_processing : bool, optional, default=True
            Take nested arguments apart, and nest results again, as the graph's code does.

        Returns
        -------
        Any
            What the graph returns.

        """
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    self._tell(error, node)
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            if self.garbage_collect_values:
                for gone in self.user_to_last_uses.get(node, ()):
                    self.env.pop(gone, None)
            if node.op == "output":
                value = self.env[node]
                return self.graph.process_outputs(value) if enable_io_processing else value
        return None

    @staticmethod
    def _tell(error, node):
        """Add to an error which node was run."""
        words = f"While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}"
        first = f"{error.args[0]}\n\n{words}" if error.args else words
        error.args = (first, *error.args[1:])

    def boxed_run(self, args_list):
        """Run the graph with a list of arguments, which is emptied, so that nobody else keeps them."""
        inputs = [node for node in self.graph.nodes if node.op == "placeholder"]
        known = dict(zip(inputs, args_list))
        args_list.clear()
        return self.run(initial_env=known)

    @contextmanager
    def _set_current_node(self, node):
        with fx_traceback.set_current_meta(node, f"{type(self).__name__}"):
            yield

    def run_node(self, n):
        """Return the value of a node."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    # --- what each kind of node does

    def placeholder(self, target, args, kwargs):
        """Return the next argument, or the default; all that are left where the name begins with `*`."""
        if target.startswith("*"):
            return list(self.args_iter)
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

    def get_attr(self, target, args, kwargs):
        """Return an attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """Call a function."""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """Call a method of the first argument."""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        """Call a module."""
        found = self.submodules.get(target)
        return (self.fetch_attr(target) if found is None else found)(*args, **kwargs)

    def output(self, target, args, kwargs):
        """Return what the graph returns."""
        return args[0]

    def fetch_attr(self, target):
        """Return an attribute of the module by its dotted name."""
        words, found = target.split("."), self.module
        for place, word in enumerate(words):
            if not hasattr(found, word):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(words[:place + 1])}")
            found = getattr(found, word)
        return found

    def fetch_args_kwargs_from_env(self, n):
        """Return the values of a node's arguments."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """Return arguments with values in place of nodes."""
        def value_of(used):
            if used not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such "
                                   "issues")
            return self.env[used]
        return map_arg(args, value_of)


class Transformer(Interpreter):
    """Make a module of another graph: run a graph with stand-ins, so that what is done becomes nodes.

    Parameters
    ----------
    module : GraphModule
        The module.

    """

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)

        class TransformerTracer(Tracer):
            """Add to the new graph; all modules are leaves."""

            def __init__(self, graph):
                super().__init__()
                self.graph = graph
                self.tensor_attrs = {}
                self.root = module

            def is_leaf_module(self, _, __):
                """Return True."""
                return True
        self.tracer = TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target, args, kwargs):
        """Add an input."""
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target, args, kwargs):
        """Add a node that reads an attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        """Add a call of a module, as far as it is a leaf."""
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target, args, kwargs):
        """Add a call of a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        """Return the module of the graph that was made."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            def bare(value):
                return value.node if isinstance(value, Proxy) else value
            made = self.new_graph.output(map_aggregate(result, bare))
            old = self.graph.output_node()
            made.type, made.meta = old.type, dict(old.meta)
        return GraphModule(self.module, self.new_graph)
