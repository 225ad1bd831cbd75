"""`hash_tensor`: one number of 64 bits for the elements along axes, by which two tensors can be told apart."""
import math

from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.register import both
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.tensor import Tensor, ops

XOR = 0  # the only way to combine that there is


def _bits(x):
    """Return each element as 64 bits: those of its double, or of its integer with the sign carried on."""
    if x.dtype.is_complex:
        raise NotImplementedError(f"hash_tensor: got a tensor of {x.dtype}, expected real numbers or truth values")
    if x.dtype.is_floating_point:
        return Tensor.view(x.detach().to(OBJECTS["float64"]), OBJECTS["int64"])
    return Tensor.view(x, OBJECTS["int64"]) if x.dtype == OBJECTS["uint64"] else x.to(OBJECTS["int64"])


def _axes(x, dim):
    """Return the axes to reduce, none of them below 0; raise where one is unknown, named twice or empty."""
    if dim is None or isinstance(dim, (list, tuple)) and not dim:
        if x.numel() == 0:
            raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
                               "the reduction dim with the 'dim' argument.")
        return list(range(x.ndim))
    rank, axes = max(x.ndim, 1), []
    for axis in dim if isinstance(dim, (list, tuple)) else [dim]:
        if not -rank <= axis < rank:
            raise IndexError(f"hash_tensor: got dim {axis}, expected {-rank} to {rank - 1}: Dimension out of range")
        if axis % rank in axes:
            raise RuntimeError(f"hash_tensor: got dim {axis % rank} twice, expected each dim once: it appears multiple "
                               "times in the list of dims")
        if x.ndim and x.shape[axis] == 0:
            raise IndexError(f"hash_tensor: Expected reduction dim {axis % rank} to have non-zero size.")
        axes.append(axis % rank)
    return axes if x.ndim else []


def _fold(x):
    """Return all elements of the last axis combined, half of them with the other half as often as it takes."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        folded = ops.bitwise_xor(x[..., :half], x[..., half:2 * half])
        x = ops.cat((folded, x[..., 2 * half:]), -1) if x.shape[-1] % 2 else folded
    return x[..., 0]


@both
def hash_tensor(input, dim=(), *, keepdim=False, mode=XOR, out=None):
    """Return the exclusive or of the elements' bits along axes.

    Numbers count as doubles, integers as themselves in 64 bits, so that equal values of different widths agree.

    Parameters
    ----------
    input : Tensor
        Real numbers, integers or truth values.
    dim : Union[int, Sequence[int]], optional
        The axes; all of them by default.
    keepdim : bool, optional, default=False
        Whether reduced axes stay, with size 1.
    mode : int, optional, default=0
        How bits are combined: 0, exclusive or.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        Of dtype uint64.

    """
    if mode != XOR:
        raise RuntimeError(f"hash_tensor: got mode {mode}, expected 0: Unknown hash_tensor mode: {mode}")
    axes = _axes(input, dim)
    bits = _bits(input)
    kept = [axis for axis in range(input.ndim) if axis not in axes]
    if axes:
        shape = *(input.shape[axis] for axis in kept), math.prod(input.shape[axis] for axis in axes)
        bits = ops.reshape(ops.permute(bits, (*kept, *axes)), shape)
        bits = _fold(bits)
    if keepdim:
        bits = ops.reshape(bits, tuple(1 if axis in axes else size for axis, size in enumerate(input.shape)))
    return deliver(Tensor.view(ops.contiguous(bits), OBJECTS["uint64"]), out)
