"""Faces with expressions."""
import csv

import numpy

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import folder_of
from dragon.vm.torchvision.datasets.utils import check_integrity, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class FER2013(VisionDataset):
    """Faces of 48 by 48 pixels with seven expressions.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `fer2013`.
    split : str, optional, default="train"
        "train" or "test"; the test's file of its own tells no expressions.
    transform, target_transform : Callable, optional
        Applied to the image, and to the expression.

    """

    _RESOURCES = {"train": ("train.csv", "3f0dfb3d3fd99c811a1299cb947e3131"),
                  "test": ("test.csv", "b02c2298636a634e8c2faabbf3ea9a23"),
                  "fer": ("fer2013.csv", "f8428a1edbd21e88f42c73edd2a14f95"),
                  "icml": ("icml_face_data.csv", "b114b9e04e6949e5fe8b6a98b3892b1d")}

    def __init__(self, root, split="train", transform=None, target_transform=None):
        self._split = verify_str_arg(split, "split", ("train", "test"))
        super().__init__(root, transform=transform, target_transform=target_transform)
        folder = folder_of(root, "fer2013")
        kind = next((key for key in ("fer", "icml") if (folder / self._RESOURCES[key][0]).exists()), split)
        name, md5 = self._RESOURCES[kind]
        if not check_integrity(str(folder / name), md5=md5):
            raise RuntimeError(f"{name} not found in {folder} or corrupted. You can download it from "
                               "https://www.kaggle.com/c/challenges-in-representation-learning-facial-expression-"
                               "recognition-challenge")
        with open(folder / name, newline="", encoding="utf-8") as file:
            rows = [{key.strip(): value for key, value in row.items()} for row in csv.DictReader(file)]
        if kind in ("fer", "icml"):
            wanted = ("Training",) if split == "train" else ("PublicTest", "PrivateTest")
            rows = [row for row in rows if row["Usage"] in wanted]
        self._samples = [(numpy.array(row["pixels"].split(), dtype="uint8").reshape(48, 48),
                          None if kind == "test" else int(row["emotion"])) for row in rows]

    def __len__(self):
        return len(self._samples)

    def __getitem__(self, idx):
        image, target = self._samples[idx]
        return self._transformed(Image.fromarray(image), target)

    def extra_repr(self):
        return f"split={self._split}"
