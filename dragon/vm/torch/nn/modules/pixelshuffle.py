"""Layers that trade channels for pixels."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


class PixelShuffle(Module):
    """Make an image larger and its channels fewer by a factor."""

    __constants__ = ["upscale_factor"]

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        """Return the larger image."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        """Return the factor as text."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Make an image smaller and its channels more by a factor."""

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        """Return the smaller image."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        """Return the factor as text."""
        return f"downscale_factor={self.downscale_factor}"
