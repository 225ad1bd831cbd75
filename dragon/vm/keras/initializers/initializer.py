"""The parts that all initializers share."""
from dragon.vm.keras.core.configuration import Configured


class Initializer(Configured):
    """Base of initializers: called with a shape and a dtype, it returns what a weight starts with."""

    def __call__(self, shape, dtype=None):
        """Return what a weight of that shape starts with."""
        raise NotImplementedError(f"{type(self).__name__}: an initializer needs a method __call__(shape, dtype=None)")

    def get_config(self):
        """Return the arguments that make an equal one: none."""
        return {}

    def clone(self):
        """Return another one like it."""
        return self.__class__.from_config(self.get_config())
