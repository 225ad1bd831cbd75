"""Drawn scenes whose objects are counted."""
import json

from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class CLEVRClassification(ListedImages):
    """Drawn scenes by the number of their objects.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `clevr`.
    split : str, optional, default="train"
        "train", "val" or "test", which has no targets.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("https://dl.fbaipublicfiles.com/clevr/CLEVR_v1.0.zip", "b11922020e72d0cd9154779b2d3d07d2"),)

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "test"))
        self._folder = folder_of(root, "clevr", "CLEVR_v1.0")
        super().__init__(root, transform, target_transform, download, loader)

    def _archives_to(self):
        return self._folder.parent

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        paths = sorted(self._folder.joinpath("images", self._split).glob("*"))
        if self._split == "test":
            return paths, [None] * len(paths)
        with open(self._folder / "scenes" / f"CLEVR_{self._split}_scenes.json", encoding="utf-8") as file:
            counts = {scene["image_filename"]: len(scene["objects"]) for scene in json.load(file)["scenes"]}
        return paths, [counts[path.name] for path in paths]

    def extra_repr(self):
        return f"split={self._split}"
