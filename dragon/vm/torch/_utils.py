"""Names that files and libraries call: functions that make tensors anew, errors of workers, indices."""
import importlib
from collections import defaultdict

from dragon import _C
from dragon.vm.guest import lookup
from dragon.vm.torch.core.compiled import is_compiling  # noqa: F401: PyTorch has it here
from dragon.vm.torch.core.device import as_device, device as device_class, device_count
from dragon.vm.torch.core.state import _get_obj_state, _set_obj_state  # noqa: F401: PyTorch has them here
from dragon.vm.torch.core.tensor import Tensor, ops

__getattr__, __dir__ = lookup(globals(), {
    "nn.parameter": "_rebuild_parameter _rebuild_parameter_with_state",
    "core.failures": "ExceptionWrapper KeyErrorMessage", "core.sparse.rebuilding": "_rebuild_sparse_tensor",
    "core.nested.rebuilding": "_rebuild_nested_tensor", "core.quantized.rebuilding": "_rebuild_qtensor"})


def _as_class(tensor, cls):
    """Return a tensor over the same memory as an instance of a subclass."""
    if cls is Tensor:
        return tensor
    made = _C.Tensor.__new__(cls, tensor.detach())
    made.requires_grad = tensor.requires_grad
    return made


def _rebuild_tensor(storage, storage_offset, size, stride):
    """Return a tensor on a storage."""
    from dragon.vm.torch.storage import window
    return window(storage._untyped_storage._memory, storage.dtype, storage_offset, size, stride)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """Return a tensor on a storage, with what autograd is to know of it."""
    made = _rebuild_tensor(storage, storage_offset, size, stride)
    if metadata:
        if made.numel() > max(storage.size(), 1):
            raise ValueError(f"load: got a view of {made.numel()} elements of {storage.size()}, to be computed; "
                             "expected no more elements than there are")
        made = _resolved(made, metadata)
    if requires_grad:
        made.requires_grad = True
    return made


def _resolved(tensor, metadata):
    """Return what PyTorch means by memory that it reads conjugated or negated: Dragon computes it at once."""
    if metadata.get("conj"):
        tensor = ops.conj(tensor)
    return ops.neg(tensor) if metadata.get("neg") else tensor


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """Return a tensor on a storage of bytes, in a dtype that has no class of storage."""
    from dragon.vm.torch.storage import window
    memory = storage._untyped_storage if hasattr(storage, "_untyped_storage") else storage
    made = window(memory._memory, dtype, storage_offset, size, stride)
    return made.requires_grad_(bool(requires_grad))


def _rebuild_wrapper_subclass(cls, dtype, size, stride, storage_offset, layout, device, requires_grad):
    """Return a tensor of a class that wraps others, of a form; its attributes come after."""
    return Tensor._make_wrapper_subclass(cls, size, strides=stride, storage_offset=storage_offset, dtype=dtype,
                                         layout=layout, device=device, requires_grad=requires_grad)


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    """Return a tensor without memory."""
    made = ops.empty_strided(tuple(size), tuple(stride), dtype=dtype, device=device_class("meta"))
    made.requires_grad = requires_grad
    return made


def _rebuild_device_tensor_from_numpy(data, dtype, device, requires_grad):
    """Return a tensor with an array's numbers."""
    made = _C.tensor(data, dtype, as_device(device), Tensor)
    made.requires_grad = requires_grad
    return made


def _import_dotted_name(name):
    """Return what a dotted name stands for."""
    first, *rest = name.split(".")
    found = importlib.import_module(first)
    for part in rest:
        found = getattr(found, part)
    return found


def _element_size(dtype):
    """Return the bytes per element of a dtype."""
    return dtype.itemsize


def _flatten_dense_tensors(tensors):
    """Return tensors of one dtype as one long one."""
    return ops.cat([ops.reshape(tensor, (-1,)) for tensor in tensors], 0)


def _unflatten_dense_tensors(flat, tensors):
    """Return a long tensor cut into the shapes of others."""
    parts, start = [], 0
    for tensor in tensors:
        parts.append(flat[start:start + tensor.numel()].view(tuple(tensor.shape)))
        start += tensor.numel()
    return tuple(parts)


def _reorder_tensors_as(tensors, ordered_tensors):
    """Return tensors, grouped by type, in the order of types of others."""
    groups = defaultdict(list)
    for tensor in tensors:
        groups[tensor.type()].append(tensor)
    streams = {kind: iter(group) for kind, group in groups.items()}
    return tuple(next(streams[tensor.type()]) for tensor in ordered_tensors)


def _take_tensors(tensors, size_limit):
    """Yield lists of tensors of one type, of at most so many bytes each."""
    groups = {}
    for tensor in tensors:
        bytes_of_one = tensor.numel() * tensor.element_size()
        group, held = groups.get(tensor.type(), ([], 0))
        if held + bytes_of_one > size_limit and held:
            yield group
            group, held = [], 0
        groups[tensor.type()] = group + [tensor], held + bytes_of_one
    yield from (group for group, _ in groups.values() if group)


def annotate(ret, **kwargs):
    """Return a decorator that sets annotations."""
    def decorate(function):
        function.__annotations__ = dict(kwargs, **{"return": ret})
        return function
    return decorate


def render_call(fn, args, kwargs):
    """Return a call as text."""
    name = getattr(fn, "__name__", str(fn))
    return f"{name}({', '.join([*map(repr, args), *(f'{key}={value!r}' for key, value in kwargs.items())])})"


class classproperty:
    """A property of a class, read without an instance."""

    def __init__(self, fget):
        self.fget = fget

    def __get__(self, instance, owner=None):
        return self.fget(type(instance) if owner is None else owner)


def _get_available_device_type():
    """Return the kind of accelerator there is, or None."""
    return "cuda" if device_count("cuda") else None


def _get_all_device_indices():
    """Return the indices of all accelerators."""
    return list(range(device_count("cuda")))


def _get_device_index(device, optional=False, allow_cpu=False):
    """Return the index that a device, a name or an index stands for."""
    if isinstance(device, str):
        device = device_class(device)
    if isinstance(device, device_class):
        if not allow_cpu and device.type == "cpu":
            raise ValueError(f"device index: got {device}, expected one that is not the CPU")
        return -1 if device.type == "cpu" else (device.index if device.index is not None else 0)
    if isinstance(device, int):
        return device
    if optional:
        return 0
    raise ValueError(f"device index: got {device!r}, expected an int or a device with an index")
