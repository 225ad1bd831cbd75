"""Shapes, numbers and checks that PyTorch's operators are."""
from dragon.core import modes
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.tensor import Tensor, ops


def select(self, dim, index):
    """Return one slice of an axis, without it."""
    return ops.select(self, dim, index) if not isinstance(index, Tensor) else self.index_select(dim, index).squeeze(dim)


def whole(correction):
    """Return a correction of a variance as an integer where it is one."""
    correction = 1 if correction is None else correction
    return int(correction) if correction == int(correction) else correction


def to_copy(self, dtype, layout, device, memory_format):
    """Return a copy, in another dtype, on another device, or with its elements in another order."""
    if layout is not None and layout != self.layout:
        raise NotImplementedError(f"_to_copy: got layout={layout!r} for a tensor of {self.layout!r}, expected its own")
    return self.to(device=device or self.device, dtype=dtype or self.dtype, copy=True,
                   memory_format=memory_format or api().preserve_format)


def assert_metadata(tensor, size, stride, dtype, device, layout):
    """Raise RuntimeError for a tensor of another form than a program takes for granted."""
    if dtype is not None and tensor.dtype != dtype:
        raise RuntimeError(f"Tensor dtype mismatch! Expected: {dtype}, Got: {tensor.dtype}")
    if size is not None and list(tensor.shape) != list(size):
        raise RuntimeError(f"Tensor sizes mismatch! Expected: {list(size)}, Got: {list(tensor.shape)}")
    if stride is not None and list(tensor.stride()) != list(stride):
        raise RuntimeError(f"Tensor strides mismatch! Expected: {list(stride)}, Got: {list(tensor.stride())}")
    if device is not None and tensor.device.type != device.type:
        raise RuntimeError(f"Tensor device mismatch! Expected: {device}, Got: {tensor.device}")
    if layout is not None and layout != tensor.layout:
        raise RuntimeError(f"Tensor layout mismatch! Expected: {layout}, Got: {tensor.layout}")


def assert_true(value, message):
    """Raise RuntimeError where a value is not true."""
    if not bool(value):
        raise RuntimeError(message)


def set_grad_enabled(value):
    """Switch the recording of gradients."""
    modes.set_recording(value)
