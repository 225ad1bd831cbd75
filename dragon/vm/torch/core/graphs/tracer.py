"""`torch.fx.Tracer`: runs a function with stand-ins for its arguments, and keeps what it does as a graph."""
import collections
import copy
import functools
import inspect
import math
import types

from dragon.core import warnings
from dragon.core.thread_state import ThreadFlag
from dragon.vm.torch.core.graphs.patches import PROXYABLE, Patcher, carried
from dragon.vm.torch.core.graphs.structured import _PyTreeCodeGen, _PyTreeInfo
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.proxy import ParameterProxy, Scope, ScopeContextManager, TracerBase
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.utils import _pytree as pytree

ROOT = __name__.rpartition(".core.graphs.")[0]
VARIADIC = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS
_tracing = ThreadFlag()


class PHBase:
    """Stands in `concrete_args` for what stays an input."""

    def __repr__(self):
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """An input that has remarks.

    Parameters
    ----------
    ph_key : str, optional
        Its key.

    """

    def __init__(self, ph_key=None):
        super().__init__()
        self.ph_key = ph_key

    def transfer_attrs(self, to):
        """Give the remarks to a stand-in's node."""
        for name, value in vars(self).items():
            if not hasattr(to, name):
                setattr(to, name, value)


def is_fx_tracing():
    """Return whether a tracer is running a program."""
    return _tracing.on


def _assert_is_none(value, msg):
    if value is not None:
        raise AssertionError(msg)


class Tracer(TracerBase):
    """Trace functions and modules; what is traced and what stays a call is for derived classes to say.

    Parameters
    ----------
    autowrap_modules : Tuple[module, ...], optional
        Modules of Python whose functions stay calls.
    autowrap_functions : Tuple[Callable, ...], optional
        Functions that stay calls, wherever code finds them.
    param_shapes_constant : bool, optional, default=False
        Code may branch on shapes of parameters, which are not noted down.

    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self._autowrap_function_ids = {
            id(value) for module in autowrap_modules for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)} | {id(function) for function in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls = {}
        self.node_name_to_scope = {}
        self._qualname_counter = collections.defaultdict(int)
        self.tensor_attrs = {}

    def get_fresh_qualname(self, prefix):
        """Return a name that the module has not, made of a prefix and a number."""
        place = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{place}"):
            place += 1
        self._qualname_counter[prefix] = place + 1
        return f"{prefix}{place}"

    def create_arg(self, a):
        """Return a value as an argument that nodes can hold; parameters, tensors and modules become attributes.

        Parameters
        ----------
        a : Any
            The value.

        Returns
        -------
        Argument
            The argument.

        """
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if parameter is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if buffer is a:
                    return self.create_node("get_attr", name, (), {})
            return self._attribute(a, "_tensor_constant")
        if isinstance(a, Module):
            for name, module in self.root.named_modules():
                if module is a:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(item) for item in a), {})
        if type(a) in PROXYABLE:
            return self._attribute(a, f"_{type(a).__name__}_constant_")
        return super().create_arg(a)

    def _attribute(self, value, prefix):
        name = self.tensor_attrs.get(value)
        if name is None:
            name = self.get_fresh_qualname(prefix)
            self.tensor_attrs[value] = name
            setattr(self.root, name, value)
        return self.create_node("get_attr", name, (), {})

    def is_leaf_module(self, m, module_qualified_name):
        """Return whether calls of a module stay calls: those of `torch.nn` do, but for `Sequential`.

        Parameters
        ----------
        m : Module
            The module.
        module_qualified_name : str
            Its dotted name.

        Returns
        -------
        bool
            Whether it is not looked into.

        """
        place = type(m).__module__
        is_layer = place.startswith((f"{ROOT}.nn", f"{ROOT}.ao.nn"))
        return is_layer and not type(m).__name__ == "Sequential"

    def path_of_module(self, mod):
        """Return the dotted name of a module within the one that is traced."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """Answer a call of a module: by a node where it is a leaf, else by what it does.

        Parameters
        ----------
        m : Module
            The module.
        forward : Callable
            Does what it does.
        args : Tuple[Any, ...]
            The positional arguments.
        kwargs : Dict[str, Any]
            The arguments by name.

        Returns
        -------
        Any
            The value: a stand-in where a node was made.

        """
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            count = self.num_calls.get(path, 0)
            key = f"{path}@{count}" if count else path
            self.module_stack[key] = scope.module_path, scope.module_type
            self.num_calls[path] = count + 1
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """Answer a module's attribute: parameters, and buffers if so asked, by stand-ins.

        Parameters
        ----------
        attr : str
            Its name.
        attr_val : Any
            Its value.
        parameter_proxy_cache : Dict[str, Proxy]
            The stand-ins that there are.

        Returns
        -------
        Any
            The value, or a stand-in.

        """
        def stand_in(named, make):
            for name, value in named:
                if value is attr_val:
                    if name not in parameter_proxy_cache:
                        parameter_proxy_cache[name] = make(name)
                    return parameter_proxy_cache[name]
            return None

        def parameter(name):
            def factory(node):
                return ParameterProxy(self, node, name, attr_val)
            return self.create_proxy("get_attr", name, (), {},
                                     proxy_factory_fn=factory if self.param_shapes_constant else None)
        found = None
        if isinstance(attr_val, Parameter):
            found = stand_in(self.root.named_parameters(), parameter)
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            found = stand_in(self.root.named_buffers(), parameter)
        return attr_val if found is None else found

    # --- inputs

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """Make the inputs of the graph from a function's signature.

        Parameters
        ----------
        root_fn : Callable
            The function.
        is_module : bool
            Whether its first argument is the module.
        concrete_args : Union[Dict[str, Any], Tuple[Any, ...]], optional
            Arguments that are no inputs, with `PH` where they are within.

        Returns
        -------
        Tuple[Callable, List[Any]]
            The function to call, and what to call it with.

        """
        original = inspect.unwrap(root_fn)
        code = original.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        signature = inspect.signature(original)
        place, args = 0, []
        if is_module:
            if count == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            place, args = 1, [self.root]
        if isinstance(concrete_args, tuple):
            if len(names[place:count]) != len(concrete_args):
                raise RuntimeError(f"Tracing expected {count - place} arguments but got {len(concrete_args)} concrete "
                                   "arguments")
            concrete_args = dict(zip(names[place:count], concrete_args))
        args.extend(self._proxy_placeholder(name, concrete_args, signature, root_fn) for name in names[place:count])
        rest = {}
        for flag, mark in zip(VARIADIC, ("*", "**")):
            if code.co_flags & flag:
                rest[mark] = self.create_proxy("placeholder", mark + names[count], (), {})
                count += 1
        if rest:
            root_fn = carried(original, len(args), code.co_kwonlyargcount, list(rest))
            args.extend(rest.values())
        return self._structured(root_fn, args, is_module, concrete_args, code)

    def _structured(self, function, args, is_module, concrete_args, code):
        """Return the function and its arguments as leaves, where some of them are nested."""
        if concrete_args is None and not any(
                isinstance(item, (list, tuple, dict)) for item in args[int(is_module):]):
            return function, args
        leaves, in_spec = pytree.tree_flatten(tuple(args))
        if not any(not spec.is_leaf() for spec in in_spec.children()):
            return function, args
        names = list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])
        self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names[:code.co_argcount], in_spec, None))
        self._nested = True

        def flat(*values):
            result = function(*pytree.tree_unflatten(list(values), in_spec))
            items, out_spec = pytree.tree_flatten(result)
            info = self.graph._codegen.pytree_info
            self.graph._codegen.pytree_info = info._replace(out_spec=out_spec)
            return items
        return flat, leaves

    def _proxy_placeholder(self, name, concrete_args, sig, fn_for_analysis):
        if concrete_args is not None and name in concrete_args:
            return self._concrete(name, concrete_args[name], sig)
        if name[0] == "*":
            default = ()
        else:
            parameter = sig.parameters[name]
            default = () if parameter.default is inspect.Parameter.empty else (parameter.default,)
        kinds = getattr(fn_for_analysis, "__annotations__", {})
        return self.create_proxy("placeholder", name, default, {}, type_expr=kinds.get(name))

    def _concrete(self, name, value, sig):
        count = [0]

        def replace(leaf):
            count[0] += 1
            if isinstance(leaf, PHBase):
                made = self.create_proxy("placeholder", f"{name}_{count[0]}", (), {})
                if isinstance(leaf, PHWithMeta):
                    leaf.transfer_attrs(made.node)
                return made
            default = sig.parameters[name].default
            stand_in = self.create_proxy("placeholder", f"{name}_{count[0]}",
                                         () if default is inspect.Parameter.empty else (default,), {})
            message = f"{name} has been specialized to have value {leaf} but got another value"
            if leaf is None:
                self.create_proxy("call_function", _assert_is_none, (stand_in, message), {})
            elif isinstance(leaf, (bool, int, float, str)):
                FUNCTIONS["_assert"](stand_in == leaf, message)
            elif type(leaf) is not type(self):
                _warn_of_specialized(name, leaf)
            return leaf
        return pytree.tree_map(replace, value)

    # --- the trace

    def trace(self, root, concrete_args=None):
        """Run a function or module with stand-ins, and return what it does as a graph.

        Parameters
        ----------
        root : Union[Module, Callable]
            What to trace.
        concrete_args : Dict[str, Any], optional
            Arguments that are no inputs.

        Returns
        -------
        Graph
            The graph.

        """
        try:
            with _tracing.set():
                function = self._begin(root)
                cache = {}
                with Patcher() as patcher:
                    self._patch(patcher, function, cache)
                    function, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
                    patcher.settle()
                    returned = function(*args)
                    kind = getattr(function, "__annotations__", {}).get("return", None)
                    self.create_node("output", "output", (self.create_arg(returned),), {}, type_expr=kind)
            self.submodule_paths = None
            return self.graph
        except RuntimeError as error:
            if isinstance(error.args[0] if error.args else None, str) and "data-dependent" in error.args[0]:
                self.graph.lint()
            raise

    def _begin(self, root):
        if isinstance(root, Module):
            self.root = root
            name = self.traced_func_name
            if not hasattr(type(root), name):
                raise AssertionError(f"traced_func_name={name} doesn't exist in {type(root).__name__}")
            function = getattr(type(root), name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: path for path, module in root.named_modules()}
        else:
            self.root, function = Module(), root
        extras = getattr(self, "_extras", {})
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None), tracer_extras=extras)
        if hasattr(function, "__code__"):
            code = function.__code__
            self.graph._co_fields = {"co_name": code.co_name, "co_filename": code.co_filename,
                                     "co_firstlineno": code.co_firstlineno}
        self.tensor_attrs = {}

        def collect(module, prefix):
            for name, value in vars(module).items():
                if isinstance(value, Tensor):
                    self.tensor_attrs[value] = ".".join([*prefix, name])
            for name, child in module.named_children():
                collect(child, [*prefix, name])
        collect(self.root, [])
        target = inspect.unwrap(function)
        if not isinstance(target, types.FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(function)}")
        return function

    def _patch(self, patcher, function, cache):
        tracer, read, called = self, Module.__getattr__, Module.__call__

        @functools.wraps(read)
        def read_attribute(mod, name):
            return tracer.getattr(name, read(mod, name), cache)

        @functools.wraps(called)
        def call(mod, *args, **kwargs):
            def forward(*args, **kwargs):
                return called(mod, *args, **kwargs)
            patcher.wrap_globals(getattr(getattr(mod, "forward", mod), "__globals__", {}),
                                 tracer._autowrap_function_ids)
            return tracer.call_module(mod, forward, args, kwargs)
        patcher.set(Module, "__getattr__", read_attribute)
        patcher.set(Module, "__call__", call)
        patcher.wrap_marked()
        patcher.wrap_globals(inspect.unwrap(function).__globals__, self._autowrap_function_ids)
        for module in self._autowrap_search:
            patcher.wrap_globals(vars(module), self._autowrap_function_ids)

    def __deepcopy__(self, memo):
        copied = type(self).__new__(type(self))
        for name, value in vars(self).items():
            copied.__dict__[name] = value if name == "_autowrap_search" else copy.deepcopy(value, memo)
        return copied


def _warn_of_specialized(name, value):
    warnings.warn(f"torch.fx: the argument {name} stays {type(value).__name__} {value!r}: that calls give the same is "
                  "checked of None, bools, numbers and strs alone")


for _thing in (PHBase, PHWithMeta, Tracer, _assert_is_none, is_fx_tracing):
    _thing.__module__ = f"{ROOT}.fx._symbolic_trace"  # where users know them from, and pickles look for them
