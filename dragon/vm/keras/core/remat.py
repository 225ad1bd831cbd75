"""Rematerialisation: results that are computed again for the gradient, rather than kept."""
import collections
import functools
import math

from dragon.vm.keras.core import global_state, tree

RematMode = collections.namedtuple("RematMode", ["mode", "output_size_threshold", "layer_names"])
MODES = ("full", "activations", "larger_than", "list_of_layers", None)


class RematScope:
    """Have layers made within compute their results again for the gradient.

    Parameters
    ----------
    mode : str, optional, default="full"
        "full", "activations", "larger_than", "list_of_layers", or None for nothing.
    output_size_threshold : int, optional, default=1024
        The elements above which "larger_than" does so.
    layer_names : Sequence[str], optional
        The layers that "list_of_layers" means.

    """

    def __init__(self, mode="full", output_size_threshold=1024, layer_names=None):
        if mode not in MODES:
            raise ValueError(f"Invalid mode '{mode}'. Supported modes are: {list(MODES)}. Received: mode={mode}")
        self.mode, self.output_size_threshold = mode, output_size_threshold
        self.layer_names = layer_names or []

    def __enter__(self):
        stack = global_state.get_global_attribute("remat_scopes")
        if stack is None:
            stack = []
            global_state.set_global_attribute("remat_scopes", stack)
        stack.append(self)
        return self

    def __exit__(self, *_):
        global_state.get_global_attribute("remat_scopes").pop()


def current_remat_mode():
    """Return what the innermost RematScope asks for, or None."""
    stack = global_state.get_global_attribute("remat_scopes")
    if not stack:
        return None
    scope = stack[-1]
    return RematMode(scope.mode, scope.output_size_threshold, scope.layer_names)


def remat(f):
    """Return a function whose results are computed again for the gradient."""
    from dragon.vm.shared.recording.gradient import recompute_grad
    return recompute_grad(f)


def rematerialize(operation, call, args, kwargs):
    """Return the call of an operation, wrapped as the scope asks that the operation was made in."""
    asked = operation._remat_mode
    if asked is None or asked.mode is None:
        return call
    if asked.mode == "full":
        return remat(call)
    if asked.mode == "list_of_layers":
        return remat(call) if operation.name in asked.layer_names else call
    if asked.mode == "larger_than":
        return remat(call) if _output_size(operation, args, kwargs) > asked.output_size_threshold else call
    activation = getattr(operation, "activation", None)
    if activation is None:
        return call

    @functools.wraps(call)
    def with_activation(*args, **kwargs):
        operation.activation = remat(activation)
        try:
            return call(*args, **kwargs)
        finally:
            operation.activation = activation
    return with_activation


def _output_size(operation, args, kwargs):
    spec = operation.compute_output_spec(*args, **kwargs)
    return sum(math.prod(size or 1 for size in x.shape) for x in tree.flatten(spec) if hasattr(x, "shape"))
