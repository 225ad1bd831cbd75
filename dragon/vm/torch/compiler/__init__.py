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


assume_constant_result = allow_in_graph


def nested_compile_region(fn=None, *, options=None, max_reuse_entries=8, reuse_hash_fn=None):
    """Return the function, or a decorator that does: equal parts of a capture share their programs by themselves.

    Parameters
    ----------
    fn : Callable, optional
        The function.
    options, max_reuse_entries, reuse_hash_fn
        How PyTorch's compiler would find equal parts; nothing to choose from here.

    """
    return allow_in_graph if fn is None else fn


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


_default_backend = ["inductor"]


def get_default_backend():
    """Return the backend that `compile` takes where none is named."""
    return _default_backend[0]


def set_default_backend(backend):
    """Set the backend that `compile` takes where none is named; all that have names mean the engine."""
    if backend is not None and not isinstance(backend, str):
        raise NotImplementedError(f"set_default_backend: got {backend!r}, expected a name: Dragon's graphs are not "
                                  "torch.fx's")
    _default_backend[0] = "inductor" if backend is None else backend


# Filters of guards, for `options={"guard_filter_fn": ...}`: which of them are kept.

def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries):
    """Return which guards are kept: not those on PyTorch's own modules."""
    return [not entry.orig_guard.source.is_unspecialized_builtin_nn_module() for entry in guard_entries]


def skip_guard_on_all_nn_modules_unsafe(guard_entries):
    """Return which guards are kept: not those on modules."""
    return [not entry.orig_guard.source.is_unspecialized_nn_module() for entry in guard_entries]


def skip_guard_on_globals_unsafe(guard_entries):
    """Return which guards are kept: not those on globals."""
    return [not entry.is_global for entry in guard_entries]


def skip_all_guards_unsafe(guard_entries):
    """Return which guards are kept: none."""
    return [False for _ in guard_entries]


def keep_tensor_guards_unsafe(guard_entries, keep_parameters=False):
    """Return which guards are kept: those on tensors, on parameters if they are wanted."""
    from dragon.vm.torch.nn.parameter import Parameter
    return [entry.guard_type == "TENSOR_MATCH" and (keep_parameters or not isinstance(entry.value, Parameter))
            for entry in guard_entries]


def keep_portable_guards_unsafe(guard_entries):
    """Return which guards are kept: those that hold in other processes as well."""
    return [entry.guard_type in ("GLOBAL_STATE", "SHAPE_ENV")
            or entry.guard_type == "TENSOR_MATCH" and not entry.is_global for entry in guard_entries]


_collective = [False]


def set_enable_guard_collectives(enabled):
    """Say whether processes agree on captures; return what was said before. There is one process."""
    before, _collective[0] = _collective[0], bool(enabled)
    return before


def save_cache_artifacts():
    """Return None: nothing is kept between processes, since captures take no time worth it."""


def load_cache_artifacts(serialized_artifacts):
    """Return None: there is nothing to fill."""
    if not isinstance(serialized_artifacts, bytes):
        raise TypeError(f"load_cache_artifacts: got {type(serialized_artifacts).__name__}, expected bytes")
