"""`torch.fx.symbolic_trace`, what its programs may ask of tracing, and what others build tracers of."""
import functools  # noqa: F401: found here by tracers of others, as the next three are
from types import FunctionType  # noqa: F401

from dragon.core.scopes import contextmanager
from dragon.vm.torch._C import ScriptObject  # noqa: F401
from dragon.vm.torch.core.graphs import patches as _patches
from dragon.vm.torch.core.graphs.patches import (Patcher, noting as _create_wrapped_func,  # noqa: F401
                                                 stand_in_of as _find_proxy, wrap)
from dragon.vm.torch.core.graphs.tracer import (PH, PHBase, PHWithMeta, Tracer, _assert_is_none, is_fx_tracing)
from dragon.vm.torch.fx._compatibility import compatibility  # noqa: F401
from dragon.vm.torch.fx.graph import Graph  # noqa: F401
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.fx.node import Argument, Node  # noqa: F401
from dragon.vm.torch.fx.proxy import ParameterProxy, Proxy, TracerBase  # noqa: F401
from dragon.vm.torch.nn.modules.module import Module

_wrapped_fns_to_patch, _wrapped_methods_to_patch = _patches.MARKED_FUNCTIONS, _patches.MARKED_METHODS
_proxyable_classes = _patches.PROXYABLE
is_fx_symbolic_tracing = is_fx_tracing
_orig_module_call, _orig_module_getattr = Module.__call__, Module.__getattr__


class _Patcher(Patcher):
    """Put other things into places for the time of a `with` block, by the names that tracers of others call."""

    def patch(self, frame_dict, name, new_fn, deduplicate=True):
        """Set an item of a namespace, once alone where so told."""
        self.set_item(frame_dict, name, new_fn, deduplicate)

    def patch_method(self, cls, name, new_fn, deduplicate=True):
        """Set a method of a class, once alone where so told."""
        self.set(cls, name, new_fn, deduplicate)

    def visit_once(self, thing):
        """Return whether a namespace comes for the first time."""
        is_new = id(thing) not in self.seen
        self.seen.add(id(thing))
        return is_new


def _patch_wrapped_functions(patcher):
    patcher.wrap_marked()


def _autowrap_check(patcher, frame_dict, function_ids):
    patcher.wrap_globals(frame_dict, function_ids)


class ProxyableClassMeta(type):
    """The class of classes whose instances are made by nodes where a stand-in is among the arguments."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls)
        if not is_fx_tracing():
            cls.__init__(made, *args, **kwargs)
            return made
        proxy = _patches.stand_in_of(args, kwargs)
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        cls.__init__(made, *args, **kwargs)
        return made


@contextmanager
def _new_patcher():
    with _Patcher() as patcher:
        yield patcher


def symbolic_trace(root, concrete_args=None):
    """Run a function or module with stand-ins for its arguments, and return a module of what it does.

    Parameters
    ----------
    root : Union[Module, Callable]
        What to trace; code that branches on values cannot be.
    concrete_args : Dict[str, Any], optional
        Arguments that are no inputs but have these values, so that code may branch on them; `PH` stands within nested
        ones for what stays an input.

    Returns
    -------
    GraphModule
        The module.

    Examples
    --------
    >>> def scale(x, twice=False):
    ...     return x * 2 if twice else x
    >>> module = torch.fx.symbolic_trace(scale, concrete_args={"twice": True})
    >>> module(torch.tensor([1.0, 2.0]), True)
    tensor([2., 4.])

    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
