"""Tensors that a module owns: parameters, buffers, and those whose shape is not known yet."""
from collections import OrderedDict

from dragon import _C
from dragon.core.module import twin
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.overrides import _disabled_torch_function_impl
from dragon.vm.torch.core.state import _set_obj_state
from dragon.vm.torch.core.tensor import Tensor, ops

_alias = _C.Tensor.__new__


class _Marked(type(Tensor)):
    """Instances are also the tensors of other classes that carry the class's mark, but not of those made of it."""

    def __instancecheck__(cls, instance):
        if type.__instancecheck__(cls, instance):
            return True
        mark = vars(cls).get("_mark")
        return mark is not None and isinstance(instance, Tensor) and getattr(instance, mark, False)


_ParameterMeta = _BufferMeta = _Marked  # as PyTorch calls them


def _as_kind(cls, data, requires_grad, mark):
    """Return a tensor of a class over the memory of another one; foreign subclasses are only marked."""
    if data is None:
        data = ops.empty((0,), device=as_device(None))
    if type(data) is Tensor or isinstance(data, cls):
        made = _alias(cls, data)
        made.requires_grad = requires_grad
        return made
    if not isinstance(data, Tensor):
        raise AttributeError(f"{cls.__name__}: got {type(data).__name__}, expected a Tensor: '{type(data).__name__}' "
                             "object has no attribute 'detach'")
    made = data.detach()
    if type(made) is not type(data):
        made = made.as_subclass(type(data))
    made.requires_grad_(requires_grad)
    setattr(made, mark, True)
    return made


def adopt(tensor, kind):
    """Return the one object of a class of PyTorch's that stands for another face's tensor, e.g. a Keras variable."""
    return tensor if isinstance(tensor, Tensor) else twin(tensor, Tensor, kind)


class Parameter(Tensor, metaclass=_Marked):
    """A tensor that becomes a module's parameter when it is assigned to one.

    Parameters
    ----------
    data : Tensor, optional
        The values; without them, an empty tensor.

    Examples
    --------
    >>> weight = nn.Parameter(torch.tensor([1.0, 2.0]))
    >>> weight.requires_grad
    True
    >>> weight
    Parameter containing:
    tensor([1., 2.], requires_grad=True)

    """

    __torch_function__ = _disabled_torch_function_impl
    _mark = "_is_param"

    def __new__(cls, data=None, requires_grad=True):
        return _as_kind(cls, data, requires_grad, "_is_param")

    def __init__(self, data=None, requires_grad=True):
        pass

    def __deepcopy__(self, memo):
        return _copied(self, memo, lambda: type(self)(self.data.clone(), self.requires_grad))

    def __repr__(self, *, tensor_contents=None):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __reduce_ex__(self, protocol):
        state = _state_of(self)
        if not state:
            return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict())
        return _rebuild_parameter_with_state, (self.data, self.requires_grad, OrderedDict(), state)

    __hash__ = Tensor.__hash__


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """Return a parameter of a tensor."""
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    """Return a parameter of a tensor, with attributes."""
    return _set_obj_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


for _rebuild in (_rebuild_parameter, _rebuild_parameter_with_state):
    _rebuild.__module__ = __name__.replace("nn.parameter", "_utils")  # where PyTorch has them, and files look for them


class Buffer(Tensor, metaclass=_Marked):
    """A tensor that becomes a module's buffer when it is assigned to one.

    Parameters
    ----------
    data : Tensor, optional
        The values; without them, an empty tensor.
    persistent : bool, optional, default=True
        Whether it is part of the module's `state_dict`.

    """

    _mark = "_is_buffer"

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = ops.empty((0,), device=as_device(None))
        # A buffer is the tensor itself with a mark: it keeps its class and, unlike a parameter, its history.
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


class UninitializedTensorMixin:
    """The little that parameters and buffers can do before their shape is known."""

    _allowed = frozenset("""device dtype layout requires_grad grad grad_fn is_leaf is_cuda data copy_ to cpu cuda half
        float double bfloat16 char short int long _apply materialize cls_to_become share_memory_ is_shared __class__
        requires_grad_ detach is_meta""".split())

    def materialize(self, shape, device=None, dtype=None):
        """Give the tensor memory of a shape; it becomes an ordinary parameter or buffer."""
        device = self.device if device is None else as_device(device)
        self.data = ops.empty(tuple(shape), dtype=dtype or self.dtype, device=device)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        """Raise: there is none yet."""
        raise RuntimeError(f"{type(self).__name__}: got a question for its shape, expected a forward pass before: "
                           "the shape is not known; run a dummy forward through the lazy module to initialize it")

    def share_memory_(self):
        """Raise: there is nothing to share."""
        raise RuntimeError(f"{type(self).__name__}: got share_memory_, expected a tensor with memory; run a dummy "
                           "forward through the lazy module to initialize it")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return self.__class__, (self.requires_grad,)

    def _refused(self, *_, **__):
        raise ValueError(f"{type(self).__name__}: got an operation, expected materialize() before: its shape is not "
                         "known; run a dummy forward through the lazy module to initialize it")

    # The engine's slots of Python's operators do not ask `__torch_function__` first.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __matmul__ = __getitem__ = __setitem__ = __neg__ = __pow__ = __len__ = __iter__ = _refused

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in cls._allowed or name == "__get__" or name == "__set__":
            return _disabled_torch_function_impl(func, types, args, kwargs)
        raise ValueError(f"{name}: got an uninitialized {cls.__name__}, expected one with a shape; run a dummy forward "
                         "through the lazy module to initialize it")


def is_lazy(param):
    """Return whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape the first forward pass will tell.

    Parameters
    ----------
    device : Union[device, str], optional
        Where it will live.
    dtype : dtype, optional
        The type of its elements.

    """

    cls_to_become = Parameter
    _mark = None

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        made = _alias(cls, ops.empty((0,), dtype=dtype, device=as_device(device)))
        made.requires_grad = requires_grad
        return made

    def __init__(self, requires_grad=True, device=None, dtype=None):
        pass

    def __deepcopy__(self, memo):
        return _copied(self, memo, lambda: type(self)(self.requires_grad, self.device, self.dtype))

    __hash__ = Tensor.__hash__


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape the first forward pass will tell.

    Parameters
    ----------
    device, dtype
        See UninitializedParameter.
    persistent : bool, optional, default=True
        Whether it is part of the module's `state_dict`.

    """

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        made = _alias(cls, ops.empty((0,), dtype=dtype, device=as_device(device)))
        made.requires_grad = requires_grad
        made.persistent = persistent
        made._is_buffer = True
        return made

    def __init__(self, requires_grad=False, device=None, dtype=None, persistent=True):
        pass

    def __deepcopy__(self, memo):
        return _copied(self, memo, lambda: type(self)(self.requires_grad, self.device, self.dtype, self.persistent))

    __hash__ = Tensor.__hash__


def _copied(original, memo, make):
    """Return the deep copy that is noted, or make and note one with the attributes that Python code has set."""
    if id(original) in memo:
        return memo[id(original)]
    copied = memo[id(original)] = make()
    for name, value in _state_of(original).items():
        setattr(copied, name, value)
    return copied


def _state_of(tensor):
    """Return the attributes that Python code has set on a tensor."""
    return dict(tensor.__dict__)
