"""Attributes and texts of tensors once a class has `__torch_dispatch__`: also of wrappers without a Python object."""
from dragon import _C
from dragon.vm.torch.core.dispatching.wrapper_subclass import is_shell, revive
from dragon.vm.torch.core.sparse.parts import SparseTensor
from dragon.vm.torch.core.tensor import UNWRAPPED, Tensor, ops

# What is asked of a tensor of parts itself, which may be what is left of a wrapper.
_OF_SHELLS = ("item", "data_ptr", "size", "tolist", "numpy", "__setitem__", "__bool__", "__float__", "__int__",
              "__index__", "__deepcopy__", "__reduce_ex__")


def _of_parts(name, plain):
    """Return what the method is for sparse tensors, whose class answers calls and not this one."""
    def method(self, *args, **kwargs):
        return getattr(revive(self), name)(*args, **kwargs) if is_shell(self) else plain(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = plain.__doc__
    return method


def install():
    """Have attributes show wrappers as instances of their classes, and shells answer as wrappers do."""
    UNWRAPPED.discard(Tensor.grad.__get__)
    Tensor.grad, Tensor.data = _showing("grad"), _showing("data")
    UNWRAPPED.add(Tensor.grad.__get__)
    for name in _OF_SHELLS:
        if name not in SparseTensor.__dict__:
            setattr(SparseTensor, name, _of_parts(name, getattr(SparseTensor, name)))


def _showing(name):
    """Return an attribute that gives wrappers as instances of their classes."""
    plain = getattr(_C.Tensor, name)
    return ops.asking_field(name, property(lambda self: revive(plain.__get__(self)), plain.__set__,
                                           getattr(plain, "__delete__", None), plain.__doc__))
