"""Layers that trade channels for pixels."""
from dragon.vm.torch.nn.modules._applied import Applied


class PixelShuffle(Applied, call="pixel_shuffle(input; upscale_factor)"):
    """Make an image larger and its channels fewer: `(N, C * r * r, H, W)` becomes `(N, C, H * r, W * r)`.

    Parameters
    ----------
    upscale_factor : int
        The factor `r`.

    Examples
    --------
    >>> nn.PixelShuffle(2)(torch.zeros(1, 12, 4, 4)).shape
    torch.Size([1, 3, 8, 8])

    """


class PixelUnshuffle(Applied, call="pixel_unshuffle(input; downscale_factor)"):
    """Make an image smaller and its channels more by a factor."""
