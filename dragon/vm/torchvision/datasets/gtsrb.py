"""Photographs of traffic signs."""
import csv

from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import make_dataset
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class GTSRB(ListedImages):
    """Photographs of 43 kinds of traffic signs.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `gtsrb`.
    split : str, optional, default="train"
        "train" or "test".
    transform, target_transform, download : optional
        As for `ImageFolder`.

    """

    _base = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370/"
    _by_split = {"train": (("GTSRB-Training_fixed.zip", "513f3c79a4c5141765e10e952eaa2478"),),
                 "test": (("GTSRB_Final_Test_Images.zip", "c7e4e6327067d32654124b0fe9e82185"),
                          ("GTSRB_Final_Test_GT.zip", "fe31e9c9270bbcd7b84b7f21a9d9d9e5"))}

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        self._split = verify_str_arg(split, "split", ("train", "test"))
        self._folder = folder_of(root, "gtsrb")
        self._images = self._folder / "GTSRB" / ("Training" if split == "train" else "Final_Test/Images")
        self._archives = tuple((self._base + name, md5) for name, md5 in self._by_split[split])
        super().__init__(root, transform, target_transform, download)

    def _archives_to(self):
        return self._folder

    def _there(self):
        return folders_there(self._images)

    def _list(self):
        if self._split == "train":
            self._samples = make_dataset(str(self._images), extensions=(".ppm",))
        else:
            with open(self._folder / "GT-final_test.csv", encoding="utf-8") as file:
                rows = csv.DictReader(file, delimiter=";", skipinitialspace=True)
                self._samples = [(str(self._images / row["Filename"]), int(row["ClassId"])) for row in rows]
        return [path for path, _ in self._samples], [label for _, label in self._samples]
