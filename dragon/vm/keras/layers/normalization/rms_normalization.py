"""Division by the root mean square, as language models prefer it."""
from dragon.vm.keras.core.promotion import cast_to, dtype_of
from dragon.vm.keras.core.settings import require_axes
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.normalization.scaled import like, wide
from dragon.vm.shared.tensors.tensor import ops


class RMSNormalization(Layer):
    """Divide by the root of the mean square along axes, then scale.

    Parameters
    ----------
    axis : Union[int, Sequence[int]], optional, default=-1
        The axes whose mean is taken.
    epsilon : float, optional, default=1e-6
        Added to the mean square.

    """

    def __init__(self, axis=-1, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.epsilon = epsilon

    def build(self, input_shape):
        """Make the scale."""
        self.axis = sorted(self.axis) if isinstance(self.axis, (list, tuple)) else [self.axis]
        self.scale = self.add_weight(name="scale", shape=tuple(input_shape[axis] for axis in self.axis),
                                     initializer="ones")
        self.built = True

    def call(self, x):
        given, x = dtype_of(x), wide(x)
        scale, axes = like(self.scale, x), [axis % x.ndim for axis in self.axis]
        if axes == list(range(x.ndim - len(axes), x.ndim)):
            return cast_to(ops.rms_norm(x, [x.shape[axis] for axis in axes], scale, self.epsilon), given)
        factor = ops.rsqrt(ops.add(ops.mean(ops.square(x), axes, True), self.epsilon))
        # Wherever the axes are, the scale lies along the last ones.
        return cast_to(ops.mul(ops.mul(x, factor), scale), given)

    def compute_output_shape(self, input_shape):
        require_axes(self.axis, input_shape)
        return input_shape
