"""A wrapper that keeps the largest singular value of a layer's weight near 1."""
from dragon.core.modes import no_grad
from dragon.vm.keras.core.promotion import cast_to, dtype_of
from dragon.vm.keras.layers.core.wrapper import Wrapper
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.normalization.unit_normalization import unit
from dragon.vm.shared.tensors.tensor import ops


class SpectralNormalization(Wrapper):
    """Divide a layer's weight, in each call in training, by an estimate of its largest singular value.

    Parameters
    ----------
    layer : Layer
        With a `kernel` or `embeddings`.
    power_iterations : int, optional, default=1
        How often the estimate is made better in a call.

    """

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError("`power_iterations` should be greater than zero. Received: "
                             f"`power_iterations={power_iterations}`")
        self.power_iterations = power_iterations

    def build(self, input_shape):
        """Make the vector that the estimate goes on from."""
        from dragon.vm.keras.initializers import TruncatedNormal
        super().build(input_shape)
        self.input_spec = InputSpec(min_ndim=1, axes={-1: input_shape[-1]})
        if hasattr(self.layer, "kernel"):
            self.kernel = self.layer.kernel
        elif hasattr(self.layer, "embeddings"):
            self.kernel = self.layer.embeddings
        else:
            raise ValueError(f"{type(self.layer).__name__} object has no attribute 'kernel' nor 'embeddings'")
        self.kernel_shape = self.kernel.shape
        self.vector_u = self.add_weight(
            shape=(1, self.kernel_shape[-1]), initializer=TruncatedNormal(stddev=0.02), trainable=False,
            name="vector_u", dtype=self.kernel.dtype)
        self.built = True

    def call(self, inputs, training=False):
        if training:
            with no_grad():
                vector, kernel = self.normalized_weights()
                # A weight of zeros has no direction: it stays, and the vector with it.
                zero = ops.logical_not(ops.any(ops.ne(self.kernel.value, 0)))
                self.vector_u.assign(ops.where(zero, self.vector_u.value, vector))
                self.kernel.assign(ops.where(zero, self.kernel.value, kernel))
        return cast_to(self.layer(inputs), dtype_of(inputs))

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def normalized_weights(self):
        """Return the next vector of the estimate, and the weight divided by it."""
        kernel, vector = self.kernel.value, self.vector_u.value
        weights = ops.reshape(kernel, (-1, self.kernel_shape[-1]))
        for _ in range(self.power_iterations):
            other = unit(ops.matmul(vector, ops.permute(weights, (1, 0))))
            vector = unit(ops.matmul(other, weights))
        sigma = ops.matmul(ops.matmul(other, weights), ops.permute(vector, (1, 0)))
        return vector, ops.reshape(ops.div(weights, sigma), self.kernel_shape)
