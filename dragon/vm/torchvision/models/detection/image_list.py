"""Images of several sizes in one batch."""


class ImageList:
    """A batch of padded images, and their sizes before padding.

    Parameters
    ----------
    tensors : Tensor
        The batch (N, C, H, W).
    image_sizes : List[Tuple[int, int]]
        Height and width of each.

    """

    def __init__(self, tensors, image_sizes):
        self.tensors, self.image_sizes = tensors, image_sizes

    def to(self, device):
        """Return the same images on a device."""
        return ImageList(self.tensors.to(device), self.image_sizes)
