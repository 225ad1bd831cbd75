"""Sobol's sequence: the scrambling of its direction numbers, and the points they give."""
from dragon.core.sobol import MAXBIT, direction_numbers, gray
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.tensor import ops

INT64 = OBJECTS["int64"]


@function
def _sobol_engine_initialize_state_(input, dimension):
    """Write the direction numbers of some dimensions."""
    return input.copy_(as_tensor(direction_numbers(dimension)))


@function
def _sobol_engine_scramble_(input, ltm, dimension):
    """Multiply the direction numbers' bits, the highest first, with a triangular matrix of bits for each dimension."""
    steps = ops.arange(MAXBIT - 1, -1, -1)
    bits = ops.bitwise_and(ops.bitwise_right_shift(input.unsqueeze(1), steps.unsqueeze(1)), 1)
    matrix = ltm.clone()
    matrix.diagonal(0, -2, -1).fill_(1)
    # Sums of thirty bits are exact in single precision.
    parity = ops.matmul(matrix.float(), bits.float()).to(INT64).remainder(2)
    return input.copy_(ops.bitwise_left_shift(parity, steps.unsqueeze(1)).sum(1))


@function
def _sobol_engine_ff_(input, n, sobolstate, dimension, num_generated):
    """Take the last point to the one that comes `n` later."""
    changed = gray(num_generated + n) ^ gray(num_generated)
    for bit in range(changed.bit_length()):
        if changed >> bit & 1:
            input.bitwise_xor_(sobolstate[:, bit])
    return input


@function
def _sobol_engine_draw(quasi, n, sobolstate, dimension, num_generated, dtype):
    """Return the points that follow, as numbers of a dtype in [0, 1), and the last of them as an integer."""
    # Point i differs from the one that was last by the direction numbers of the bits in which their Gray codes differ.
    codes = ops.arange(num_generated + 1, num_generated + n + 1)
    codes = ops.bitwise_xor(ops.bitwise_xor(codes, ops.bitwise_right_shift(codes, 1)), gray(num_generated))
    points = quasi.expand(n, dimension).clone()
    for bit in range((num_generated + n).bit_length()):
        wanted = ops.bitwise_and(ops.bitwise_right_shift(codes, bit), 1).unsqueeze(1)
        points.bitwise_xor_(wanted * sobolstate[:, bit])
    last = points[-1].clone() if n else quasi.clone()
    return points.to(dtype).mul_(2.0 ** -MAXBIT), last
