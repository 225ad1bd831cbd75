"""The names that libraries ask PyTorch's tracer of Python code for; here calls are captured at the engine's door."""
from dragon.vm.torch._dynamo import config, eval_frame
from dragon.vm.torch._dynamo.eval_frame import OptimizedModule, is_dynamo_supported
from dragon.vm.torch.compiler import (allow_in_graph, assume_constant_result, disable, is_compiling, list_backends,
                                      reset, set_stance, substitute_in_graph)
from dragon.vm.torch.core.compiled import compile as _compile, explain, graph_break
from dragon.vm.torch.core.tensor import Tensor


def _check_mark(who, t, index):
    if not isinstance(t, Tensor):
        raise TypeError(f"{who}: got {type(t).__name__}, expected a tensor")
    for axis in index if isinstance(index, (list, tuple)) else () if index is None else (index,):
        if not isinstance(axis, int) or isinstance(axis, bool):
            raise TypeError(f"{who}: got {axis!r} for a dim, expected an int")


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Do nothing but look at the arguments: which sizes vary, and how far, is found out from calls."""
    _check_mark("mark_dynamic", t, index)


def maybe_mark_dynamic(t, index):
    """Do nothing but look at the arguments: which sizes vary is found out from calls."""
    _check_mark("maybe_mark_dynamic", t, index)


def mark_static(t, index=None):
    """Do nothing but look at the arguments: sizes that do not vary are taken as they are. A class comes back."""
    if isinstance(t, type):
        return t
    _check_mark("mark_static", t, index)


def mark_static_address(t, guard=False):
    """Do nothing but look at the arguments: graphs read parameters and buffers where they lie."""
    _check_mark("mark_static_address", t, None)


forbid_in_graph = disallow_in_graph = nonstrict_trace = allow_in_graph


def optimize(backend="inductor", *, nopython=False, dynamic=None, disable=False, **options):
    """Return a decorator that compiles, as `torch.compile` does."""
    return _compile(backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable)


run = disable
