"""`torch.compiler`: compiled code is the Python code, run by the engine as it stands."""
import contextlib

from dragon.vm.torch.core.compiled import compile
from dragon.vm.torch.core.missing import module_getattr

BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")


def allow_in_graph(fn):
    """Return the function: everything is allowed."""
    return fn


assume_constant_result = allow_in_graph


def disable(fn=None, recursive=True, *, reason=None):
    """Return the function: nothing is compiled."""
    return fn if fn is not None else lambda function: function


def is_compiling():
    """Return False."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset():
    """Do nothing: nothing is kept."""


def cudagraph_mark_step_begin():
    """Do nothing: there are no CUDA graphs."""


def list_backends(exclude_tags=("debug", "experimental")):
    """Return the names that `backend=` takes; all of them mean the engine."""
    return list(BACKENDS)


@contextlib.contextmanager
def _stance():
    yield


def set_stance(stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
    """Do nothing, also as a context: every stance runs the Python code."""
    if stance not in ("default", "force_eager", "eager_on_recompile", "fail_on_recompile",
                      "eager_then_compile", "aot_eager_then_compile"):
        raise RuntimeError(f"set_stance: got {stance!r}, expected 'default' or 'force_eager'")
    return _stance()


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
