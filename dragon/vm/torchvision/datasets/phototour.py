"""Photo Tourism: patches of photographs that show one place, or two."""
import os
import zipfile

import numpy

from dragon.core import files
from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.utils import download_url
from dragon.vm.torchvision.datasets.vision import VisionDataset

SIDE = 64  # of a patch, in pixels


class PhotoTour(VisionDataset):
    """Patches of 64 by 64 pixels; for tests, pairs of them and whether they show one place.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds what was read before, or that of the patches.
    name : str
        "notredame", "yosemite" or "liberty", which may have "_harris" behind them.
    train : bool, optional, default=True
        Patches, or pairs of them.
    transform : Callable, optional
        Applied to each patch.
    download : bool, optional, default=False
        Whether to fetch files that are missing.

    """

    urls = {name: [f"{where}{name}.zip", f"{name}.zip", md5] for where, name, md5 in (
        ("http://matthewalunbrown.com/patchdata/", "notredame_harris", "69f8c90f78e171349abdf0307afefe4d"),
        ("http://matthewalunbrown.com/patchdata/", "yosemite_harris", "a73253d1c6fbd3ba2613c45065c00d46"),
        ("http://matthewalunbrown.com/patchdata/", "liberty_harris", "c731fcfb3abb4091110d0ae8c7ba182c"),
        ("http://icvl.ee.ic.ac.uk/vbalnt/", "notredame", "509eda8535847b8c0a90bbb210c83484"),
        ("http://icvl.ee.ic.ac.uk/vbalnt/", "yosemite", "533b2e8eb7ede31be40abc317b2fd4f0"),
        ("http://icvl.ee.ic.ac.uk/vbalnt/", "liberty", "fdd9152f138ea5ef2091746689176414"))}
    means = {f"{name}{tail}": mean for tail in ("", "_harris")
             for name, mean in (("notredame", 0.4854), ("yosemite", 0.4844), ("liberty", 0.4437))}
    stds = {f"{name}{tail}": deviation for tail in ("", "_harris")
            for name, deviation in (("notredame", 0.1864), ("yosemite", 0.1818), ("liberty", 0.2019))}
    lens = {"notredame": 468159, "yosemite": 633587, "liberty": 450092, "liberty_harris": 379587,
            "yosemite_harris": 450912, "notredame_harris": 325295}
    image_ext, info_file, matches_files = "bmp", "info.txt", "m50_100000_100000_0.txt"

    def __init__(self, root, name, train=True, transform=None, download=False):
        super().__init__(root, transform=transform)
        self.name, self.train = name, train
        self.mean, self.std = self.means[name], self.stds[name]
        self.data_dir = os.path.join(self.root, name)
        self.data_down = os.path.join(self.root, f"{name}.zip")
        self.data_file = os.path.join(self.root, f"{name}.pt")
        if download:
            self.download()
        if not self._check_datafile_exists():
            self.cache()
        self.data, self.labels, self.matches = torch.load(self.data_file, weights_only=True)

    def _check_datafile_exists(self):
        return os.path.exists(self.data_file)

    def _check_downloaded(self):
        return os.path.exists(self.data_dir)

    def download(self):
        """Fetch the patches, unless they are there."""
        if self._check_datafile_exists() or self._check_downloaded():
            return
        url, name, md5 = self.urls[self.name]
        download_url(url, self.root, name, md5)
        with zipfile.ZipFile(self.data_down) as archive:
            archive.extractall(self.data_dir)
        os.remove(self.data_down)

    def cache(self):
        """Read the patches and their lists, and keep them in one file."""
        found = (read_image_file(self.data_dir, self.image_ext, self.lens[self.name]),
                 read_info_file(self.data_dir, self.info_file), read_matches_files(self.data_dir, self.matches_files))
        with files.rewriting(self.data_file) as file:
            torch.save(found, file)

    def __getitem__(self, index):
        shown = (lambda patch: patch) if self.transform is None else self.transform
        if self.train:
            return shown(self.data[index])
        first, second, same = self.matches[index]
        return shown(self.data[first]), shown(self.data[second]), same

    def __len__(self):
        return len(self.data if self.train else self.matches)

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


def read_image_file(data_dir, image_ext, n):
    """Return the first `n` patches of the images in a folder, uint8 of shape (N, 64, 64)."""
    patches = []
    for name in sorted(name for name in os.listdir(data_dir) if name.endswith(image_ext)):
        pixels = numpy.asarray(Image.open(os.path.join(data_dir, name)), dtype="uint8")
        rows, columns = pixels.shape[0] // SIDE, pixels.shape[1] // SIDE
        patches.append(pixels.reshape(rows, SIDE, columns, SIDE).swapaxes(1, 2).reshape(-1, SIDE, SIDE))
    return torch.from_numpy(numpy.concatenate(patches)[:n])


def _rows(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return [line.split() for line in file]


def read_info_file(data_dir, info_file):
    """Return the number of the place that each patch shows."""
    return torch.tensor([int(row[0]) for row in _rows(data_dir, info_file)], dtype=torch.int64)


def read_matches_files(data_dir, matches_file):
    """Return rows (a patch, another, whether both show one place)."""
    return torch.tensor([[int(row[0]), int(row[3]), int(row[1] == row[4])] for row in _rows(data_dir, matches_file)],
                        dtype=torch.int64)
