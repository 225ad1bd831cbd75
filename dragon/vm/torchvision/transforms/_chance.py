"""The transforms of the first version that choose, cut, flip and colour at random."""
import random
from collections.abc import Sequence

from dragon.vm import torch
from dragon.vm.torchvision.transforms import functional as F
from dragon.vm.torchvision.transforms._arguments import _setup_size, below
from dragon.vm.torchvision.transforms._plain import Module, _Transform, lines_of


class RandomTransforms:
    """A list of transforms, of which subclasses choose."""

    def __init__(self, transforms):
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}: has no __call__")

    def __repr__(self):
        return lines_of(self.__class__.__name__, self.transforms)


class RandomApply(Module):
    """Apply all of a list of transforms, or none.

    Parameters
    ----------
    p : float, optional, default=0.5
        The probability of applying them.

    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img):
        if self.p < torch.rand(1):
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return lines_of(self.__class__.__name__, [f"p={self.p}", *self.transforms])


class RandomOrder(RandomTransforms):
    """Apply transforms in random order."""

    def __call__(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for index in order:
            img = self.transforms[index](img)
        return img


class RandomChoice(RandomTransforms):
    """Apply one of several transforms.

    Parameters
    ----------
    p : Sequence[float], optional
        Their probabilities.

    """

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"


class RandomCrop(_Transform):
    """Cut out a random part.

    Parameters
    ----------
    padding, fill, padding_mode : optional
        The margin that is put around before, as for `Pad`.
    pad_if_needed : bool, optional, default=False
        Whether an image that is too small gets a margin.

    """

    _fields = ("size", "padding")

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = tuple(_setup_size(size))
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    @staticmethod
    def get_params(img, output_size):
        """Return a random (top, left, height, width)."""
        (_, h, w), (th, tw) = F.get_dimensions(img), output_size
        if h < th or w < tw:
            raise ValueError(f"Required crop size {(th, tw)} is larger than input image size {(h, w)}")
        if (w, h) == (tw, th):
            return 0, 0, h, w
        return below(h - th + 1), below(w - tw + 1), th, tw

    def forward(self, img):
        def padded(img, padding):
            return F.pad(img, padding, self.fill, self.padding_mode)
        if self.padding is not None:
            img = padded(img, self.padding)
        _, height, width = F.get_dimensions(img)
        if self.pad_if_needed and width < self.size[1]:
            img = padded(img, [self.size[1] - width, 0])
        if self.pad_if_needed and height < self.size[0]:
            img = padded(img, [0, self.size[0] - height])
        return F.crop(img, *self.get_params(img, self.size))


class _Sometimes(_Transform):
    """Apply `_function` with a probability, to an image and the other fields."""

    _fields = ("p",)

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        if torch.rand(1) >= self.p:
            return img
        return type(self)._function(img, *(getattr(self, name) for name in self._fields if name != "p"))


class RandomHorizontalFlip(_Sometimes):
    """Exchange left and right with a probability `p`."""

    _function = F.hflip


class RandomVerticalFlip(_Sometimes):
    """Exchange top and bottom with a probability `p`."""

    _function = F.vflip


class RandomInvert(_Sometimes):
    """Make the negative with a probability `p`."""

    _function = F.invert


class RandomAutocontrast(_Sometimes):
    """Stretch from black to white with a probability `p`."""

    _function = F.autocontrast


class RandomEqualize(_Sometimes):
    """Flatten the histogram with a probability `p`."""

    _function = F.equalize


class RandomPosterize(_Sometimes, takes="bits, p=0.5"):
    """Keep fewer bits per channel with a probability `p`."""

    _function, _fields, _separator = F.posterize, ("bits", "p"), ","


class RandomSolarize(_Sometimes, takes="threshold, p=0.5"):
    """Invert values from a threshold on with a probability `p`."""

    _function, _fields, _separator = F.solarize, ("threshold", "p"), ","


class RandomAdjustSharpness(_Sometimes, takes="sharpness_factor, p=0.5"):
    """Sharpen or blur with a probability `p`."""

    _function, _fields, _separator = F.adjust_sharpness, ("sharpness_factor", "p"), ","


class RandomGrayscale(_Sometimes, takes="p=0.1"):
    """Make grey, in as many channels, with a probability `p`."""

    @staticmethod
    def _function(img):
        return F.rgb_to_grayscale(img, num_output_channels=F.get_dimensions(img)[0])
