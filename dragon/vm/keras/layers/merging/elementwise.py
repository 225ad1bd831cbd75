"""Sums, differences, products, means, maxima and minima of several tensors."""
from dragon.vm.keras.core.masking import get_keras_mask, set_keras_mask
from dragon.vm.keras.layers.merging.merge import Merge, choose, wide_mask
from dragon.vm.shared.tensors.tensor import ops


def total(inputs):
    """Add tensors."""
    made = inputs[0]
    for x in inputs[1:]:
        made = ops.add(made, x)
    return made


class Add(Merge):
    """Add tensors. ...

    Examples
    --------
    >>> np.asarray(keras.layers.Add()([np.array([1.0, 2.0], "float32"), np.array([10.0, 20.0], "float32")]))
    array([11., 22.], dtype=float32)

    """

    function = "add"

    def merge(self, inputs):
        """Return the sum."""
        return total(inputs)


class Average(Merge):
    """Take the mean of tensors."""

    function = "add"

    def merge(self, inputs):
        """Return the mean."""
        return total(inputs) / len(inputs)

    def merge_parted(self, inputs):
        from dragon.vm.keras import ops
        return ops.divide(super().merge_parted(inputs), len(inputs))


class Maximum(Merge):
    """Take the larger elements."""

    function = "maximum"

    def merge(self, inputs):
        """Return the maxima."""
        return choose(ops.maximum, inputs)


class Minimum(Merge):
    """Take the smaller elements."""

    function = "minimum"

    def merge(self, inputs):
        """Return the minima."""
        return choose(ops.minimum, inputs)


class Multiply(Merge):
    """Multiply tensors; masked steps count as 1, and as 0 where all are masked."""

    function = "multiply"

    def merge(self, inputs):
        """Return the product."""
        masks = [get_keras_mask(x) for x in inputs]
        whole = all(mask is not None for mask in masks)
        made = made_mask = None
        for x, mask in zip(inputs, masks):
            if mask is not None:
                mask = wide_mask(x, mask)
                x = ops.where(mask, x, ops.ones_like(x))
                made_mask = mask if made_mask is None else ops.logical_or(made_mask, mask)
            made = x if made is None else ops.mul(made, x)
        if whole:
            made = ops.where(made_mask, made, ops.zeros_like(made))
            set_keras_mask(made, ops.any(made_mask, -1))
        return made


class Subtract(Merge):
    """Subtract the second of two tensors from the first."""

    function = "subtract"

    def build(self, input_shape):
        """Check the shapes."""
        super().build(input_shape)
        self.require_two("input_shape", input_shape)

    def require_two(self, name, values):
        """Raise unless there are two of something."""
        if len(values) != 2:
            raise ValueError(f"A `Subtract` layer should be called on exactly 2 inputs. Received: {name}={values}")

    def merge(self, inputs):
        """Return the difference."""
        self.require_two("inputs", inputs)
        return ops.sub(inputs[0], inputs[1])
