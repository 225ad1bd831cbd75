"""SBU: photographs and what people wrote below them."""
import os

from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import check_integrity, download_and_extract_archive, download_url
from dragon.vm.torchvision.datasets.vision import VisionDataset


class SBU(VisionDataset):
    """Photographs with a caption each.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `dataset`.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`; unlike there, `download` is True unless told.

    """

    url = "https://www.cs.rice.edu/~vo9/sbucaptions/SBUCaptionedPhotoDataset.tar.gz"
    filename, md5_checksum = "SBUCaptionedPhotoDataset.tar.gz", "9aec147b3488753cf758b4d493422285"

    def __init__(self, root, transform=None, target_transform=None, download=True, loader=default_loader):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader = loader
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(MISSING)
        names = [os.path.basename(url) for url in self._lines("urls")]
        # Photographs that their owners took away are passed over.
        there = [(name, caption) for name, caption in zip(names, self._lines("captions"))
                 if os.path.exists(self._path(name))]
        self.photos, self.captions = [name for name, _ in there], [caption for _, caption in there]

    def _path(self, name):
        return os.path.join(self.root, "dataset", name)

    def _lines(self, what):
        with open(self._path(f"SBU_captioned_photo_dataset_{what}.txt"), encoding="utf-8") as file:
            return [line.rstrip() for line in file]

    def _check_integrity(self):
        return check_integrity(os.path.join(self.root, self.filename), self.md5_checksum)

    def download(self):
        """Fetch the lists, and the photographs that are still there."""
        if self._check_integrity():
            return
        download_and_extract_archive(self.url, self.root, self.root, self.filename, self.md5_checksum)
        for url in self._lines("urls"):
            try:
                download_url(url, self._path(""))
            except (OSError, RuntimeError):
                continue  # its owner took it away

    def __getitem__(self, index):
        return self._transformed(self.loader(self._path(self.photos[index])), self.captions[index])

    def __len__(self):
        return len(self.photos)
