"""The exponential linear unit as a layer."""
from dragon.vm.keras import activations
from dragon.vm.keras.layers.activations.elementwise import Elementwise


class ELU(Elementwise):
    """Bend negative numbers into `alpha * (exp(x) - 1)`.

    Parameters
    ----------
    alpha : float, optional, default=1.0
        The limit, negated, that negative numbers tend to.

    """

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha
        self._build_at_init()

    def call(self, inputs):
        return activations.elu(inputs, alpha=self.alpha)
