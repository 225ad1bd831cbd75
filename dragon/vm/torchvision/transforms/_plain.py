"""The transforms of the first version that draw nothing."""
import numbers
from collections.abc import Sequence

from dragon.vm import torch
from dragon.vm.torch.nn.modules._applied import Keeping
from dragon.vm.torchvision.transforms import functional as F
from dragon.vm.torchvision.transforms._arguments import _setup_size
from dragon.vm.torchvision.transforms.functional import InterpolationMode, _interpolation_modes_from_int

Module = torch.nn.Module


def lines_of(name, items):
    """Return a name and items, one on each line, as containers print themselves."""
    return f"{name}(" + "".join(f"\n    {item}" for item in items) + "\n)"


class _Said:
    """Print the class and the fields that it names."""

    _fields = ()
    _separator = ", "

    def __repr__(self):
        said = self._separator.join(f"{name}={getattr(self, name)}" for name in self._fields)
        return f"{self.__class__.__name__}({said})"


class _Transform(_Said, Keeping):
    """A transform that is a module."""


class Compose:
    """Apply one transform after another. ..."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return lines_of(self.__class__.__name__, self.transforms)


class ToTensor(_Said):
    """Turn an image into a tensor (C, H, W), bytes into floats from 0 to 1."""

    def __call__(self, pic):
        return F.to_tensor(pic)


class PILToTensor(_Said):
    """Turn an image of Pillow into a tensor (C, H, W), values as they are."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)


class ConvertImageDtype(Keeping, takes="dtype"):
    """Turn a tensor into another dtype, with values scaled to its range.

    Parameters
    ----------
    dtype : dtype
        The dtype.

    """

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class ToPILImage:
    """Turn a tensor (C, H, W), or an array (H, W, C), into an image of Pillow.

    Parameters
    ----------
    mode : str, optional
        Its mode.

    """

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return f"{self.__class__.__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class Normalize(_Transform):
    """Take each channel's mean off and divide by its deviation.

    Parameters
    ----------
    mean, std : Sequence[float]
        One for each channel.

    """

    _fields = ("mean", "std")

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)


def _mode(interpolation):
    return _interpolation_modes_from_int(interpolation) if isinstance(interpolation, int) else interpolation


class Resize(_Transform):
    """Bring an image to a size.

    Parameters
    ----------
    size, interpolation, max_size, antialias
        As for `functional.resize`.

    """

    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size, self.max_size, self.interpolation, self.antialias = size, max_size, _mode(interpolation), antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (f"{self.__class__.__name__}(size={self.size}, interpolation={self.interpolation.value}, "
                f"max_size={self.max_size}, antialias={self.antialias})")


class CenterCrop(_Transform):
    """Cut out the middle. ..."""

    _fields = ("size",)

    def __init__(self, size):
        super().__init__()
        self.size = _setup_size(size)

    def forward(self, img):
        return F.center_crop(img, self.size)


class Pad(_Transform):
    """Put a margin around.

    Parameters
    ----------
    padding : Union[int, Sequence[int]]
        All sides; left and right, top and bottom; or left, top, right, bottom.
    fill : Union[float, Sequence[float]], optional, default=0
        The colour.
    padding_mode : str, optional, default="constant"
        "constant", "edge", "reflect" or "symmetric".

    """

    _fields = ("padding", "fill", "padding_mode")

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        if not isinstance(fill, (numbers.Number, tuple, list)):
            raise TypeError("Got inappropriate fill arg")
        F.F_pil.check_padding(padding, fill, padding_mode)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Lambda(_Said):
    """Apply a function.

    Parameters
    ----------
    lambd : Callable
        The function.

    """

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {repr(type(lambd).__name__)}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)
