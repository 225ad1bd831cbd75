"""`torch.compiler`: what is asked of, and told to, captures of graphs."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.torch.core.compiled import compile, disable, is_compiling, reset, set_stance
from dragon.vm.torch.core.missing import module_getattr

BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")


def allow_in_graph(fn):
    """Return the function: everything is allowed."""
    return fn


assume_constant_result = substitute_in_graph = allow_in_graph
is_dynamo_compiling = is_compiling


def is_exporting():
    """Return whether a call is captured to be exported."""
    return is_capturing() and not is_compiling()


def cudagraph_mark_step_begin():
    """Do nothing: results of a graph are memory of their own."""


def list_backends(exclude_tags=("debug", "experimental")):
    """Return the names that `backend=` takes; all of them mean the engine."""
    return list(BACKENDS)


def wrap_numpy(fn):
    """Return a function of tensors from one of NumPy arrays."""
    def wrapped(*args, **kwargs):
        from dragon.vm.torch import Tensor, as_tensor
        from dragon.vm.torch.utils._pytree import tree_map, tree_map_only
        args, kwargs = tree_map_only(Tensor, lambda tensor: tensor.numpy(), (args, kwargs))
        return tree_map(lambda value: as_tensor(value) if hasattr(value, "__array_interface__") else value,
                        fn(*args, **kwargs))
    return wrapped


__getattr__ = module_getattr("torch.compiler", globals())
