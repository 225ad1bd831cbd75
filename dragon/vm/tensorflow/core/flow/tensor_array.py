"""`tf.TensorArray`: tensors by number, which become one tensor in the end."""
from dragon.core.capture import control
from dragon.vm.shared.errors import OutOfRangeError, invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.type_spec import TypeSpec


class TensorArray:
    """Tensors by number.

    Parameters
    ----------
    size : int, optional, default=0
        How many there are.
    dynamic_size : bool, optional, default=False
        Whether there may be more.
    clear_after_read : bool, optional, default=True
        Whether a tensor may be read once only.
    tensor_array_name, handle, flow, colocate_with_first_write_call, name : Any, optional
        Not used.
    infer_shape : bool, optional, default=True
        Whether all tensors must have the shape of the first.

    """

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None,
                 handle=None, flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True,
                 name=None):
        self._dtype, self._dynamic = as_dtype(dtype), bool(dynamic_size)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._infer, self._element_shape = infer_shape, TensorShape(element_shape)
        self._items = [None] * int(0 if size is None else size)
        self._read = set()
        self._part = control.part()

    dtype = property(lambda self: self._dtype, doc="DType: of the tensors.")
    dynamic_size = property(lambda self: self._dynamic, doc="bool: whether there may be more tensors.")
    element_shape = property(lambda self: self._element_shape, doc="TensorShape: the shape of the tensors.")

    def _changes(self):
        control.refuse_change(self._part, "a TensorArray")

    def _place(self, index, growing=False):
        index = int(index)
        if index < 0 or index >= len(self._items) and not (growing and self._dynamic):
            raise OutOfRangeError(None, None, f"Tried to {'write to' if growing else 'read from'} index {index} but "
                                  f"array is not resizeable and size is: {len(self._items)}")
        self._items.extend([None] * (index + 1 - len(self._items)))
        return index

    def _incoming(self, value):
        value = convert_to_tensor(value, self._dtype)
        if not self._element_shape.is_compatible_with(value.shape):
            raise ValueError(f"Inconsistent shapes: saw {value.shape} but expected {self._element_shape}")
        if self._infer and self._element_shape.rank is None:
            self._element_shape = value.shape
        return value

    def size(self, name=None):
        """Return how many tensors there are."""
        return convert_to_tensor(len(self._items))

    def read(self, index, name=None):
        """Return a tensor."""
        index = self._place(index)
        if index in self._read:
            raise invalid_argument(f"Could not read index {index} twice because it was cleared after a previous read "
                                   "(perhaps try setting clear_after_read = false?)")
        if self._clears:
            self._changes()
            self._read.add(index)
        return self._filled(index)

    def _filled(self, index):
        value = self._items[index]
        if value is None:
            if not self._element_shape.is_fully_defined():
                raise invalid_argument(f"Could not read index {index}: nothing was written there, and the shape is not "
                                       "known")
            value = ops.zeros(tuple(self._element_shape), dtype=self._dtype)
        return value

    def write(self, index, value, name=None):
        """Put a tensor at a number; returns the array."""
        self._changes()
        index = self._place(index, True)
        self._items[index] = self._incoming(value)
        self._read.discard(index)
        return self

    def stack(self, name=None):
        """Return all tensors as one, with a first axis more."""
        if not self._items:
            inner = [] if self._element_shape.rank is None else self._element_shape.as_list()
            return ops.zeros((0, *(size or 0 for size in inner)), dtype=self._dtype)
        return ops.stack([self._filled(index) for index in range(len(self._items))])

    def gather(self, indices, name=None):
        """Return some tensors as one, with a first axis more."""
        return ops.stack([self._filled(self._place(index)) for index in convert_to_tensor(indices).tolist()])

    def concat(self, name=None):
        """Return all tensors as one, along their first axis."""
        return ops.cat([self._filled(index) for index in range(len(self._items))], 0)

    def unstack(self, value, name=None):
        """Take over the entries of a tensor's first axis; returns the array."""
        self._changes()
        items = ops.unbind(convert_to_tensor(value, self._dtype))
        self._items, self._read = [self._incoming(item) for item in items], set()
        return self

    def scatter(self, indices, value, name=None):
        """Put the entries of a tensor's first axis at numbers; returns the array."""
        for index, item in zip(convert_to_tensor(indices).tolist(), ops.unbind(convert_to_tensor(value))):
            self.write(index, item)
        return self

    def split(self, value, lengths, name=None):
        """Take over pieces of a tensor's first axis of given lengths; returns the array."""
        self._changes()
        pieces = ops.split_with_sizes(convert_to_tensor(value, self._dtype), convert_to_tensor(lengths).tolist(), 0)
        self._items, self._read = list(pieces), set()
        return self

    def identity(self):
        """Return another array of the same tensors."""
        copied = TensorArray(self._dtype, 0, self._dynamic, self._clears, infer_shape=self._infer,
                             element_shape=self._element_shape)
        copied._items, copied._read = list(self._items), set(self._read)
        return copied

    def grad(self, source, flow=None, name=None):
        """Refuse: gradients are the tape's."""
        raise NotImplementedError("TensorArray.grad is not supported when executing eagerly; use tf.GradientTape.")

    def close(self, name=None):
        """Let go of the tensors."""
        self._items = []

    def __len__(self):
        return len(self._items)


class TensorArraySpec(TypeSpec):
    """The description of a TensorArray.

    Parameters
    ----------
    dtype : DType, optional, default=float32
        Of the tensors.
    infer_shape : bool, optional, default=True
        Whether all have one shape.

    """

    value_type = property(lambda self: TensorArray, doc="type: the class of such values.")

    def __init__(self, element_shape=None, dtype="float32", dynamic_size=False, infer_shape=True):
        self._shape, self._dtype = TensorShape(element_shape), as_dtype(dtype)
        self._dynamic, self._infer = dynamic_size, infer_shape

    def _parts(self):
        return self._shape, self._dtype, self._dynamic, self._infer

    def __repr__(self):
        return (f"TensorArraySpec({self._shape!r}, {self._dtype!r}, {self._dynamic!r}, {self._infer!r})")
