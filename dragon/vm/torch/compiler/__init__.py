"""`torch.compiler`: what is asked of, and told to, captures of graphs."""
from dragon.core.capture.settings import is_exporting  # noqa: F401
from dragon.vm.torch.core.compiled import (compile, disable, is_compiling, is_dynamo_compiling,  # noqa: F401
                                           reset, set_stance)
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.tensor import Tensor

BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")


def allow_in_graph(fn):
    """Return the function: everything is allowed."""
    return fn


assume_constant_result = nested_compile_region = allow_in_graph


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    """Return a decorator that hands a function back: what runs is captured, so nothing needs another in its place."""
    if not callable(original_fn):
        raise TypeError(f"substitute_in_graph: got {type(original_fn).__name__}, expected a function")
    return allow_in_graph


def cudagraph_mark_step_begin():
    """Do nothing: results of a graph are memory of their own."""


def list_backends(exclude_tags=("debug", "experimental")):
    """Return the names that `backend=` takes; all of them mean the engine."""
    return list(BACKENDS)


def wrap_numpy(fn):
    """Return a function of tensors from one of NumPy arrays."""
    def wrapped(*args, **kwargs):
        from dragon.vm.torch.utils._pytree import tree_map, tree_map_only
        args, kwargs = tree_map_only(Tensor, lambda tensor: tensor.numpy(), (args, kwargs))
        return tree_map(lambda value: as_tensor(value) if hasattr(value, "__array_interface__") else value,
                        fn(*args, **kwargs))
    return wrapped
