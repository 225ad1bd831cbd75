"""Gaussian noise, by which inputs are multiplied or to which they are added."""
import math

from dragon.vm.keras.layers.regularization.noise import Noise
from dragon.vm.shared.tensors.tensor import ops


def draw(layer, inputs, mean, deviation):
    """Return Gaussian numbers in the shape of the inputs."""
    from dragon.vm.keras.random import normal
    return normal(tuple(inputs.shape), mean=mean, stddev=deviation, dtype=layer.compute_dtype,
                  seed=layer.seed_generator)


class GaussianDropout(Noise):
    """Multiply by Gaussian numbers of mean 1 in training.

    Parameters
    ----------
    rate : float
        Their variance is `rate / (1 - rate)`.

    """

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(rate, seed, **kwargs)

    def disturbed(self, inputs):
        return ops.mul(inputs, draw(self, inputs, 1.0, math.sqrt(self.rate / (1.0 - self.rate))))


class GaussianNoise(Noise, amount_name="stddev"):
    """Add Gaussian numbers of mean 0 in training.

    Parameters
    ----------
    stddev : float
        Their deviation.

    """

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(stddev, seed, **kwargs)

    def disturbed(self, inputs):
        return ops.add(inputs, draw(self, inputs, 0.0, self.stddev))
