"""Sentences drawn as images."""
from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader, make_dataset
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class RenderedSST2(ListedImages):
    """Sentences drawn as images, negative or positive.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `rendered-sst2`.
    split : str, optional, default="train"
        "train", "val" or "test".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("https://openaipublic.azureedge.net/clip/data/rendered-sst2.tgz",
                  "2384d08e9dcfa4bd55b324e610496ee5"),)

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "test"))
        self._folder = folder_of(root, "rendered-sst2", "valid" if split == "val" else split)
        self._name_classes(("negative", "positive"))
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(*(self._folder / name for name in self.classes))

    def _list(self):
        self._samples = make_dataset(str(self._folder), extensions=("png",))
        return [path for path, _ in self._samples], [label for _, label in self._samples]

    def extra_repr(self):
        return f"split={self._split}"
