"""`tf.Tensor`: the engine's tensor in TensorFlow's words, and the engine's operators with such results."""
import weakref

from dragon import _C
from dragon.core import config
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.errors import OperatorNotAllowedInGraphError
from dragon.vm.shared.tensors import host
from dragon.vm.shared.tensors.device import Device
from dragon.vm.shared.tensors.dtypes import DType, OBJECTS
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tracing import refuse, symbolic_text

_shape_of = _C.Tensor.shape.__get__


class Reference:
    """A tensor or variable as a key: two references are equal if they stand for the same object."""

    __slots__ = ("_wrapped", "__weakref__")

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        """Return the object."""
        return self._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


class Base(_C.Tensor):
    """The base of tensors and variables: numbers, their description, and arithmetic (see `operators`)."""

    __array_priority__ = 100  # NumPy's arrays leave arithmetic with tensors to the tensors

    def __repr__(self):
        symbolic = symbolic_text(self, True)
        return symbolic or f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, {host.describe(self)}>"

    def __str__(self):
        symbolic = symbolic_text(self, False)
        if symbolic:
            return symbolic
        text = host.show_numbers(self, False)
        line = "\n" if "\n" in text else ""
        return f"tf.Tensor({line}{text}{', ' if not line else ', '}shape={self.shape}, dtype={self.dtype.name})"

    def _repr_html_(self):
        from dragon.core.pictures.card import tensor_card
        return tensor_card(self, "tf.Tensor" if isinstance(self, Tensor) else "tf.Variable")

    def __array__(self, dtype=None, copy=None):
        import numpy as np
        array = host.host_array(self)
        return np.array(array, dtype=dtype, copy=True if copy is None else copy)

    def numpy(self):
        """Return a NumPy array with a copy of the numbers; a NumPy number if there are no axes."""
        refuse(self, "'SymbolicTensor' object has no attribute 'numpy': to look at a tensor's numbers", AttributeError)
        return host.owned_array(self)

    def get_shape(self):
        """Return the shape."""
        return self.shape

    def ref(self):
        """Return something hashable that stands for this object."""
        return Reference(self)

    experimental_ref = ref

    def __copy__(self):
        return self

    def __round__(self, digits=0):
        if digits:
            raise NotImplementedError(f"round: tensors are rounded to integers only. Received: digits={digits}")
        return ops.round(self)

    def __format__(self, spec):
        symbolic = symbolic_text(self, False)
        if symbolic:
            return format(symbolic, spec)
        return format(self.numpy(), spec)

    def __bool__(self):
        refuse(self, "Using a symbolic `tf.Tensor` as a Python `bool`", OperatorNotAllowedInGraphError)
        if self.ndim and _C.Tensor.size.__get__(self) != 1:
            return bool(self.numpy()) if _C.Tensor.size.__get__(self) else False
        return _C.Tensor.__bool__(self)

    def __float__(self):
        if self.ndim:
            raise TypeError(f"only 0-dimensional arrays can be converted to Python scalars. Received: {self!r}")
        return _C.Tensor.__float__(self)

    def __int__(self):
        if self.ndim:
            raise TypeError(f"only 0-dimensional arrays can be converted to Python scalars. Received: {self!r}")
        return _C.Tensor.__int__(self)

    def __index__(self):
        refuse(self, "list indices must be integers or slices, not SymbolicTensor: to use one as an integer", TypeError)
        return _C.Tensor.__index__(self)

    def __setitem__(self, key, value):
        raise TypeError(f"'{type(self).__name__}' object does not support item assignment; use "
                        f"tf.tensor_scatter_nd_update, or assign to a slice of a tf.Variable. Received: key={key!r}")

    def __iter__(self):
        refuse(self, "Iterating over a symbolic `tf.Tensor`", OperatorNotAllowedInGraphError)
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return iter(ops.unbind(self))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return _C.to_dlpack(self.detach(), max_version, copy)

    def __dlpack_device__(self):
        return _C.dlpack_device(self)


class TensorKind(type):
    """The class of `Tensor`: tensors of strings, which the engine knows nothing of, are instances too."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            cls is Tensor and getattr(type(instance), "is_string_tensor", False) is True)


@known_as("tensorflow")
class Tensor(Base, metaclass=TensorKind):
    """Numbers of one dtype in a box, or the promise of them; they do not change.

    Examples
    --------
    >>> x = tf.constant([[1.0, 2.0]])
    >>> isinstance(x, tf.Tensor), x.shape, x.dtype
    (True, TensorShape([1, 2]), tf.float32)
    >>> (x + 1).numpy()
    array([[2., 3.]], dtype=float32)

    """

    def __hash__(self):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __deepcopy__(self, memo):
        return ops.clone(self.detach())

    def set_shape(self, shape):
        """Say what the shape is; it must agree with the one that the tensor has."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape "
                             f"{TensorShape(shape)}.")

    backing_device = property(lambda self: self.device, doc="Device: where the numbers are.")

    def cpu(self):
        """Return the tensor on the CPU."""
        return ops.to_device(self, "cpu")

    def gpu(self, gpu_index=0):
        """Return the tensor on an accelerator."""
        if gpu_index >= config.device_count("cuda"):
            raise RuntimeError(f"GPU:{gpu_index} unknown device.")
        return ops.to_device(self, f"cuda:{gpu_index}")

    def eval(self, feed_dict=None, session=None):
        """Refuse: there are no sessions."""
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're "
                                  "looking for?")

    def consumers(self):
        """Refuse: tensors do not know who uses them."""
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")

    @classmethod
    def _of_graph(cls, name):
        def refuse(self):
            raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")
        return property(refuse, doc="Belongs to graphs of TensorFlow 1; there is none.")


for _name in ("name", "op", "graph", "value_index"):
    setattr(Tensor, _name, Tensor._of_graph(_name))

# Two views of the engine: what is asked of a variable itself (its shape, its gradient) stays of class Base, and all
# results of operators are Tensors.
_own = _C.Ops(Base, OBJECTS, Device, TensorShape, waits_to_be_asked=True)
ops = _C.Ops(Tensor, OBJECTS, Device, TensorShape, waits_to_be_asked=True)
for _operators in (_own, ops):
    _operators.place_calls()
host.operators.append(ops)
dtype_class = DType

_as_class = _C.as_class


def as_tensor(x):
    """Return an engine tensor of any face as a `Tensor`; no number is copied."""
    return x if type(x) is Tensor else _as_class(x, Tensor)


class IdentityDictionary:
    """Values by object, of objects that cannot be hashed; an entry goes with its object."""

    def __init__(self):
        self._entries = {}
        self.added = 0  # how many objects there have been

    def set(self, key, value):
        """Remember a value."""
        self.added += 1
        number = id(key)
        self._entries[number] = (weakref.ref(key, lambda _: self._entries.pop(number, None)), value)

    def get(self, key, default=None):
        """Return an object's value."""
        entry = self._entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else default

    def keys(self):
        """Return the objects."""
        return [key for reference, _ in list(self._entries.values()) if (key := reference()) is not None]
