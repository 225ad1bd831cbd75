"""What data sets of images from two eyes stand on."""
import glob
from abc import ABC, abstractmethod

import numpy

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.utils import _read_pfm
from dragon.vm.torchvision.datasets.vision import VisionDataset


class StereoMatchingDataset(ABC, VisionDataset):
    """The base of data sets of (left, right, disparity), and a mask where the files have one.

    Parameters
    ----------
    root : Union[str, Path]
        The folder.
    transforms : Callable, optional
        Takes the pairs of images, of disparities and of masks, and returns the three.

    """

    _has_built_in_disparity_mask = False

    def __init__(self, root, transforms=None):
        super().__init__(root=root)
        self.transforms = transforms
        self._images, self._disparities = [], []

    def _read_img(self, file_path):
        image = Image.open(file_path)
        return image if image.mode == "RGB" else image.convert("RGB")

    def _scan_pairs(self, paths_left_pattern, paths_right_pattern=None):
        """Return pairs of the paths that fit two patterns; without the second, of a path and None."""
        left = sorted(glob.glob(str(paths_left_pattern)))
        right = sorted(glob.glob(str(paths_right_pattern))) if paths_right_pattern else [None] * len(left)
        for found, pattern in ((left, paths_left_pattern), (right, paths_right_pattern)):
            if not found:
                raise FileNotFoundError(f"Could not find any files matching the patterns: {pattern}")
        if len(left) != len(right):
            raise ValueError(f"Found {len(left)} left files but {len(right)} right files using:\n left pattern: "
                             f"{paths_left_pattern}\nright pattern: {paths_right_pattern}\n")
        return list(zip(left, right))

    def _scan(self, images, disparities):
        """Note what fits two pairs of patterns, of images and of disparities, which tests do not have."""
        found = self._scan_pairs(*images)
        self._images += found
        self._disparities += [(None, None)] * len(found) if disparities is None else self._scan_pairs(*disparities)

    @abstractmethod
    def _read_disparity(self, file_path):
        """Return the disparity in a file and the mask of where it holds, or None for either."""

    def __getitem__(self, index):
        images = tuple(map(self._read_img, self._images[index]))
        disparities, masks = zip(*map(self._read_disparity, self._disparities[index]))
        if self.transforms is not None:
            images, disparities, masks = self.transforms(images, disparities, masks)
        masked = self._has_built_in_disparity_mask or masks[0] is not None
        return (*images, disparities[0], masks[0]) if masked else (*images, disparities[0])

    def __len__(self):
        return len(self._images)


def of_picture(path, divisor, dtype=None):
    """Return the disparity (1, H, W) that an image holds times a number."""
    return None if path is None else numpy.asarray(Image.open(path), dtype=dtype)[None] / divisor


def of_pfm(path):
    """Return the disparity (1, H, W) in a file of floats, whose sign tells the eye."""
    return None if path is None else numpy.abs(_read_pfm(path, slice_channels=1))
