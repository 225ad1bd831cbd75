"""Functions that stand beside the great ones: norms by their native names, files as tensors, checks of sizes."""
import math

from dragon.core import warnings
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import default_dtype
from dragon.vm.torch.core.functions.reduction import norm
from dragon.vm.torch.core.layout import require_strided
from dragon.vm.torch.core.register import both, function, method, plain
from dragon.vm.torch.core.tensor import Tensor, ops

BAGS = ("sum", "mean", "max")
MOST = 2 ** 63 - 1


@function
def native_norm(input, p=2, dim=None, keepdim=False, dtype=None):
    """Return the norm of all elements or along axes."""
    return norm(input, 2 if p is None else p, dim, keepdim, dtype=dtype)


@function
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """Return sums (`mode` 0), means (1) or greatest (2) of rows for each bag, and what its gradient is made of.

    That is the bag of each index, the sizes of bags, and of the greatest the rows that they stood in. Sums need none of
    them: there PyTorch leaves the bags out, and has zeros for the others.
    """
    if sparse:
        raise NotImplementedError("embedding_bag: got sparse=True, expected False: "
                                  "torch.nn.functional.embedding_bag gives sparse gradients")
    made, rows = ops.embedding_bag(weight, indices, offsets, per_sample_weights, scale_grad_by_freq, BAGS[mode],
                                   include_last_offset, padding_idx)
    count = offsets.shape[0] - bool(include_last_offset)
    starts = offsets[:count].contiguous()
    places = ops.arange(indices.shape[0], dtype=offsets.dtype, device=offsets.device)
    bags = ops.searchsorted(starts, places, right=True) - 1  # -1 for what stands before the first bag
    if mode == 0:
        is_fast = padding_idx is None and weight.dtype != OBJECTS["float64"]
        sizes = ops.zeros_like(starts if weight.requires_grad else offsets)
        return made, bags[:0] if is_fast else bags, sizes, ops.zeros_like(sizes)
    counts = bags >= 0 if padding_idx is None else ops.logical_and(bags >= 0, indices != padding_idx)
    sizes = ops.cast(ops.zeros_like(starts), bags.dtype)
    if count:
        sizes = ops.scatter_add(sizes, 0, ops.maximum(bags, 0), ops.cast(counts, bags.dtype))
    return made, bags, sizes, ops.maximum(rows, 0) if mode == 2 else ops.clone(sizes)  # the engine has -1 for none


@both
def slice_inverse(input, src, dim=0, start=None, end=None, step=1):
    """Return the tensor that a slice was taken of, over the slice's memory."""
    expected = ops.slice(src, dim, start, end, step).shape
    if tuple(input.shape) != tuple(expected):
        raise RuntimeError(f"slice_inverse: got a slice of {tuple(input.shape)}, expected {tuple(expected)}")
    return input.as_strided(src.shape, src.stride(), src.storage_offset())


@plain
def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False):
    """Return a file's numbers, mapped; `shared` writes changes back.

    Parameters
    ----------
    filename : str
        The file.
    shared : bool, optional, default=False
        Whether changes are written, and the file is made as long as is needed.
    size : int, optional, default=0
        How many numbers.

    Returns
    -------
    Tensor
        One-dimensional.

    """
    from dragon.vm.torch.storage import UntypedStorage
    require_strided("from_file", layout)
    if as_device(device).type != "cpu" or pin_memory:
        raise RuntimeError(f"from_file: got device={device}, pin_memory={pin_memory}, expected plain memory of the CPU")
    dtype = dtype or default_dtype()
    return UntypedStorage.from_file(filename, bool(shared), size * dtype.itemsize).as_tensor(dtype)


@plain
def sym_constrain_range(size, *, min=None, max=None):
    """Raise unless a number lies between bounds."""
    low, high = -MOST - 1 if min is None else min, MOST if max is None else max
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


@plain
def sym_constrain_range_for_size(size, *, min=None, max=None):
    """Raise unless a size lies between bounds."""
    sym_constrain_range(size, min=0 if min is None else min, max=max)


@plain
def sym_fresh_size(expr):
    """Return a size as it is."""
    return math.trunc(expr)


@plain
def is_storage(obj, /):
    """Return whether an object is a storage, of bytes or of elements."""
    from dragon.vm.torch.storage import TypedStorage, UntypedStorage
    return isinstance(obj, (TypedStorage, UntypedStorage))


@plain
def is_vulkan_available():
    """Return False: there is no Vulkan."""
    return False


@plain
def init_num_threads():
    """Do nothing: every thread finds the engine's threads."""


@method
def module_load(self, other, assign=False):
    """Return what a module's parameter or buffer becomes when this is loaded into it."""
    return other.detach() if assign else self.copy_(other).detach()


def _on(name):
    def move(self, device=None, non_blocking=False, memory_format=None):
        return self.to(name if device is None else device, non_blocking=non_blocking)
    move.__name__ = move.__qualname__ = name
    move.__doc__ = f"Return the tensor on a device of the type {name!r}."
    method(move)


for _name in ("xpu", "ipu", "mtia"):
    _on(_name)


def _volatile(self):
    warnings.warn("volatile was removed (Variable.volatile is always False)")
    return False


Tensor.volatile = property(_volatile, doc="bool: False, with a warning: of old, it meant that no gradients follow.")
