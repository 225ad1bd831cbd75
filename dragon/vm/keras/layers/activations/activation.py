"""Any activation as a layer."""
from dragon.vm.keras import activations
from dragon.vm.keras.layers.activations.elementwise import Elementwise


class Activation(Elementwise):
    """Apply an activation.

    Parameters
    ----------
    activation : Union[str, Callable]
        The function, or its name.

    """

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self._build_at_init()

    def call(self, inputs):
        return self.activation(inputs)
