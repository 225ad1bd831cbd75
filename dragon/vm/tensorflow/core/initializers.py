"""`tf.constant_initializer`: unlike Keras's it fills a shape as `tf.constant` does, and knows parts of variables."""
from dragon.vm.keras.initializers import Constant as _KerasConstant
from dragon.vm.shared.arrays.creation import constant

_OF_PARTS = ("partition_shape", "partition_offset")


class Constant(_KerasConstant):
    """The same number everywhere, or as many numbers as there are places.

    Parameters
    ----------
    value : Any, optional, default=0
        A number, or a list of as many as the shape holds.
    support_partition : bool, optional, default=False
        Whether calls may name the part of a variable that is made.

    Examples
    --------
    >>> tf.constant_initializer([1, 2, 3, 4])([2, 2], tf.int32).numpy().tolist()
    [[1, 2], [3, 4]]

    """

    def __init__(self, value=0, support_partition=False):
        super().__init__(value)
        self.support_partition = support_partition

    def __call__(self, shape, dtype=None, **kwargs):
        for name in kwargs:
            if name not in _OF_PARTS:
                raise TypeError(f"Keyword argument should be one of {list(_OF_PARTS)}. Received: {name}")
        if kwargs and not self.support_partition:
            raise ValueError("Constant initializer doesn't support partition-related arguments")
        return constant(self.value, dtype, shape)

    def get_config(self):
        """Return the value."""
        return {"value": self.value}

    @classmethod
    def from_config(cls, config):
        """Return the initializer that `get_config` described."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})
