"""Omniglot: letters of fifty alphabets, drawn by hand."""
import os

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.utils import (check_integrity, download_and_extract_archive, list_dir,
                                                  list_files)
from dragon.vm.torchvision.datasets.vision import VisionDataset


class Omniglot(VisionDataset):
    """Drawn letters, each with the number of its letter.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `omniglot-py`.
    background : bool, optional, default=True
        The thirty alphabets to learn from, or the twenty others.
    transform, target_transform, download : optional
        As for `ImageFolder`.
    loader : Callable, optional
        Opens an image file; without one Pillow does, in grey.

    """

    folder = "omniglot-py"
    download_url_prefix = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"
    zips_md5 = {"images_background": "68d2efa1b9178cc56df9314c21c6e718",
                "images_evaluation": "6b91aef0f799c5bb55b94e3f2daec811"}

    def __init__(self, root, background=True, transform=None, target_transform=None, download=False, loader=None):
        super().__init__(os.path.join(root, self.folder), transform=transform, target_transform=target_transform)
        self.background, self.loader = background, loader
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(MISSING)
        self.target_folder = os.path.join(self.root, self._get_target_folder())
        self._alphabets = list_dir(self.target_folder)
        self._characters = [os.path.join(alphabet, name) for alphabet in self._alphabets
                            for name in list_dir(os.path.join(self.target_folder, alphabet))]
        folders = [os.path.join(self.target_folder, letter) for letter in self._characters]
        self._character_images = [[(name, index) for name in list_files(folder, ".png")]
                                  for index, folder in enumerate(folders)]
        self._flat_character_images = sum(self._character_images, [])

    def _get_target_folder(self):
        return "images_background" if self.background else "images_evaluation"

    def _check_integrity(self):
        name = self._get_target_folder()
        return check_integrity(os.path.join(self.root, f"{name}.zip"), self.zips_md5[name])

    def download(self):
        """Fetch the files that are missing."""
        if not self._check_integrity():
            name = self._get_target_folder()
            download_and_extract_archive(f"{self.download_url_prefix}/{name}.zip", self.root, filename=f"{name}.zip",
                                         md5=self.zips_md5[name])

    def __len__(self):
        return len(self._flat_character_images)

    def __getitem__(self, index):
        name, letter = self._flat_character_images[index]
        path = os.path.join(self.target_folder, self._characters[letter], name)
        return self._transformed(Image.open(path).convert("L") if self.loader is None else self.loader(path), letter)
