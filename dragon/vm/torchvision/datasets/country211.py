"""Photographs from 211 countries."""
from dragon.vm.torchvision.datasets._listed import ArchivedFolder, folder_of
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class Country211(ArchivedFolder):
    """Photographs from 211 countries.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `country211`.
    split : str, optional, default="train"
        "train", "valid" or "test".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "valid", "test"))
        folder = folder_of(root, "country211")
        super().__init__(root, folder / split, folder, "https://openaipublic.azureedge.net/clip/data/country211.tgz",
                         "84988d7644798601126c29e9877aab6a", folder.parent, transform, target_transform, download,
                         loader)
