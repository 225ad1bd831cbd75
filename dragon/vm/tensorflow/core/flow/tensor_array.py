"""`tf.TensorArray`: tensors by number, which become one tensor in the end."""
from dragon.core.capture import control
from dragon.vm.shared.arrays.gathering import gather, tensor_scatter_nd_update
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
        self._rows = None  # of an array whose numbers are known when the graph runs: all tensors as one

    dtype = property(lambda self: self._dtype, doc="DType: of the tensors.")
    dynamic_size = property(lambda self: self._dynamic, doc="bool: whether there may be more tensors.")
    element_shape = property(lambda self: self._element_shape, doc="TensorShape: the shape of the tensors.")

    def _is_ours(self):
        """Return whether the array may be changed in place: it was made in this branch or loop, and is a list."""
        return self._rows is None and control.part() in (None, self._part)

    # --- as part of a graph's state

    def _staged_parts(self):
        """Return the tensors that tell the array in a branch or loop; none as long as nobody knows their shape."""
        if self._rows is not None:
            return (self._rows,)
        if self._dynamic:
            raise control.NoGraph("it changes a TensorArray that may grow; say its size, without dynamic_size")
        known = [item.shape for item in self._items if item is not None]
        if len({tuple(shape) for shape in known}) > 1:
            raise control.NoGraph("it changes a TensorArray of tensors of several shapes")
        if not self._element_shape.is_fully_defined() and not known:
            return ()
        shape = tuple(known[0]) if known else tuple(self._element_shape)
        if all(item is None for item in self._items):  # one operator, however many there are
            return (ops.zeros((len(self._items), *shape), dtype=self._dtype),)
        return (ops.stack([ops.zeros(shape, dtype=self._dtype) if item is None else item for item in self._items]),)

    def _from_parts(self, parts):
        """Return an array like this one that such tensors tell."""
        made = self.identity()
        if parts:
            made._rows, made._items = parts[0], [None] * len(self)
            made._element_shape = TensorShape(tuple(parts[0].shape)[1:])
        return made

    def _like(self, other):
        """Return an array of the same tensors, of which another one knows the shape."""
        made = self.identity()
        if isinstance(other, TensorArray) and not made._element_shape.is_fully_defined():
            made._element_shape = other._element_shape
        return made

    def _staged(self, shape):
        """Return an array of the same tensors as one, of which each has a shape."""
        made = self.identity()
        if made._rows is None:
            if not made._element_shape.is_fully_defined():
                made._element_shape = TensorShape(tuple(shape))
            made = made._from_parts(made._staged_parts())
        return made

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
        if self._rows is not None or control.is_open(index):
            return self._staged(())._rows[convert_to_tensor(index)]
        index = self._place(index)
        if index in self._read:
            raise invalid_argument(f"Could not read index {index} twice because it was cleared after a previous read "
                                   "(perhaps try setting clear_after_read = false?)")
        if self._clears and self._is_ours():
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
        if not self._is_ours() or control.is_open(index):
            return self._with(ops.reshape(convert_to_tensor(index), (1,)), ops.unsqueeze(self._incoming(value), 0))
        index = self._place(index, True)
        self._items[index] = self._incoming(value)
        self._read.discard(index)
        return self

    def _with(self, indices, values):
        """Return an array with other tensors at some numbers, as one tensor."""
        made = self._staged(tuple(values.shape)[1:])
        made._rows = tensor_scatter_nd_update(made._rows, ops.unsqueeze(ops.cast(indices, "int64"), 1), values)
        return made

    def stack(self, name=None):
        """Return all tensors as one, with a first axis more."""
        if self._rows is not None:
            return self._rows
        if not self._items:
            inner = [] if self._element_shape.rank is None else self._element_shape.as_list()
            return ops.zeros((0, *(size or 0 for size in inner)), dtype=self._dtype)
        return ops.stack([self._filled(index) for index in range(len(self._items))])

    def gather(self, indices, name=None):
        """Return some tensors as one, with a first axis more."""
        if self._rows is not None or control.is_open(indices):
            return gather(self._staged(())._rows, indices)
        return ops.stack([self._filled(self._place(index)) for index in convert_to_tensor(indices).tolist()])

    def concat(self, name=None):
        """Return all tensors as one, along their first axis."""
        if self._rows is not None:
            return ops.flatten(self._rows, 0, 1)
        return ops.cat([self._filled(index) for index in range(len(self._items))], 0)

    def unstack(self, value, name=None):
        """Take over the entries of a tensor's first axis; returns the array."""
        items = ops.unbind(convert_to_tensor(value, self._dtype))
        made = self if self._is_ours() else self.identity()
        made._items, made._read, made._rows = [made._incoming(item) for item in items], set(), None
        return made

    def scatter(self, indices, value, name=None):
        """Put the entries of a tensor's first axis at numbers; returns the array."""
        if not self._is_ours() or control.is_open(indices):
            return self._with(convert_to_tensor(indices), convert_to_tensor(value, self._dtype))
        for index, item in zip(convert_to_tensor(indices).tolist(), ops.unbind(convert_to_tensor(value))):
            self.write(index, item)
        return self

    def split(self, value, lengths, name=None):
        """Take over pieces of a tensor's first axis of given lengths; returns the array."""
        pieces = ops.split_with_sizes(convert_to_tensor(value, self._dtype), convert_to_tensor(lengths).tolist(), 0)
        made = self if self._is_ours() else self.identity()
        made._items, made._read, made._rows = list(pieces), set(), None
        return made

    def identity(self):
        """Return another array of the same tensors."""
        copied = TensorArray(self._dtype, 0, self._dynamic, self._clears, infer_shape=self._infer,
                             element_shape=self._element_shape)
        copied._items, copied._read, copied._rows = list(self._items), set(self._read), self._rows
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
