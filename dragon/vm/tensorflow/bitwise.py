"""`tf.bitwise`: integers as rows of bits."""
from dragon.vm.tensorflow.core.numbers import elementwise as _elementwise

globals().update((_name, getattr(_elementwise, _name)) for _name in (
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"))
