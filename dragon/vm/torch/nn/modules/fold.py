"""Layers that cut images into patches and put patches together."""
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module


class Fold(Module):
    """Add patches up to images.

    Parameters
    ----------
    output_size : Union[int, Tuple[int, int]]
        Size of the images.
    kernel_size : Union[int, Tuple[int, int]]
        Size of a patch.
    dilation, padding, stride : Union[int, Tuple[int, int]], optional, default=1, 0, 1
        Step within a patch, zeros around the image, step from patch to patch.

    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        """Return the images."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        """Return the options as text."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in Fold.__constants__)


class Unfold(Module):
    """Cut images into patches; see Fold for the parameters."""

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        """Return the patches."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        """Return the options as text."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in Unfold.__constants__)
