"""Layers that cut images into patches and put patches together."""
from dragon.vm.torch.nn.modules._applied import Applied


class Fold(Applied, call="fold(input; output_size, kernel_size, dilation=1, padding=0, stride=1)"):
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


class Unfold(Applied, call="unfold(input; kernel_size, dilation=1, padding=0, stride=1)"):
    """Cut images into patches; see Fold for the parameters."""
