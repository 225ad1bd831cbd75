"""Tensors of strings: bytes in a NumPy array, beside the engine, which has numbers only."""
from dragon.vm.shared.tensors.device import Device
from dragon.vm.shared.tensors.dtypes import string
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import Reference

CPU = Device("cpu")


def as_bytes(value, encoding="utf-8"):
    """Return text or bytes as bytes."""
    if isinstance(value, str):
        return value.encode(encoding, "surrogateescape")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"Expected binary or unicode string, got {value!r}")


def to_array(value):
    """Return text, nested lists of it or an array as an object array of bytes."""
    import numpy as np
    if isinstance(value, StringTensor):
        return value._array
    if isinstance(value, (str, bytes)):
        array = np.empty((), object)
        array[()] = as_bytes(value)
        return array
    is_array = hasattr(value, "__array__")  # columns of tables among them
    source = np.asarray(value) if is_array else _object_array(value)
    if source.dtype.kind == "S":
        return source.astype(object)
    array = np.empty(source.shape, object)
    flat, items = array.reshape(-1), source.reshape(-1)
    for index, item in enumerate(items.tolist() if source.dtype.kind in "UT" else items):
        flat[index] = as_bytes(item if not isinstance(item, StringTensor) else item.numpy())
    return array


def _object_array(value):
    """Return nested lists as an array of their leaves, which may be 0-d tensors of strings."""
    import numpy as np
    from dragon.vm.shared.tensors.convert import DEEPEST, TOO_DEEP

    def shape_of(item, depth=DEEPEST):
        if not depth:
            raise ValueError(TOO_DEEP)
        if isinstance(item, (list, tuple)):
            inner = [shape_of(part, depth - 1) for part in item]
            if any(other != inner[0] for other in inner):
                raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
            return (len(item), *(inner[0] if inner else ()))
        return tuple(item.shape) if isinstance(item, (StringTensor, np.ndarray)) else ()

    def leaves(item):
        if isinstance(item, (list, tuple)):
            for part in item:
                yield from leaves(part)
        elif isinstance(item, (StringTensor, np.ndarray)):
            yield from (item._array if isinstance(item, StringTensor) else item).reshape(-1)
        else:
            yield item
    array = np.empty(shape_of(value), object)
    flat = array.reshape(-1)
    for index, leaf in enumerate(leaves(value)):
        flat[index] = leaf
    return array


class StringTensor:
    """Strings in a box, as `tf.constant(["a", "b"])` makes them.

    Parameters
    ----------
    value : Union[str, bytes, Sequence, numpy.ndarray]
        The strings; text becomes UTF-8.

    """

    is_string_tensor = True
    __array_priority__ = 100
    dtype = string
    device = CPU

    def __init__(self, value):
        self._array = to_array(value)

    shape = property(lambda self: TensorShape(self._array.shape), doc="TensorShape: the sizes of the axes.")
    ndim = property(lambda self: self._array.ndim, doc="int: the number of axes.")

    def get_shape(self):
        """Return the shape."""
        return self.shape

    def set_shape(self, shape):
        """Say what the shape is; it must agree with the one that the tensor has."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}.")

    def numpy(self):
        """Return the strings as an object array of bytes; as bytes if there are no axes."""
        return self._array.copy() if self._array.ndim else self._array[()]

    def ref(self):
        """Return something hashable that stands for this object."""
        return Reference(self)

    def __array__(self, dtype=None, copy=None):
        return self._array.astype(dtype) if dtype is not None and dtype != object else self._array.copy()

    def __repr__(self):
        text = repr(self.numpy())
        line = "\n" if "\n" in text else ""
        return f"<tf.Tensor: shape={self.shape}, dtype=string, numpy={line}{text}>"

    def _repr_html_(self):
        from dragon.core.pictures.card import array_card
        return array_card(self._array, "tf.Tensor", [("dtype", "string")])

    def __str__(self):
        text = str(self.numpy())
        line = "\n" if "\n" in text else ""
        return f"tf.Tensor({line}{text}, shape={self.shape}, dtype=string)"

    def __format__(self, spec):
        return format(self.numpy(), spec)

    def __hash__(self):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __len__(self):
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return self._array.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (StringTensor(part) for part in self._array)

    def __bool__(self):
        return bool(self.numpy())

    def __getitem__(self, key):
        import numpy as np
        from dragon import _C
        from dragon.vm.shared.tensors.indexing import _is_mask, _item
        if _is_mask(key):
            return StringTensor(self._array[np.asarray(key)])
        parts = key if isinstance(key, (tuple, list)) else (key,)
        parts = tuple(int(part) if isinstance(part, _C.Tensor) else part
                      for part in (_item(part, key) for part in parts))
        try:
            return StringTensor(self._array[parts])
        except IndexError as error:
            from dragon.vm.shared.errors import invalid_argument
            raise invalid_argument(f"{error} [Op:StridedSlice] name: strided_slice/") from None

    def __eq__(self, other):
        return self._compare(other, True)

    def __ne__(self, other):
        return self._compare(other, False)

    def _compare(self, other, same):
        import numpy as np
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        if other is None:
            return not same
        other = convert_to_tensor(other)
        if not isinstance(other, StringTensor):
            from dragon.vm.shared.tensors.operators import mismatch
            raise mismatch("Equal" if same else "NotEqual", self, other.dtype)
        found = np.equal(self._array, other._array) if same else np.not_equal(self._array, other._array)
        return convert_to_tensor(np.asarray(found, dtype=bool))

    def __add__(self, other):
        return StringTensor(self._array + self._operand(other))

    def __radd__(self, other):
        return StringTensor(self._operand(other) + self._array)

    def _operand(self, other):
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        other = convert_to_tensor(other)
        if not isinstance(other, StringTensor):
            from dragon.vm.shared.tensors.operators import mismatch
            raise mismatch("AddV2", self, other.dtype)
        return other._array

    def __deepcopy__(self, memo):
        return StringTensor(self._array.copy())
