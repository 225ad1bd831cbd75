"""The base of layers that make one tensor of several."""
import functools

from dragon.vm.keras.core.convert import is_parted
from dragon.vm.keras.core.masking import get_keras_mask, set_keras_mask
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


def joined_shape(first, second):
    """Return the shape that two shapes without batch broadcast to; None where a size is not known."""
    if len(first) < len(second):
        first, second = second, first
    kept = len(first) - len(second)
    sizes = list(first[:kept])
    for ours, theirs in zip(first[kept:], second):
        if ours is None or theirs is None:
            sizes.append(None)
        elif ours != theirs and 1 not in (ours, theirs):
            raise ValueError(f"Inputs have incompatible shapes. Received shapes {first} and {second}")
        else:
            sizes.append(theirs if ours == 1 else ours)
    return tuple(sizes)


def merged_shape(shapes):
    """Return the shape, without batch, that shapes with one broadcast to."""
    made = tuple(shapes[0][1:])
    for shape in shapes[1:]:
        made = joined_shape(made, tuple(shape[1:]))
    return made


def known_batches(shapes):
    """Return the batch sizes that are known."""
    return {shape[0] for shape in shapes if shape} - {None}


def require_list(who, inputs):
    """Raise unless inputs come as a list."""
    if not isinstance(inputs, (list, tuple)):
        raise ValueError(f"A `{who}` layer should be called on a list of inputs. Received: inputs={inputs} (not a list "
                         "of tensors)")


def require_masks(inputs, mask):
    """Raise unless there is a mask, or None, for each input."""
    for name, value in (("mask", mask), ("inputs", inputs)):
        if not isinstance(value, (tuple, list)):
            raise ValueError(f"`{name}` should be a list. Received: {name}={value}")
    if len(mask) != len(inputs):
        raise ValueError("The lists `inputs` and `mask` should have the same length. Received: "
                         f"inputs={inputs} of length {len(inputs)}, and mask={mask} of length {len(mask)}")


def wide_mask(x, mask):
    """Return a mask of steps as a mask of elements; None for None."""
    return None if mask is None else ops.expand(ops.unsqueeze(mask, -1), x.shape)


class Merge(Layer):
    """A layer that makes one tensor of several, which broadcast along all axes but the batch."""

    function = None  # its name in `keras.ops`

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def merge(self, inputs):
        """Return what becomes of inputs with equally many axes."""
        raise NotImplementedError(f"{type(self).__name__}: merge")

    def merge_parted(self, inputs):
        """Return what becomes of inputs of which some are ragged or sparse: by the function of keras.ops."""
        from dragon.vm.keras import ops
        return functools.reduce(getattr(ops, self.function), inputs)

    def build(self, input_shape):
        """Check the shapes."""
        if not isinstance(input_shape[0], (tuple, list)):
            raise ValueError("A merge layer should be called on a list of inputs. Received: "
                             f"input_shape={input_shape} (not a list of shapes)")
        if len(known_batches(input_shape)) > 1:
            raise ValueError("Cannot merge tensors with different batch sizes. Received tensors with shapes "
                             f"{input_shape}")
        merged_shape(input_shape)
        self.built = True

    def call(self, inputs):
        require_list("merge", inputs)
        if any(map(is_parted, inputs)):
            return self.merge_parted(inputs)
        most = max(x.ndim for x in inputs)
        return self.merge([x if x.ndim == most else with_axes(x, most) for x in inputs])

    def compute_output_shape(self, input_shape):
        batches = known_batches(input_shape)
        return (batches.pop() if len(batches) == 1 else None, *merged_shape(input_shape))

    def compute_output_spec(self, inputs):
        from dragon.vm.keras.core.keras_tensor import KerasTensor
        return KerasTensor(self.compute_output_shape([x.shape for x in inputs]), dtype=self.compute_dtype,
                           sparse=all(x.sparse for x in inputs))

    def compute_mask(self, inputs, mask=None):
        """Return where any input has a step, if all of them have masks."""
        if mask is None:
            return None
        require_masks(inputs, mask)
        if any(part is None for part in mask):
            return None
        from dragon.vm.keras.ops import logical_or
        made = mask[0]
        for part in mask[1:]:
            made = logical_or(made, part)
        return made


def with_axes(x, count):
    """Return a tensor with axes of size 1 after the batch."""
    return ops.reshape(x, (x.shape[0], *(1,) * (count - x.ndim), *x.shape[1:]))


def choose(choice, inputs):
    """Fold inputs by maximum or minimum; where one is masked, the other is taken."""
    made, made_mask = None, None
    for x in inputs:
        mask = wide_mask(x, get_keras_mask(x))
        if made is None:
            made, made_mask = x, mask
            continue
        x = x if mask is None else ops.where(mask, x, made)
        made = made if made_mask is None else ops.where(made_mask, made, x)
        made_mask = None if mask is None or made_mask is None else ops.logical_or(made_mask, mask)
        made = choice(made, x)
    if made_mask is not None:
        set_keras_mask(made, ops.any(made_mask, -1))
    return made
