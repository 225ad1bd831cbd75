"""The base of layers that draw numbers in training, and do nothing otherwise."""
from dragon.vm.keras.layers.activations.elementwise import Elementwise


def require_fraction(name, value):
    """Raise unless a number is between 0 and 1."""
    if not 0 <= value <= 1:
        raise ValueError(f"Invalid value received for argument `{name}`. Expected a float value between 0 and 1. "
                         f"Received: {name}={value}")


class Noise(Elementwise, amount_name="rate"):
    """A layer that draws numbers in training, unless its amount is 0."""

    def __init__(self, amount, seed, **kwargs):
        from dragon.vm.keras.random import SeedGenerator
        super().__init__(**kwargs)
        require_fraction(self.amount_name, amount)
        setattr(self, self.amount_name, amount)
        self.seed = seed
        if amount > 0:
            self.seed_generator = SeedGenerator(seed)
        self._build_at_init()

    def call(self, inputs, training=False):
        if training and getattr(self, self.amount_name) > 0:
            return self.disturbed(inputs)
        return inputs

    def disturbed(self, inputs):
        """Return the inputs with the noise."""
        raise NotImplementedError(f"{type(self).__name__}: disturbed")

    def get_config(self):
        name = self.amount_name
        return {**super().get_config(), name: getattr(self, name), "seed": self.seed}
