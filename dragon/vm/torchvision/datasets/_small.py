"""Small images in one file: digits and faces."""
import bz2
import csv
import os

import numpy

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import folder_of, MISSING
from dragon.vm.torchvision.datasets.utils import check_integrity, download_url, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class USPS(VisionDataset):
    """Digits of 16 by 16 pixels.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds the files.
    train, transform, target_transform, download : optional
        As for `MNIST`.

    """

    _base = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
    split_list = {"train": [_base + "usps.bz2", "usps.bz2", "ec16c51db3855ca6c91edd34d0e9b197"],
                  "test": [_base + "usps.t.bz2", "usps.t.bz2", "8ea070ee2aca1ac39742fdd1ef5ed118"]}

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        url, name, md5 = self.split_list["train" if train else "test"]
        path = os.path.join(self.root, name)
        if download and not os.path.exists(path):
            download_url(url, self.root, name, md5=md5)
        with bz2.open(path) as file:
            rows = [line.decode().split() for line in file]
        # A line is the digit, counted from 1, and pairs "place:value" with values from -1 to 1.
        values = numpy.asarray([[item.split(":")[-1] for item in row[1:]] for row in rows], dtype="float32")
        self.data = ((values.reshape(-1, 16, 16) + 1) / 2 * 255).astype("uint8")
        self.targets = [int(row[0]) - 1 for row in rows]

    def __getitem__(self, index):
        return self._transformed(Image.fromarray(self.data[index]), int(self.targets[index]))

    def __len__(self):
        return len(self.data)


class SEMEION(VisionDataset):
    """Digits of 16 by 16 pixels, black or white.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds the file.
    transform, target_transform, download : optional
        As for `MNIST`.

    """

    url = "http://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data"
    filename, md5_checksum = "semeion.data", "cb545d371d2ce14ec121470795a77432"

    def __init__(self, root, transform=None, target_transform=None, download=True):
        super().__init__(root, transform=transform, target_transform=target_transform)
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(MISSING)
        rows = numpy.loadtxt(os.path.join(self.root, self.filename))
        self.data = (rows[:, :256] * 255).astype("uint8").reshape(-1, 16, 16)
        self.labels = numpy.nonzero(rows[:, 256:])[1]

    def __getitem__(self, index):
        return self._transformed(Image.fromarray(self.data[index]), int(self.labels[index]))

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        return check_integrity(os.path.join(self.root, self.filename), self.md5_checksum)

    def download(self):
        """Fetch the file if it is missing."""
        if not self._check_integrity():
            download_url(self.url, self.root, self.filename, self.md5_checksum)


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
