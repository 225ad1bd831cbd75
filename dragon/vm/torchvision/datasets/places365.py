"""Places365: photographs of 365 kinds of scenes."""
import os

from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import check_integrity, download_and_extract_archive, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class Places365(VisionDataset):
    """Photographs of 365 kinds of scenes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds the lists and the folders of images.
    split : str, optional, default="train-standard"
        "train-standard", "train-challenge", "val" or "test", which has no targets.
    small : bool, optional, default=False
        Whether the images are those of 256 by 256 pixels.
    download, transform, target_transform, loader : optional
        As for `ImageFolder`.

    """

    _SPLITS = ("train-standard", "train-challenge", "val", "test")
    _BASE_URL = "http://data.csail.mit.edu/places/places365/"
    _DEVKIT_META = {"standard": ("filelist_places365-standard.tar", "35a0585fee1fa656440f3ab298f8479c"),
                    "challenge": ("filelist_places365-challenge.tar", "70a8307e459c3de41690a7c76c931734")}
    _CATEGORIES_META = ("categories_places365.txt", "06c963b85866bd0649f97cb43dd16673")
    _FILE_LIST_META = {"train-standard": ("places365_train_standard.txt", "30f37515461640559006b8329efbed1a"),
                       "train-challenge": ("places365_train_challenge.txt", "b2931dc997b8c33c27e7329c073a6b57"),
                       "val": ("places365_val.txt", "e9f2fd57bfd9d07630173f4e8708e4b1"),
                       "test": ("places365_test.txt", "2fce8233fe493576d724142e45d93653")}
    _IMAGES_META = {
        ("train-standard", False): ("train_large_places365standard.tar", "67e186b496a84c929568076ed01a8aa1"),
        ("train-challenge", False): ("train_large_places365challenge.tar", "605f18e68e510c82b958664ea134545f"),
        ("val", False): ("val_large.tar", "9b71c4993ad89d2d8bcbdc4aef38042f"),
        ("test", False): ("test_large.tar", "41a4b6b724b1d2cd862fb3871ed59913"),
        ("train-standard", True): ("train_256_places365standard.tar", "53ca1c756c3d1e7809517cc47c5561c5"),
        ("train-challenge", True): ("train_256_places365challenge.tar", "741915038a5e3471ec7332404dfb64ef"),
        ("val", True): ("val_256.tar", "e27b17d8d44f4af9a78502beb927f808"),
        ("test", True): ("test_256.tar", "f532f6ad7b582262a2ec8009075e186b")}

    def __init__(self, root, split="train-standard", small=False, download=False, transform=None,
                 target_transform=None, loader=default_loader):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split, self.small, self.loader = verify_str_arg(split, "split", self._SPLITS), small, loader
        self.classes, self.class_to_idx = self.load_categories(download)
        self.imgs, self.targets = self.load_file_list(download)
        if download:
            self.download_images()

    @property
    def variant(self):
        """Return "challenge" or "standard"."""
        return "challenge" if "challenge" in self.split else "standard"

    @property
    def images_dir(self):
        """Return the folder of the images."""
        size, train = "256" if self.small else "large", self.split.startswith("train")
        return os.path.join(self.root, f"data_{size}_{self.variant}" if train else f"{self.split}_{size}")

    def _rows(self, name, md5, download):
        """Yield the words of each line of a list, which is fetched if it is missing."""
        path = os.path.join(self.root, name)
        if not check_integrity(path, md5):
            if not download:
                raise RuntimeError(f"The file {path} does not exist or is corrupted. You can set download=True to "
                                   "download it.")
            self.download_devkit()
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield line.split()

    def load_categories(self, download=True):
        """Return the names of the classes, and the number of each."""
        numbers = {name: int(index) for name, index in self._rows(*self._CATEGORIES_META, download)}
        return sorted(numbers), numbers

    def load_file_list(self, download=True):
        """Return (path, class) of each image, and the classes alone."""
        listed = [(os.path.join(self.images_dir, *name.lstrip("/").split("/")), int(index[0]) if index else None)
                  for name, *index in self._rows(*self._FILE_LIST_META[self.split], download)]
        return listed, [index for _, index in listed]

    def download_devkit(self):
        """Fetch the lists."""
        name, md5 = self._DEVKIT_META[self.variant]
        download_and_extract_archive(self._BASE_URL + name, self.root, md5=md5)

    def download_images(self):
        """Fetch the images, unless they are there."""
        if os.path.exists(self.images_dir):
            return
        name, md5 = self._IMAGES_META[self.split, self.small]
        download_and_extract_archive(self._BASE_URL + name, self.root, md5=md5)
        if self.split.startswith("train"):
            os.rename(self.images_dir.rsplit("_", 1)[0], self.images_dir)

    def __getitem__(self, index):
        path, target = self.imgs[index]
        return self._transformed(self.loader(path), target)

    def __len__(self):
        return len(self.imgs)

    def extra_repr(self):
        return f"Split: {self.split}\nSmall: {self.small}"
