"""Digits in black and white."""
import os

import numpy

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.utils import check_integrity, download_url
from dragon.vm.torchvision.datasets.vision import VisionDataset


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
