"""Tensors one after the other."""
from dragon.vm.keras.core.convert import is_parted
from dragon.vm.keras.layers.merging.merge import Merge, require_list, require_masks
from dragon.vm.shared.tensors.tensor import ops


def require_shapes(shapes):
    """Raise unless shapes come as a list."""
    if not isinstance(shapes, (tuple, list)) or len(shapes) < 1 or not isinstance(shapes[0], (tuple, list)):
        raise ValueError("A `Concatenate` layer should be called on a list of at least 1 input. Received: "
                         f"input_shape={shapes}")


class Concatenate(Merge):
    """Put tensors one after the other along an axis. ...

    Examples
    --------
    >>> np.asarray(keras.layers.Concatenate()([np.array([[1, 2]]), np.array([[3]])]))
    array([[1, 2, 3]])

    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape):
        """Check that the other axes match."""
        require_shapes(input_shape)
        wrong = ("A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
                 f"Received: input_shape={input_shape}")
        if len({len(shape) for shape in input_shape}) > 1:
            raise ValueError(wrong)
        count = len(input_shape[0])
        for axis, sizes in enumerate(zip(*input_shape)):
            if axis != self.axis % count and len(set(sizes) - {None}) > 1:
                raise ValueError(wrong)
        self.built = True

    def call(self, inputs):
        require_list("Concatenate", inputs)
        return self.merge(inputs)

    def merge(self, inputs):
        """Return the tensors as one."""
        if any(map(is_parted, inputs)):
            from dragon.vm.keras.ops import concatenate
            return concatenate(inputs, self.axis)
        return ops.cat(list(inputs), self.axis)

    def compute_output_shape(self, input_shape):
        require_shapes(input_shape)
        made = list(input_shape[0])
        sizes = [shape[self.axis] for shape in input_shape]
        made[self.axis] = None if None in sizes else sum(sizes)
        return tuple(made)

    def compute_mask(self, inputs, mask=None):
        """Return the masks one after the other; an input without one has all its steps."""
        if mask is None:
            return None
        require_masks(inputs, mask)
        if all(part is None for part in mask):
            return None
        from dragon.vm.keras import ops
        parts = []
        for x, part in zip(inputs, mask):
            if part is None:
                part = ops.ones_like(x, dtype="bool")
            elif part.ndim < x.ndim:
                part = ops.logical_or(ops.expand_dims(part, -1), ops.zeros_like(x, dtype="bool"))
            parts.append(part)
        return ops.any(ops.concatenate(parts, axis=self.axis), axis=-1)
