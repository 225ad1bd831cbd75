"""The rectifier as a layer."""
from dragon.vm.keras import activations
from dragon.vm.keras.layers.activations.elementwise import Elementwise


def require_not_negative(name, value):
    """Raise for a number below zero, or None."""
    if value is None or value < 0.0:
        raise ValueError(f"{name} of a ReLU layer cannot be None or a negative value. Received: {name}={value}")


class ReLU(Elementwise):
    """Replace numbers below a threshold by zero, or by a slope times their distance, and cut off above a limit.

    Parameters
    ----------
    max_value : float, optional
        The limit.
    negative_slope, threshold : float, optional, default=0.0
        The slope and the threshold.

    """

    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of a ReLU layer cannot be a negative value. Received: max_value={max_value}")
        require_not_negative("negative_slope", negative_slope)
        require_not_negative("threshold", threshold)
        self.max_value = max_value
        self.negative_slope = negative_slope
        self.threshold = threshold
        self._build_at_init()

    def call(self, inputs):
        return activations.relu(inputs, negative_slope=self.negative_slope, max_value=self.max_value,
                                threshold=self.threshold)
