"""Photographs of aircraft."""
import os

from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class FGVCAircraft(ListedImages):
    """Photographs of aircraft by variant, family or manufacturer.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `fgvc-aircraft-2013b`.
    split : str, optional, default="trainval"
        "train", "val", "trainval" or "test".
    annotation_level : str, optional, default="variant"
        "variant", "family" or "manufacturer".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/fgvc-aircraft-2013b.tar.gz", None),)
    _levels = {"variant": "variants.txt", "family": "families.txt", "manufacturer": "manufacturers.txt"}

    def __init__(self, root, split="trainval", annotation_level="variant", transform=None, target_transform=None,
                 download=False, loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "trainval", "test"))
        self._annotation_level = verify_str_arg(annotation_level, "annotation_level", tuple(self._levels))
        self._folder = folder_of(root, "fgvc-aircraft-2013b")
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        data = self._folder / "data"
        with open(data / self._levels[self._annotation_level], encoding="utf-8") as file:
            self._name_classes(line.strip() for line in file)
        with open(data / f"images_{self._annotation_level}_{self._split}.txt", encoding="utf-8") as file:
            listed = [line.strip().split(" ", 1) for line in file]
        return ([os.path.join(data, "images", f"{name}.jpg") for name, _ in listed],
                [self.class_to_idx[label] for _, label in listed])
