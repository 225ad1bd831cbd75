"""The leaky rectifier as a layer."""

from dragon.core import warnings
from dragon.vm.keras import activations
from dragon.vm.keras.layers.activations.elementwise import Elementwise


class LeakyReLU(Elementwise):
    """Scale negative numbers by a slope.

    Parameters
    ----------
    negative_slope : float, optional, default=0.3
        The slope.

    Examples
    --------
    >>> np.asarray(keras.layers.LeakyReLU(negative_slope=0.5)(np.array([-2.0, 4.0], "float32")))
    array([-1.,  4.], dtype=float32)

    """

    def __init__(self, negative_slope=0.3, **kwargs):
        if "alpha" in kwargs:
            negative_slope = kwargs.pop("alpha")
            warnings.warn("Argument `alpha` is deprecated. Use `negative_slope` instead.")
        super().__init__(**kwargs)
        if negative_slope is None or negative_slope < 0:
            raise ValueError("The negative_slope value of a Leaky ReLU layer cannot be None or negative value. "
                             f"Expected a float. Received: negative_slope={negative_slope}")
        self.negative_slope = negative_slope
        self._build_at_init()

    def call(self, inputs):
        return activations.leaky_relu(inputs, negative_slope=self.negative_slope)
