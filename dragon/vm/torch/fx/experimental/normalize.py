"""`torch.fx.experimental.normalize`: the arguments of calls by the signatures of what is called."""
from dragon.vm.torch.fx.interpreter import Transformer
from dragon.vm.torch.fx.node import map_aggregate
from dragon.vm.torch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module
from dragon.vm.torch.fx.proxy import Proxy


class NormalizeArgs(Transformer):
    """Give the arguments of functions and layers by name, with defaults.

    Parameters
    ----------
    module : GraphModule
        The module; `transform` returns the other.
    normalize_to_only_use_kwargs : bool, optional, default=True
        All by name; else those that come by place stay so.

    """

    def __init__(self, module, normalize_to_only_use_kwargs=True):
        super().__init__(module)
        self.node_map = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n):
        """Run a node with stand-ins, by its normal arguments."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)

        def kind(value):
            return type(value)
        types = tuple(create_type_hint(map_aggregate(value, kind)) for value in args)
        if n.op == "call_function":
            made = self.call_function(n.target, args, kwargs, types,
                                      {name: type(value) for name, value in kwargs.items()})
        else:
            made = super().run_node(n)
        if n.op != "output" and isinstance(made, Proxy):
            self.node_map[made] = n
            made.node.meta = n.meta
            made.node.type = n.type
        return made

    def call_function(self, target, args, kwargs, arg_types=None, kwarg_types=None):
        """Add a call of a function."""
        if not callable(target):
            raise AssertionError(f"NormalizeArgs.call_function: got {target!r}, expected a function")
        normal = normalize_function(target, args, kwargs, arg_types, kwarg_types, self.normalize_to_only_use_kwargs)
        args, kwargs = normal or (args, kwargs)
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        """Add a call of a module."""
        normal = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        args, kwargs = normal or (args, kwargs)
        return super().call_module(target, args, kwargs)
