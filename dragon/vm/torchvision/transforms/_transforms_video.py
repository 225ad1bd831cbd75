"""Transforms of clips of videos, as old programs import them."""
import random

from dragon.core import warnings
from dragon.vm.torchvision.transforms import _functional_video as F
from dragon.vm.torchvision.transforms.transforms import RandomCrop, RandomResizedCrop

warnings.warn("The 'torchvision.transforms._transforms_video' module is deprecated since 0.12 and will be removed in "
              "the future. Please use the 'torchvision.transforms' module instead.")


class RandomCropVideo(RandomCrop):
    """Take a random part of a clip.

    Parameters
    ----------
    size : Union[int, Tuple[int, int]]
        Height and width.

    """

    def __init__(self, size):
        self.size = (size, size) if isinstance(size, (int, float)) else size

    def __call__(self, clip):
        return F.crop(clip, *self.get_params(clip, self.size))

    def __repr__(self):
        return f"{self.__class__.__name__}(size={self.size})"


class RandomResizedCropVideo(RandomResizedCrop):
    """Take a random part of a clip, in another size.

    Parameters
    ----------
    size : Union[int, Tuple[int, int]]
        Height and width.
    scale, ratio : Tuple[float, float], optional
        As for `RandomResizedCrop`.
    interpolation_mode : str, optional, default="bilinear"
        As for `torch.nn.functional.interpolate`.

    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation_mode="bilinear"):
        if isinstance(size, tuple) and len(size) != 2:
            raise ValueError(f"size should be tuple (height, width), instead got {size}")
        self.size = size if isinstance(size, tuple) else (size, size)
        self.scale, self.ratio, self.interpolation_mode = scale, ratio, interpolation_mode

    def __call__(self, clip):
        return F.resized_crop(clip, *self.get_params(clip, self.scale, self.ratio), self.size, self.interpolation_mode)

    def __repr__(self):
        return (f"{self.__class__.__name__}(size={self.size}, interpolation_mode={self.interpolation_mode}, "
                f"scale={self.scale}, ratio={self.ratio})")


class CenterCropVideo:
    """Take the middle of a clip.

    Parameters
    ----------
    crop_size : Union[int, Tuple[int, int]]
        Height and width.

    """

    def __init__(self, crop_size):
        self.crop_size = (crop_size, crop_size) if isinstance(crop_size, (int, float)) else crop_size

    def __call__(self, clip):
        return F.center_crop(clip, self.crop_size)

    def __repr__(self):
        return f"{self.__class__.__name__}(crop_size={self.crop_size})"


class NormalizeVideo:
    """Take off each channel's mean and divide by its deviation.

    Parameters
    ----------
    mean, std : Tuple[float, float, float]
        One for each channel.
    inplace : bool, optional, default=False
        Whether to write into the clip.

    """

    def __init__(self, mean, std, inplace=False):
        self.mean, self.std, self.inplace = mean, std, inplace

    def __call__(self, clip):
        return F.normalize(clip, self.mean, self.std, self.inplace)

    def __repr__(self):
        return f"{self.__class__.__name__}(mean={self.mean}, std={self.std}, inplace={self.inplace})"


class ToTensorVideo:
    """Turn a clip of bytes (T, H, W, C) into floats between 0 and 1 (C, T, H, W)."""

    def __call__(self, clip):
        return F.to_tensor(clip)

    def __repr__(self):
        return self.__class__.__name__


class RandomHorizontalFlipVideo:
    """Exchange left and right at times.

    Parameters
    ----------
    p : float, optional, default=0.5
        How often.

    """

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, clip):
        return F.hflip(clip) if random.random() < self.p else clip

    def __repr__(self):
        return f"{self.__class__.__name__}(p={self.p})"
