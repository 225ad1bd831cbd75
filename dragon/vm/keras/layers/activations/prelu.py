"""The leaky rectifier whose slopes are trained."""
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


class PReLU(Layer):
    """Scale negative numbers by trained slopes, one for each place of a sample.

    Parameters
    ----------
    alpha_initializer, alpha_regularizer, alpha_constraint : optional
        Of the slopes, as for `Dense`.
    shared_axes : Union[int, Sequence[int]], optional
        Axes, counted from 1, along which one slope serves all places.

    """

    def __init__(self, alpha_initializer="Zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None,
                 **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        store(self, locals(), weights="alpha")
        if shared_axes is not None:
            shared_axes = list(shared_axes) if isinstance(shared_axes, (list, tuple)) else [shared_axes]
        self.shared_axes = shared_axes

    def build(self, input_shape):
        """Make the slopes."""
        shared = self.shared_axes or []
        shape = list(input_shape[1:])
        for axis in shared:
            shape[axis - 1] = 1
        self.alpha = self.add_weight(
            name="alpha", shape=shape, initializer=self.alpha_initializer, regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint)
        axes = {axis: size for axis, size in enumerate(input_shape) if axis and axis not in shared} if shared else {}
        self.input_spec = InputSpec(ndim=len(input_shape), axes=axes)
        self.built = True

    def call(self, inputs):
        return ops.broadcast_prelu(inputs, self.alpha.value)

    def compute_output_shape(self, input_shape):
        return input_shape
