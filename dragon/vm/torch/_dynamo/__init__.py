"""The names that libraries ask PyTorch's tracer of Python code for; here calls are captured at the engine's door."""
from dragon.core.capture.procedure import OPEN_AXES
from dragon.vm.torch._dynamo import config, eval_frame
from dragon.vm.torch._dynamo.eval_frame import OptimizedModule, is_dynamo_supported
from dragon.vm.torch.compiler import (allow_in_graph, assume_constant_result, disable, is_compiling, list_backends,
                                      reset, set_stance, substitute_in_graph)
from dragon.vm.torch.core.compiled import compile as _compile, explain, graph_break
from dragon.vm.torch.core.tensor import Tensor


def _axes_of(who, t, index):
    """Return the axes that are named, counted from the front."""
    if not isinstance(t, Tensor):
        raise TypeError(f"{who}: got {type(t).__name__}, expected a tensor")
    axes = index if isinstance(index, (list, tuple, set, frozenset)) else () if index is None else (index,)
    for axis in axes:
        if not isinstance(axis, int) or isinstance(axis, bool):
            raise TypeError(f"{who}: got {axis!r} for a dim, expected an int")
        if not -t.ndim <= axis < t.ndim:
            raise IndexError(f"{who}: got dim {axis}, expected {-t.ndim} to {t.ndim - 1} for {t.ndim} axes")
    return [axis % t.ndim for axis in axes]


def _check_bound(who, name, bound):
    if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool) or bound < 0):
        raise ValueError(f"{who}: got {name}={bound!r}, expected a size or None")


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Have graphs that are captured with a tensor serve all its sizes along some axes.

    Parameters
    ----------
    t : Tensor
        An argument of calls to come.
    index : Union[int, Sequence[int]]
        The axes.
    hint_override : Any, optional
        Accepted: graphs are planned for sizes as they come.
    min, max : int, optional
        Between which sizes; beyond them there is another capture.
    specialize_on : Any, optional
        Accepted: sizes that come again get plans of their own.

    """
    _check_bound("mark_dynamic", "min", min)
    _check_bound("mark_dynamic", "max", max)
    marked = dict(getattr(t, OPEN_AXES, ()))
    marked.update((axis, (min or 0, max)) for axis in _axes_of("mark_dynamic", t, index))
    setattr(t, OPEN_AXES, marked)


def maybe_mark_dynamic(t, index):
    """Have graphs that are captured with a tensor serve all its sizes along some axes, where they can.

    Parameters
    ----------
    t : Tensor
        An argument of calls to come.
    index : Union[int, Sequence[int]]
        The axes.

    """
    axes = _axes_of("maybe_mark_dynamic", t, index)
    setattr(t, OPEN_AXES, {**{axis: (0, None) for axis in axes}, **getattr(t, OPEN_AXES, {})})


def mark_static(t, index=None):
    """Take back what `mark_dynamic` has said of some axes, or of all; a class comes back as it is.

    Parameters
    ----------
    t : Union[Tensor, type]
        An argument of calls to come.
    index : Union[int, Sequence[int]], optional
        The axes.

    """
    if isinstance(t, type):
        return t
    axes = _axes_of("mark_static", t, index)
    axes = range(t.ndim) if index is None else axes
    if hasattr(t, OPEN_AXES):
        setattr(t, OPEN_AXES, {axis: bounds for axis, bounds in getattr(t, OPEN_AXES).items() if axis not in axes})


def mark_static_address(t, guard=False):
    """Do nothing but look at the arguments: graphs read parameters and buffers where they lie."""
    _axes_of("mark_static_address", t, None)


forbid_in_graph = disallow_in_graph = nonstrict_trace = allow_in_graph


def optimize(backend="inductor", *, nopython=False, dynamic=None, disable=False, **options):
    """Return a decorator that compiles, as `torch.compile` does."""
    return _compile(backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable)


run = disable
