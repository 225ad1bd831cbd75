"""Methods that read or write numbers without asking anybody: once somebody answers for operators, they ask."""
import functools

from dragon import _C
from dragon.vm.torch.core.dispatching.shells import is_shell, revive
from dragon.vm.torch.core.register import overridable
from dragon.vm.torch.core.sparse.parts import SparseTensor
from dragon.vm.torch.core.tensor import Tensor


def _asking(name, plain, doc=None):
    @functools.wraps(plain, updated=())
    def method(self, *args, **kwargs):
        return plain(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = plain.__doc__ or doc
    return overridable(method)


def _of_parts(name, plain):
    """Return what the method is for sparse tensors, whose class answers calls and not this one."""
    def method(self, *args, **kwargs):
        return getattr(revive(self), name)(*args, **kwargs) if is_shell(self) else plain(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = plain.__doc__
    return method


def _ask(name, doc=None):
    """Have a method ask from now on."""
    plain = Tensor.__dict__.get(name) or getattr(_C.Tensor, name)
    if name not in SparseTensor.__dict__:
        setattr(SparseTensor, name, _of_parts(name, plain))
    setattr(Tensor, name, _asking(name, plain, doc))


def install():
    """Have the methods ask from now on."""
    for name, doc in {"item": "Return the only element as a Python number.",
                      "data_ptr": "Return the address of the first element, 0 of a wrapper.",
                      "size": "Return the shape, or the size of one axis.",
                      "tolist": "Return nested lists of Python numbers.",
                      "numpy": "Return a NumPy array over the same memory.",
                      "__setitem__": "Write elements.", "__bool__": "Return whether the only element is not 0.",
                      "__float__": "Return the only element as a float.",
                      "__int__": "Return the only element as an int.",
                      "__index__": "Return the only element as an index."}.items():
        _ask(name, doc)
    Tensor.grad, Tensor.data = _showing("grad"), _showing("data")
    for name in ("register_hook", "register_post_accumulate_grad_hook"):
        setattr(Tensor, name, _hooking(getattr(Tensor, name)))
    for name in ("__deepcopy__", "__reduce_ex__"):
        _ask(name)


def _showing(name):
    """Return an attribute that gives wrappers as instances of their classes."""
    plain = getattr(_C.Tensor, name)
    return property(lambda self: revive(plain.__get__(self)), plain.__set__, getattr(plain, "__delete__", None),
                    plain.__doc__)


def _hooking(register):
    """Return a method that registers hooks which see wrappers as instances of their classes."""
    @functools.wraps(register)
    def method(self, hook):
        return register(self, functools.wraps(hook)(lambda grad: hook(revive(grad))) if callable(hook) else hook)
    return method
