"""Division by the length."""
from dragon.vm.keras.core.settings import require_axes
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


def unit(x, axis=None, epsilon=1e-7):
    """Divide by the Euclidean length along axes, or of all elements, but at least by `epsilon`."""
    square = ops.sum(ops.square(x), axis, axis is not None)
    return ops.mul(x, ops.rsqrt(ops.clamp(square, epsilon * epsilon)))


class UnitNormalization(Layer):
    """Divide by the Euclidean length along axes.

    Parameters
    ----------
    axis : Union[int, Sequence[int]], optional, default=-1
        The axes.

    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError("Invalid value for `axis` argument: expected an int or a list/tuple of ints. Received: "
                            f"axis={axis}")
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.supports_masking = True
        self._build_at_init()

    def call(self, inputs):
        return unit(inputs, self.axis, 1e-12)

    def compute_output_shape(self, input_shape):
        require_axes(self.axis, input_shape)
        return input_shape
