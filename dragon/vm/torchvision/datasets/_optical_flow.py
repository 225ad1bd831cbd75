"""Pairs of frames and how far each pixel moves between them."""
import glob
import itertools
import os
from abc import ABC, abstractmethod
from pathlib import Path

import numpy

from dragon.vm import torch
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import _read_pfm, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset
from dragon.vm.torchvision.io.image import decode_png, read_file


def _sorted(*parts):
    """Return the paths that fit a pattern, in order."""
    return sorted(glob.glob(os.path.join(*parts)))


class FlowDataset(ABC, VisionDataset):
    """The base of data sets of frames: (first, second, movement), and a mask where the files have one.

    Parameters
    ----------
    root : Union[str, Path]
        The folder.
    transforms : Callable, optional
        Takes both images, the movement and the mask, and returns the four.
    loader : Callable, optional
        Opens an image file.

    """

    _has_builtin_flow_mask = False

    def __init__(self, root, transforms=None, loader=default_loader):
        super().__init__(root=root)
        self.transforms, self._loader = transforms, loader
        self._flow_list, self._image_list = [], []

    def _read_img(self, file_name):
        return self._loader(file_name)

    @abstractmethod
    def _read_flow(self, file_name):
        """Return the movement in a file, and the mask if the files have one."""

    def __getitem__(self, index):
        first, second = map(self._read_img, self._image_list[index])
        flow = mask = None
        if self._flow_list:
            flow = self._read_flow(self._flow_list[index])
            if self._has_builtin_flow_mask:
                flow, mask = flow
        if self.transforms is not None:
            first, second, flow, mask = self.transforms(first, second, flow, mask)
        masked = self._has_builtin_flow_mask or mask is not None
        return (first, second, flow, mask) if masked else (first, second, flow)

    def __len__(self):
        return len(self._image_list)

    def __rmul__(self, v):
        return torch.utils.data.ConcatDataset([self] * v)


class Sintel(FlowDataset):
    """Frames of a drawn film; those for tests have no movement.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `Sintel`.
    split : str, optional, default="train"
        "train" or "test".
    pass_name : str, optional, default="clean"
        "clean", "final" or "both": drawn plainly, with blur and fog, or each so.
    transforms, loader : Callable, optional
        As for `KittiFlow`.

    """

    def __init__(self, root, split="train", pass_name="clean", transforms=None, loader=default_loader):
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", valid_values=("train", "test"))
        verify_str_arg(pass_name, "pass_name", valid_values=("clean", "final", "both"))
        folder = Path(root) / "Sintel"
        for name in ("clean", "final") if pass_name == "both" else (pass_name,):
            images = folder / ("training" if split == "train" else split) / name
            for scene in os.listdir(images):
                self._image_list += map(list, itertools.pairwise(_sorted(images, scene, "*.png")))
                if split == "train":
                    self._flow_list += _sorted(folder, "training", "flow", scene, "*.flo")

    def _read_flow(self, file_name):
        return _read_flo(file_name)


class KittiFlow(FlowDataset):
    """Frames from a car, with a mask of where the movement is known.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `KittiFlow`.
    split : str, optional, default="train"
        "train" or "test", which has no movement.
    transforms : Callable, optional
        Takes both images, the movement and the mask, and returns the four.
    loader : Callable, optional
        Opens an image file.

    """

    _has_builtin_flow_mask = True

    def __init__(self, root, split="train", transforms=None, loader=default_loader):
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", valid_values=("train", "test"))
        folder = Path(root) / "KittiFlow" / f"{split}ing"
        first, second = (_sorted(folder, "image_2", f"*_{number}.png") for number in (10, 11))
        if not first or not second:
            raise FileNotFoundError("Could not find the Kitti flow images. Please make sure the directory structure is "
                                    "correct.")
        self._image_list = [list(pair) for pair in zip(first, second)]
        if split == "train":
            self._flow_list = _sorted(folder, "flow_occ", "*_10.png")

    def _read_flow(self, file_name):
        return _read_16bits_png_with_flow_and_valid_mask(file_name)


class FlyingChairs(FlowDataset):
    """Drawn chairs that fly about.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `FlyingChairs`.
    split : str, optional, default="train"
        "train" or "val".
    transforms : Callable, optional
        Takes both images, the movement and None for a mask, and returns the four.

    """

    def __init__(self, root, split="train", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(split, "split", valid_values=("train", "val"))
        folder, splits = Path(root) / "FlyingChairs", "FlyingChairs_train_val.txt"
        images, flows = _sorted(folder, "data", "*.ppm"), _sorted(folder, "data", "*.flo")
        if not os.path.exists(folder / splits):
            raise FileNotFoundError(f"The {splits} file was not found - please download it from the dataset page (see "
                                    "docstring).")
        numbers = numpy.loadtxt(folder / splits, dtype="int32")
        wanted = [place for place in range(len(flows)) if numbers[place] == {"train": 1, "val": 2}[split]]
        self._flow_list = [flows[place] for place in wanted]
        self._image_list = [[images[2 * place], images[2 * place + 1]] for place in wanted]

    def _read_flow(self, file_name):
        return _read_flo(file_name)


class FlyingThings3D(FlowDataset):
    """Drawn things that fly about in space.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `FlyingThings3D`.
    split : str, optional, default="train"
        "train" or "test".
    pass_name : str, optional, default="clean"
        "clean", "final" or "both": drawn plainly, with blur, or each so.
    camera : str, optional, default="left"
        "left", "right" or "both".
    transforms, loader : Callable, optional
        As for `KittiFlow`.

    """

    def __init__(self, root, split="train", pass_name="clean", camera="left", transforms=None, loader=default_loader):
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", valid_values=("train", "test"))
        verify_str_arg(pass_name, "pass_name", valid_values=("clean", "final", "both"))
        verify_str_arg(camera, "camera", valid_values=("left", "right", "both"))
        folder, split = Path(root) / "FlyingThings3D", split.upper()
        passes = ("clean", "final") if pass_name == "both" else (pass_name,)
        cameras = ("left", "right") if camera == "both" else (camera,)
        for name, side, direction in itertools.product(passes, cameras, ("into_future", "into_past")):
            images = [os.path.join(scene, side) for scene in _sorted(folder, f"frames_{name}pass", split, "*/*")]
            flows = [os.path.join(scene, direction, side) for scene in _sorted(folder, "optical_flow", split, "*/*")]
            if not images or not flows:
                raise FileNotFoundError("Could not find the FlyingThings3D flow images. Please make sure the directory "
                                        "structure is correct.")
            for image_folder, flow_folder in zip(sorted(images), sorted(flows)):
                self._add(_sorted(image_folder, "*.png"), _sorted(flow_folder, "*.pfm"), direction == "into_past")

    def _add(self, images, flows, backwards):
        for place in range(len(flows) - 1):
            pair = [images[place], images[place + 1]]
            self._image_list.append(pair[::-1] if backwards else pair)
            self._flow_list.append(flows[place + 1] if backwards else flows[place])

    def _read_flow(self, file_name):
        return _read_pfm(file_name)


class HD1K(FlowDataset):
    """Frames of streets, with a mask of where the movement is known.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `hd1k`.
    split : str, optional, default="train"
        "train" or "test", which has no movement.
    transforms, loader : Callable, optional
        As for `KittiFlow`.

    """

    _has_builtin_flow_mask = True

    def __init__(self, root, split="train", transforms=None, loader=default_loader):
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", valid_values=("train", "test"))
        folder = Path(root) / "hd1k"
        if split == "train":
            for sequence in range(36):
                flows = _sorted(folder, "hd1k_flow_gt", "flow_occ", f"{sequence:06d}_*.png")
                images = _sorted(folder, "hd1k_input", "image_2", f"{sequence:06d}_*.png")
                self._flow_list += flows[:-1]
                self._image_list += [images[place:place + 2] for place in range(len(flows) - 1)]
        else:
            first, second = (_sorted(folder, "hd1k_challenge", "image_2", f"*{number}.png") for number in (10, 11))
            self._image_list = [list(pair) for pair in zip(first, second)]
        if not self._image_list:
            raise FileNotFoundError("Could not find the HD1K images. Please make sure the directory structure is "
                                    "correct.")

    def _read_flow(self, file_name):
        return _read_16bits_png_with_flow_and_valid_mask(file_name)


def _read_flo(file_name):
    """Return the movement in a file of Middlebury's form, float32 of shape (2, H, W)."""
    with open(file_name, "rb") as file:
        if file.read(4) != b"PIEH":
            raise ValueError("Magic number incorrect. Invalid .flo file")
        width, height = numpy.frombuffer(file.read(8), "<i4").tolist()
        values = numpy.fromfile(file, "<f4", count=2 * width * height)
    return values.reshape(height, width, 2).transpose(2, 0, 1)


def _read_16bits_png_with_flow_and_valid_mask(file_name):
    """Return the movement, float32 (2, H, W), and where it is known, (H, W): the three channels of an image."""
    pixels = decode_png(read_file(file_name)).numpy()
    return (pixels[:2].astype("float32") - 2 ** 15) / 64, pixels[2].astype(bool)
