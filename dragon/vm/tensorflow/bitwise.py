"""`tf.bitwise`: integers as rows of bits."""
from dragon.vm.shared.arrays.moving import take as _take
from dragon.vm.shared.tensors.operators import INTEGERS as _INTEGERS, refuse_dtype as _refuse_dtype
from dragon.vm.shared.tensors.tensor import ops as _ops
from dragon.vm.tensorflow.core.numbers.rows import fill as _fill

_fill(globals(), unary="", binary="""
bitwise_and bitwise_and i BitwiseAnd the bits that both have
bitwise_or bitwise_or i BitwiseOr the bits that one or both have
bitwise_xor bitwise_xor i BitwiseXor the bits that one has and the other has not
left_shift bitwise_left_shift i LeftShift x with its bits moved up by y
right_shift bitwise_right_shift i RightShift x with its bits moved down by y
""")


def invert(x, name=None):
    """Return the integers with all bits changed."""
    x = _take(x)
    if x.dtype not in _INTEGERS:
        raise _refuse_dtype("Invert", x.dtype)
    return _ops.bitwise_not(x)
