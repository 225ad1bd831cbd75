"""Photographs of 101 kinds of food."""
import json

from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class Food101(ListedImages):
    """Photographs of 101 kinds of food.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `food-101`.
    split : str, optional, default="train"
        "train" or "test".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz", "85eeb15f3717b99a5da872d97d918f87"),)

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "test"))
        self._folder = folder_of(root, "food-101")
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder / "meta", self._folder / "images")

    def _list(self):
        with open(self._folder / "meta" / f"{self._split}.json", encoding="utf-8") as file:
            listed = json.load(file)
        self._name_classes(sorted(listed))
        pairs = [(self._folder.joinpath("images", *f"{path}.jpg".split("/")), self.class_to_idx[name])
                 for name, paths in listed.items() for path in paths]
        return [path for path, _ in pairs], [label for _, label in pairs]

    def extra_repr(self):
        return f"split={self._split}"
