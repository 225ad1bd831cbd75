"""Photographs of cars."""
from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages, load_matlab
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class StanfordCars(ListedImages):
    """Photographs of 196 kinds of cars; reading their lists needs SciPy, and nobody serves them any more.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `stanford_cars`.
    split : str, optional, default="train"
        "train" or "test".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "test"))
        self._folder = folder_of(root, "stanford_cars")
        lists = {"train": "devkit/cars_train_annos.mat", "test": "cars_test_annos_withlabels.mat"}
        self._lists, self._images = self._folder / lists[split], self._folder / f"cars_{split}"
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder / "devkit", self._images) and self._lists.exists()

    def _download(self):
        raise ValueError("The original URL is broken so the StanfordCars dataset cannot be downloaded anymore.")

    def _list(self):
        listed = load_matlab(self._lists, "StanfordCars")["annotations"]
        names = load_matlab(str(self._folder / "devkit" / "cars_meta.mat"), "StanfordCars")["class_names"]
        self._name_classes(names.tolist())
        listed = listed.reshape(-1)
        return ([str(self._images / item["fname"]) for item in listed], [item["class"] - 1 for item in listed])
