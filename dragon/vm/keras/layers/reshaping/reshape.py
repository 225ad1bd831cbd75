"""Other shapes for the same numbers."""
import math

from dragon.vm.keras.core.config import standardize_data_format
from dragon.vm.keras.core.convert import is_parted
from dragon.vm.keras.core.shape_rules import resolved_shape, validate_reshape_shape
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


class SameDtype(Layer):
    """A layer whose result has the dtype of its input, whatever the policy says."""

    def compute_output_spec(self, inputs):
        from dragon.vm.keras.core.keras_tensor import KerasTensor
        return KerasTensor(self.compute_output_shape(inputs.shape), dtype=inputs.dtype)


class Reshape(SameDtype):
    """Give samples another shape.

    Parameters
    ----------
    target_shape : Sequence[int]
        Without the batch; one size may be -1.

    Examples
    --------
    >>> tuple(keras.layers.Reshape((2, -1))(np.zeros((8, 6))).shape)
    (8, 2, 3)

    """

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        target_shape = tuple(target_shape)
        validate_reshape_shape(target_shape, "target_shape")
        self.target_shape = target_shape
        self.built = True

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *resolved_shape(input_shape[1:], self.target_shape))

    def call(self, inputs):
        made = resolved_shape(tuple(inputs.shape)[1:], self.target_shape)
        return ops.reshape(inputs, (inputs.shape[0], *(-1 if size is None else size for size in made)))


class Flatten(SameDtype):
    """Give samples one axis.

    Parameters
    ----------
    data_format : str, optional
        With "channels_first" channels are moved to the end first; `keras.config.image_data_format()` if None.

    Examples
    --------
    >>> tuple(keras.layers.Flatten()(np.zeros((8, 4, 4, 3))).shape)
    (8, 48)

    """

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        if is_parted(inputs):
            from dragon.vm.keras.ops import reshape
            return reshape(inputs, self.compute_output_shape(tuple(inputs.shape)))
        if self.data_format == "channels_first" and inputs.ndim > 1:
            inputs = ops.movedim(inputs, 1, -1)
        return ops.reshape(inputs, self.compute_output_shape(tuple(inputs.shape)))

    def compute_output_shape(self, input_shape):
        rest = input_shape[1:]
        return input_shape[0], None if None in rest else math.prod(rest)


class Permute(SameDtype):
    """Put the axes of samples in another order; nothing is copied.

    Parameters
    ----------
    dims : Sequence[int]
        The axes in their new order, counted from 1, as the batch stays in front.

    """

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError("Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must "
                             f"be consecutive and start from 1. Received dims={dims}")
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs):
        return ops.permuted(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape):
        return tuple(input_shape[axis] for axis in (0, *self.dims))


class RepeatVector(Layer):
    """Give every step of a sequence the same vector.

    Parameters
    ----------
    n : int
        How many steps.

    """

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(n, int) or isinstance(n, bool):
            raise TypeError(f"Expected an integer value for `n`. Received: n={n} of type {type(n)}.")
        if n <= 0:
            raise ValueError(f"Argument `n` should be a positive integer. Received: n={n}")
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs):
        batch, size = inputs.shape
        return ops.expand(ops.unsqueeze(inputs, 1), (batch, self.n, size))

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.n, input_shape[1]
