"""Layers that trade channels for pixels."""
from dragon.vm.torch.nn.modules._applied import Applied


class PixelShuffle(Applied, call="pixel_shuffle(input; upscale_factor)"):
    """Make an image larger and its channels fewer by a factor."""


class PixelUnshuffle(Applied, call="pixel_unshuffle(input; downscale_factor)"):
    """Make an image smaller and its channels more by a factor."""
