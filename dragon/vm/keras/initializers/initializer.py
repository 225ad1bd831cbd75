"""What all initializers share."""


class Initializer:
    """Base of initializers: called with a shape and a dtype, it returns what a weight starts with."""

    def __call__(self, shape, dtype=None):
        """Return what a weight of that shape starts with."""
        raise NotImplementedError(f"{type(self).__name__}: an initializer needs a method __call__(shape, dtype=None)")

    def get_config(self):
        """Return the arguments that make the same initializer again."""
        return {}

    @classmethod
    def from_config(cls, config):
        """Return the initializer that `get_config` described."""
        return cls(**config)

    def clone(self):
        """Return another one like it."""
        return self.__class__.from_config(self.get_config())
