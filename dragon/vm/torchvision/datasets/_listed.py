"""What data sets of image files in archives stand on."""
import os
from pathlib import Path

from dragon.vm.torchvision.datasets.folder import default_loader, ImageFolder
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive
from dragon.vm.torchvision.datasets.vision import VisionDataset

MISSING = "Dataset not found or corrupted. You can use download=True to download it"


def folders_there(*folders):
    """Return whether all of some folders are there."""
    return all(os.path.isdir(folder) for folder in folders)


class ListedImages(VisionDataset):
    """The base of data sets of image files, `_image_files`, with targets, `_labels`.

    A class tells what is looked for (`_there`), what is fetched (`_archives`, into `_archives_to`), and how the files
    are listed (`_list`).

    Parameters
    ----------
    root : Union[str, Path]
        The folder.
    transform, target_transform : Callable, optional
        Applied to the image, and to the target.
    download : bool, optional, default=False
        Whether to fetch files that are missing.
    loader : Callable, optional
        Opens an image file.

    """

    _archives = ()

    def __init__(self, root, transform=None, target_transform=None, download=False, loader=default_loader):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader = loader
        if download:
            self._download()
        if not self._there():
            raise RuntimeError(MISSING)
        self._image_files, self._labels = self._list()

    def _archives_to(self):
        return self.root

    def _download(self):
        if not self._there():
            for url, md5 in self._archives:
                download_and_extract_archive(url, str(self._archives_to()), md5=md5)

    def _name_classes(self, names):
        """Note the names of classes, in their order."""
        self.classes = list(names)
        self.class_to_idx = {name: index for index, name in enumerate(self.classes)}

    def __len__(self):
        return len(self._image_files)

    def __getitem__(self, idx):
        return self._transformed(self.loader(self._image_files[idx]), self._labels[idx])


def folder_of(root, *parts):
    """Return a folder below another, which may begin with `~`."""
    return Path(os.path.expanduser(root)).joinpath(*parts)


class ArchivedFolder(ImageFolder):
    """A folder of images by class that comes in an archive."""

    def __init__(self, root, images, there, url, md5, to, transform, target_transform, download, loader):
        if download and not os.path.isdir(there):
            download_and_extract_archive(url, str(to), md5=md5)
        if not os.path.isdir(there):
            raise RuntimeError(MISSING)
        super().__init__(str(images), transform=transform, target_transform=target_transform, loader=loader)
        self.root = os.path.expanduser(str(root))


def load_matlab(path, who, squeeze_me=True):
    """Return what a file of MATLAB's holds; SciPy reads it."""
    try:
        from scipy.io import loadmat
    except ImportError as error:
        raise ImportError(f"{who}: found no SciPy, which reads MATLAB's files; install it with `pip install scipy`",
                          name="scipy") from error
    return loadmat(path, squeeze_me=squeeze_me)
