"""Tensors that wrap others: a shape, a dtype, a device and a class, and what the class does with them.

The engine knows such a tensor as one that is made of others, and hands every call with it to Python. Its first part
keeps what a Python object would forget when nobody but the engine holds the tensor, as gradients on their way are held:
the class and the attributes. The second part lies as the tensor says that it does, and has no numbers.
"""
import types
import weakref

from dragon import _C
from dragon.core import modes as switches
from dragon.core import parts
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.overrides import _disabled_torch_function_impl, _left_alone
from dragon.vm.torch.core.sparse.parts import SparseTensor
from dragon.vm.torch.core.tensor import Tensor, ops

LAYOUT = "wrapper"
_shells = weakref.WeakValueDictionary()  # by the memory of a tensor's first part
_adopted = weakref.WeakKeyDictionary()  # {class: what it answered calls with once it was adopted}
_get = SparseTensor.__getattribute__


class _Shell:
    """What stays of a tensor: its class and its attributes."""

    def __init__(self, cls, policy):
        self.cls, self.policy, self.attributes = cls, policy, None


class _Byte(bytearray):
    """Memory that keeps a shell alive as long as the engine holds it."""


class _Field:
    """An attribute that a class has a slot for, kept where all others are."""

    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, owner=None):
        if tensor is None:
            return self
        try:
            return tensor.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"'{type(tensor).__name__}' object has no attribute '{self.name}'",
                                 name=self.name) from None

    def __set__(self, tensor, value):
        tensor.__dict__[self.name] = value

    def __delete__(self, tensor):
        tensor.__dict__.pop(self.name, None)


def adopt(cls):
    """Have calls with instances of a class come here, and the attributes of its slots kept."""
    if getattr(cls.__torch_function__, "__func__", None) is Tensor.__torch_function__.__func__:
        cls.__torch_function__ = _left_alone  # who answers for operators is left alone otherwise
    for base in cls.__mro__:
        if base is Tensor:
            break
        if base.__dict__.get("__torch_function__") is _disabled_torch_function_impl and base.__module__ != (
                "dragon.vm.torch.nn.parameter"):
            base.__torch_function__ = _left_alone
        for name, value in list(base.__dict__.items()):
            if isinstance(value, types.MemberDescriptorType):
                setattr(base, name, _Field(name))
    _adopted[cls] = _answer_of(cls)


def is_adopted(cls):
    """Return whether calls with instances of a class come here."""
    return _adopted.get(cls) is _answer_of(cls)


def _answer_of(cls):
    """Return what a class answers calls with, the same object at each look."""
    return getattr(cls.__torch_function__, "__func__", cls.__torch_function__)


def make(cls, lies, policy=None):
    """Return a tensor of a class that has no numbers.

    Parameters
    ----------
    cls : type
        The class.
    lies : Tensor
        One without numbers that has its shape, strides, dtype and device.
    policy : str, optional
        "sizes" or "strides": what is asked of its class.

    Returns
    -------
    Tensor
        The instance.

    """
    if not is_adopted(cls):
        adopt(cls)
    memory, shell = _Byte(1), _Shell(cls, policy)
    memory.shell = shell
    keeper = _C.from_buffer(memory, Tensor)
    _shells[_C.memory_key(keeper)[0]] = shell
    made = _C.Tensor.__new__(cls, parts.make_of_parts(LAYOUT, (keeper, lies), tuple(lies.shape)))
    shell.attributes = made.__dict__
    if SparseTensor.__getattribute__ is not _look:  # what changes a class has its lookups forgotten
        SparseTensor.__getattribute__ = _look
    return made


def _look(self, name):
    """Read an attribute of a tensor of parts, of a wrapper as its class has it."""
    return getattr(revive(self), name) if is_shell(self) else _get(self, name)


def is_shell(x):
    """Return whether an object is a wrapper whose Python object was lost, and shows as a tensor of parts."""
    return type(x) is SparseTensor and parts.parts_of(x)[0] == LAYOUT


def is_wrapper(x):
    """Return whether an object is a tensor that wraps others."""
    if not isinstance(x, Tensor) or type(x) is Tensor:
        return False
    found = parts.parts_of(x)
    return found is not None and found[0] == LAYOUT


def policy_of(x):
    """Return what the methods that tell of sizes and strides ask the class of a wrapper for: None, or a policy."""
    return _shell_of(x).policy if is_wrapper(x) else None


def _shell_of(x):
    return _shells[_C.memory_key(parts.parts_of(x)[1][0])[0]]


def stand_in(x):
    """Return the tensor without numbers that lies as a wrapper does; of anything else, itself."""
    return parts.parts_of(x)[1][1] if is_wrapper(x) else x


def revive(x):
    """Return a wrapper as an instance of its class; anything else as it is."""
    if not is_shell(x):
        return x
    shell = _shell_of(x)
    try:
        x.__class__, found = shell.cls, x
    except TypeError:  # its class has room for slots: another object, behind which the history stands
        found = _C.Tensor.__new__(shell.cls, x)
        if _C.Tensor.requires_grad.__get__(x):
            _C.record("AliasBackward0", lambda node, grad: (grad,), [x], [found])
    found.__dict__ = shell.attributes
    return found


def _may_hold_shells(tree):
    """Return whether a list, tuple or dictionary is to be looked through: it holds others, or tensors of parts."""
    if type(tree) not in (tuple, list, dict):
        return True
    for item in tree.values() if type(tree) is dict else tree:
        if type(item) is SparseTensor or isinstance(item, (list, tuple, dict)):
            return True
    return False


def revive_all(tree):
    """Return lists, tuples and dictionaries with wrappers as instances of their classes."""
    if not _may_hold_shells(tree):
        return tree
    if isinstance(tree, (list, tuple)):
        made = [revive_all(item) for item in tree]
        return made if type(tree) is list else tuple(made) if type(tree) is tuple else tree
    if isinstance(tree, dict):
        return {name: revive_all(item) for name, item in tree.items()}
    return revive(tree)


def _row_major(shape):
    """Return the strides of a tensor in row-major order."""
    found, step = [], 1
    for size in reversed(shape):
        found.append(step)
        step *= max(size, 1)
    return tuple(reversed(found))


def without_numbers(shape, strides, dtype, device, offset=0, memory_format=None):
    """Return a tensor without numbers that lies as it is told."""
    with ExitStack() as exits:
        exits.switch(switches.set_phantom, True)
        exits.switch(switches.set_recording, False)
        exits.switch(switches.set_override_disabled, True)
        if (strides is None or strides == _row_major(shape)) and not offset:
            made = ops.empty(shape, dtype=dtype, device=device)
            return made if memory_format is None else made.contiguous(memory_format=memory_format)
        strides = ops.empty(shape, dtype=dtype, device=device).stride() if strides is None else tuple(strides)
        most = sum((size - 1) * step for size, step in zip(shape, strides)) + 1 if 0 not in shape else 0
        return ops.as_strided(ops.empty((offset + most,), dtype=dtype, device=device), shape, strides, offset)


def bare(function, args, kwargs):
    """Return what a function tells of tensors, of wrappers by how they lie; no numbers are read."""
    def plain(value):
        if isinstance(value, (list, tuple)) and not hasattr(value, "numel"):
            return type(value)(map(plain, value)) if type(value) in (list, tuple) else value
        return stand_in(value)
    with ExitStack() as exits:
        exits.switch(switches.set_phantom, True)
        exits.switch(switches.set_override_disabled, True)
        return function(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()})
