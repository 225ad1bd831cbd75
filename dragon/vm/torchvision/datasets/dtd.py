"""Textures that people have words for."""
from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class DTD(ListedImages):
    """Photographs of 47 kinds of texture.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `dtd`.
    split : str, optional, default="train"
        "train", "val" or "test".
    partition : int, optional, default=1
        Which of ten splits, 1 to 10.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("https://www.robots.ox.ac.uk/~vgg/data/dtd/download/dtd-r1.0.1.tar.gz",
                  "fff73e5086ae6bdbea199a49dfb8a4c1"),)

    def __init__(self, root, split="train", partition=1, transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "test"))
        if not isinstance(partition, int) or not 1 <= partition <= 10:
            raise ValueError("Parameter 'partition' should be an integer with `1 <= partition <= 10`, but got "
                             f"{partition} instead")
        self._partition, self._folder = partition, folder_of(root, "dtd", "dtd")
        super().__init__(root, transform, target_transform, download, loader)

    def _archives_to(self):
        return self._folder.parent

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        with open(self._folder / "labels" / f"{self._split}{self._partition}.txt", encoding="utf-8") as file:
            listed = [line.strip().split("/") for line in file]
        self._name_classes(sorted({name for name, _ in listed}))
        return ([self._folder.joinpath("images", *pair) for pair in listed],
                [self.class_to_idx[name] for name, _ in listed])

    def extra_repr(self):
        return f"split={self._split}, partition={self._partition}"
