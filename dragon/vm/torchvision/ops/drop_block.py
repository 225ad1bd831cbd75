"""Dropping of blocks of pixels."""
import math

from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torch.nn.modules._applied import Applied

F = torch.nn.functional


def _drop(input, p, block_size, inplace, eps, training, rank):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != rank + 2:
        raise ValueError(f"input should be {rank + 2} dimensional. Got {input.ndim} dimensions.")
    if not training or p == 0.0:
        return input
    sizes = input.shape[2:]
    block_size = min(block_size, *sizes)
    if block_size % 2 == 0:
        raise ValueError(f"block size should be odd. Got {block_size} which is even.")
    centres = [size - block_size + 1 for size in sizes]
    gamma = p * math.prod(sizes) / (block_size ** rank * math.prod(centres))
    noise = torch.empty((*input.shape[:2], *centres), dtype=input.dtype, device=input.device).bernoulli_(gamma)
    noise = F.pad(noise, [block_size // 2] * (2 * rank), value=0)
    pool = F.max_pool2d if rank == 2 else F.max_pool3d
    noise = 1 - pool(noise, stride=1, kernel_size=block_size, padding=block_size // 2)
    scale = noise.numel() / (eps + noise.sum())
    return input.mul_(noise).mul_(scale) if inplace else input * noise * scale


def drop_block2d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Return images with square blocks zeroed at random and the rest scaled up."""
    return _drop(input, p, block_size, inplace, eps, training, 2)


def drop_block3d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Return volumes with cubes zeroed at random and the rest scaled up."""
    return _drop(input, p, block_size, inplace, eps, training, 3)


wrap("drop_block2d")
wrap("drop_block3d")


class DropBlock2d(Applied, call="drop_block2d(input; p, block_size, inplace=False, eps=1e-06, "
                                "training=self.training)"):
    """Drop square blocks of images while training.

    Parameters
    ----------
    p : float
        The share that is dropped.
    block_size : int
        The side of a block.
    inplace : bool, optional, default=False
        Whether to write into the input.
    eps : float, optional, default=1e-06
        Keeps the scale finite.

    """

    def __repr__(self):
        return f"{self.__class__.__name__}(p={self.p}, block_size={self.block_size}, inplace={self.inplace})"


class DropBlock3d(DropBlock2d, call="drop_block3d(input; training=self.training)"):
    """Drop cubes of volumes while training."""
