"""`torch.Tensor`: the engine's tensor in PyTorch's words. Functions written in Python join it in `functions`."""
import copyreg
from operator import attrgetter

from dragon import _C
from dragon.core.refusals import guard_methods, refused
from dragon.vm.torch._api import WORDS
from dragon.vm.torch.core import results
from dragon.vm.torch.core.describing import TorchDescriptions
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.overrides import (DisableTorchFunctionSubclass, _disabled_torch_function_impl, handle)
from dragon.vm.torch.core.size import Size


class Tensor(_C.Tensor):
    """Strided numbers of one dtype on one device."""

    __slots__ = ()
    __array_priority__ = 1000  # NumPy's arrays leave arithmetic with tensors to the tensors

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        return result if func in UNWRAPPED else convert(result, cls)

    def stride(self, dim=None):
        """Return the steps of the axes in elements, or that of one axis."""
        steps = self.strides
        return steps if dim is None else steps[dim_index(self, dim, "stride")]

    def dim(self):
        """Return the number of axes."""
        return self.ndim

    ndimension = dim

    def numel(self):
        """Return the number of elements."""
        return _numel(self)

    nelement = numel

    def storage_offset(self):
        """Return the place of the first element in the storage."""
        return _storage_offset(self)

    def element_size(self):
        """Return the bytes per element."""
        return self.itemsize

    def __hash__(self):
        return id(self)

    def _repr_html_(self):
        from dragon.core.pictures.card import tensor_card
        return tensor_card(self, "torch.Tensor" if type(self) is Tensor else type(self).__name__)


UNWRAPPED = set()  # reads of attributes that give other tensors than the one that is asked, which keep their class
_numel = _C.Tensor.size.__get__
_storage_offset = _C.Tensor.storage_offset.__get__


def dim_index(tensor, dim, who):
    """Return a dim as a number from 0, or raise IndexError."""
    axis, rank = dim.__index__(), max(tensor.ndim, 1)
    if not -rank <= axis < rank or tensor.ndim == 0:
        raise IndexError(f"{who}: Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got "
                         f"{axis})")
    return axis % rank


def convert(result, cls):
    """Return results as instances of a subclass of Tensor, in lists and tuples too."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (list, tuple)) and not isinstance(result, Size):
        return type(result)(convert(item, cls) for item in result)
    return result


ops = _C.Ops(Tensor, OBJECTS, device.of_engine, Size, WORDS, results.OF_OPERATORS)
ops.resize_destinations(True)
ops.set_override(handle, "__torch_function__", _disabled_torch_function_impl)
ops.set_refusal(refused)
ops.set_describer(TorchDescriptions())
guard_methods(ops, Tensor, ("__hash__",))  # asked by sets and dictionaries, whatever the class answers
Tensor.size = ops.overridable(_C.Tensor.extent)
Tensor.size.__name__ = "size"  # the engine counts elements under that name
# Operators are pickled and copied by name, as functions are.
copyreg.pickle(type(ops.add), attrgetter("__name__"))
