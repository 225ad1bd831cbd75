"""Constructors from PyTorch's first years: `torch.Tensor(2, 3)`, `torch.FloatTensor([1, 2])`."""
from dragon import _C
from dragon.core import config
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.conversion import DTYPE_OF_OLD_TYPE, OLD_TYPES
from dragon.vm.torch.core.dispatching import wrapper_construction  # noqa: F401: which gives tensors that wrap others
from dragon.vm.torch.core.functions.creation import default_dtype, from_numpy, tensor
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor, ops

STORAGE_CLASSES = []  # the classes of storages that a constructor may be given; storages register themselves


def construct(dtype, args, device=None):
    """Return a tensor from sizes, or from data, in a dtype."""
    where = "cpu" if device is None else device
    if not args:
        return ops.empty((0,), dtype=dtype, device=where)
    first = args[0]
    if len(args) == 1 and (not hasattr(first, "__index__") or getattr(first, "ndim", 0)) or isinstance(first, Tensor):
        if len(args) > 1:
            raise TypeError(f"new(): got {len(args)} arguments beside a tensor, expected the tensor alone")
        if isinstance(first, Size):
            return ops.empty(first, dtype=dtype, device=where)
        if isinstance(first, Tensor):
            if first.dtype != dtype:
                raise TypeError(f"new(): got a tensor of {first.dtype}, expected {dtype}")
            return ops.view(first.detach(), first.shape)
        if isinstance(first, tuple(STORAGE_CLASSES)):
            return from_numpy(first).view(dtype) if not hasattr(first, "as_tensor") else first.as_tensor(dtype)
        return tensor(first, dtype=dtype, device=where)
    return ops.empty(args, dtype=dtype, device=where)


def __new__(cls, *args, device=None, **kwargs):
    """Make a tensor as `torch.Tensor(...)` does: sizes or data, in the default dtype."""
    if "data" in kwargs:
        args = (kwargs.pop("data"), *args)
    if kwargs and cls is Tensor:
        raise TypeError(f"new(): got an unexpected keyword argument {next(iter(kwargs))!r}")
    if cls is not Tensor and len(args) >= 1 and isinstance(args[0], Tensor):
        return _C.Tensor.__new__(cls, args[0])
    like = args[0].dtype if len(args) == 1 and isinstance(args[0], Tensor) else default_dtype()
    made = construct(like, args, device)
    if cls is Tensor:
        return made
    return _C.Tensor.__new__(cls, made)


Tensor.__new__ = __new__
Tensor.__init__ = lambda self, *args, **kwargs: None


@staticmethod
def _make_subclass(cls, data, require_grad=False, **options):
    """Return an instance of a subclass over another tensor's memory, without its history."""
    asked = [name for name, value in options.items() if value]
    if asked:
        raise NotImplementedError(f"_make_subclass: got {', '.join(asked)}, expected none: a class that answers for "
                                  "sizes and devices is made by _make_wrapper_subclass")
    made = _C.Tensor.__new__(cls, data)
    if require_grad:
        made.requires_grad = True
    return made


Tensor._make_subclass = _make_subclass


class _OldType(type):
    """Tensors of the right dtype, on the right device, are instances of `torch.FloatTensor` and its like."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and instance.device.type == cls.where

    def __call__(cls, *args, device=None):
        if cls.where == "cuda" and config.device_count("cuda") == 0:
            raise TypeError(f"type torch.cuda.{cls.__name__} not available: got no CUDA device, expected one. Torch "
                            "not compiled with CUDA enabled.")
        return construct(cls.dtype, args, cls.where if device is None else device)

    def __repr__(cls):
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def _old_types(where, module):
    """Return the old classes of tensors on a kind of device, by name."""
    return {old: _OldType(old, (), {"dtype": OBJECTS[name], "where": where, "__module__": module, "__doc__":
                                    f"Old name of tensors of torch.{name} on {where}."})
            for name, old in OLD_TYPES.items() if not name.startswith("complex")}


CLASSES, CUDA_CLASSES = _old_types("cpu", "torch"), _old_types("cuda", "torch.cuda")


def set_default_tensor_type(t):
    """Set the default dtype by an old class or its name."""
    name = t if isinstance(t, str) else f"torch.{t.__name__}"
    if name not in DTYPE_OF_OLD_TYPE or not DTYPE_OF_OLD_TYPE[name].is_floating_point:
        raise TypeError(f"set_default_tensor_type: got {t!r}, expected a floating-point CPU tensor type")
    config.set_default_dtype(DTYPE_OF_OLD_TYPE[name])
