"""Digits from envelopes."""
import bz2
import os

import numpy

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.utils import download_url
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
