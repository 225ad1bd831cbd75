"""Tensors in files, other processes and deep copies; and the memory behind them."""
import collections
import copy

from dragon import _C
from dragon.io.block import is_mapped
from dragon.vm.torch import _tensor, _utils
from dragon.vm.torch.core.overrides import DisableTorchFunctionSubclass
from dragon.vm.torch.core.register import method, plain_method
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.storage import (LATER, TypedStorage, UntypedStorage, _warn_typed_storage_removal, bytes_behind,
                                     window)


@method
def untyped_storage(self):
    """Return the memory that the tensor looks at, as bytes."""
    return UntypedStorage._over(bytes_behind(self))


@method
def _typed_storage(self):
    """Return the memory that the tensor looks at, as elements of its dtype."""
    return TypedStorage(wrap_storage=UntypedStorage._over(bytes_behind(self)), dtype=self.dtype)


@method
def storage(self):
    """Return the memory that the tensor looks at, as elements of its dtype."""
    _warn_typed_storage_removal(3)
    return _typed_storage(self)


@method
def storage_type(self):
    """Return the class of `storage()`."""
    return type(_typed_storage(self))


@plain_method
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Look at another memory: a storage's or a tensor's, from an offset, in a size and strides."""
    with DisableTorchFunctionSubclass():
        return _look_at(self, source, storage_offset, size, stride)


def _look_at(self, source, storage_offset, size, stride):
    if source is None:
        source = UntypedStorage(0, device=self.device)
    if not isinstance(source, (Tensor, TypedStorage, UntypedStorage)):
        raise TypeError(f"set_(): argument 'source' must be Tensor or Storage, got {type(source).__name__}")
    if isinstance(source, Tensor):
        if size is None:
            size, stride, storage_offset = source.shape, source.stride(), source.storage_offset()
        return self.set_storage(source, tuple(size), None if stride is None else tuple(stride), storage_offset)
    memory = source.untyped()._memory
    size = (memory.numel() // self.itemsize,) if size is None else size
    made = window(memory, self.dtype, storage_offset, size, stride)
    return self.set_storage(made, tuple(made.shape), tuple(made.stride()), made.storage_offset())


@method
def share_memory_(self):
    """Move the elements into memory that processes share; views made before keep the old one."""
    if _C.shared_block_of(self) is None and self.numel():
        memory = untyped_storage(self).share_memory_()
        made = window(memory._memory, self.dtype, self.storage_offset(), self.shape, self.stride())
        self.data = made
    return self


@method
def is_shared(self):
    """Return whether other processes see the tensor's memory, as they do that of batches which workers made."""
    where = self.device.type
    return where == "cuda" or _C.shared_block_of(self) is not None or where == "cpu" and is_mapped(self.data_ptr())


def keeps_attributes(tensor):
    """Return the attributes that Python code gave a tensor, as pickles keep them."""
    state = getattr(tensor, "__dict__", None)
    return dict(state) if state else {}


def _reduce_plain(self):
    """Return (function, arguments) that make the tensor anew without its class and attributes."""
    if self.device.type == "meta":
        return _utils._rebuild_meta_tensor_no_storage, (self.dtype, tuple(self.shape), tuple(self.stride()),
                                                        self.requires_grad)
    place = (self.storage_offset(), tuple(self.shape), tuple(self.stride()), self.requires_grad,
             collections.OrderedDict())
    if self.dtype.name in LATER:
        return _utils._rebuild_tensor_v3, (untyped_storage(self), *place, self.dtype)
    return _utils._rebuild_tensor_v2, (_typed_storage(self), *place)


@method
def _reduce_ex_internal(self, proto):
    return _reduce_plain(self)


def __reduce_ex__(self, proto):
    state = keeps_attributes(self)
    build, arguments = _reduce_plain(self)
    if type(self) is Tensor and not state:
        return build, arguments
    return _tensor._rebuild_from_type_v2, (build, type(self), arguments, state)


def __setstate__(self, state):
    # Files of the years before 2018 hold tensors as (storage, offset, size, stride[, requires_grad, hooks]).
    if len(state) == 4:
        set_(self, *state)
    elif len(state) == 5:
        set_(self, *state[1:], *state[:1]) if not isinstance(state[0], (TypedStorage, UntypedStorage)) else set_(
            self, *state[:4])
    else:
        raise RuntimeError(f"Tensor.__setstate__: got {len(state)} entries, expected 4 or 5")


def copy_memory(tensor, memo):
    """Return a plain tensor of the same geometry on a copy of the memory; tensors of one memory share the copy."""
    if tensor.device.type == "meta":
        return _utils._rebuild_meta_tensor_no_storage(tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()), False)
    fresh = copy.deepcopy(untyped_storage(tensor), memo)
    return window(fresh._memory, tensor.dtype, tensor.storage_offset(), tensor.shape, tensor.stride())


def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise RuntimeError("deepcopy: Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                           "protocol, and this one was computed from others; detach() it first")
    if id(self) in memo:
        return memo[id(self)]
    made = copy_memory(self, memo)
    if type(self) is not Tensor:
        made = _utils._as_class(made, type(self))
    if self.requires_grad:
        made.requires_grad_()
    memo[id(self)] = made
    if self.grad is not None:
        made.grad = copy.deepcopy(self.grad, memo)
    for name, value in keeps_attributes(self).items():
        setattr(made, name, copy.deepcopy(value, memo))
    return made


for _special in (__reduce_ex__, __setstate__, __deepcopy__):
    setattr(Tensor, _special.__name__, _special)
