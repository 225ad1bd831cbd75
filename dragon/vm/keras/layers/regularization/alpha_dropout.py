"""The dropout that goes with SELU."""
from dragon.vm.keras.layers.regularization.noise import Noise
from dragon.vm.shared.tensors.tensor import ops

# The limit that SELU tends to.
LIMIT = -1.6732632423543772 * 1.0507009873554805


class AlphaDropout(Noise):
    """Set elements to SELU's lower limit with a probability in training, keeping mean and variance. ..."""

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(rate, seed, **kwargs)
        self.noise_shape = noise_shape

    def disturbed(self, inputs):
        """Return the inputs with elements replaced."""
        from dragon.vm.keras.random import uniform
        shape = tuple(inputs.shape)
        if self.noise_shape is not None:
            shape = tuple(ours if given is None else given for ours, given in zip(shape, self.noise_shape))
        kept = ops.ge(uniform(shape, seed=self.seed_generator), self.rate)
        factor = ((1 - self.rate) * (1 + self.rate * LIMIT ** 2)) ** -0.5
        made = ops.where(kept, inputs, ops.full((), LIMIT, dtype=inputs.dtype))
        return ops.add(ops.mul(made, factor), -factor * LIMIT * self.rate)
