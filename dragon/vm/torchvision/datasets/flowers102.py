"""Photographs of 102 kinds of flowers."""
import importlib.resources

from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages, load_matlab
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import check_integrity, download_url, verify_str_arg


class Flowers102(ListedImages):
    """Photographs of 102 kinds of flowers; reading their lists needs SciPy.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `flowers-102`.
    split : str, optional, default="train"
        "train", "val" or "test".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _download_url_prefix = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/"
    _file_dict = {"image": ("102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
                  "label": ("imagelabels.mat", "e0620be6f572b9609742df49c70aed4d"),
                  "setid": ("setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c")}
    _splits_map = {"train": "trnid", "val": "valid", "test": "tstid"}
    classes = importlib.resources.files(__package__).joinpath("flowers102.txt").read_text("utf-8").splitlines()

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "test"))
        self._folder = folder_of(root, "flowers-102")
        self._archives = ((self._download_url_prefix + self._file_dict["image"][0], self._file_dict["image"][1]),)
        super().__init__(root, transform, target_transform, download, loader)

    def _archives_to(self):
        return self._folder

    def _there(self):
        return folders_there(self._folder / "jpg") and all(
            check_integrity(str(self._folder / self._file_dict[key][0]), self._file_dict[key][1])
            for key in ("label", "setid"))

    def _download(self):
        if self._there():
            return
        super()._download()
        for key in ("label", "setid"):
            name, md5 = self._file_dict[key]
            download_url(self._download_url_prefix + name, str(self._folder), md5=md5)

    def _list(self):
        ids = load_matlab(self._folder / self._file_dict["setid"][0], "Flowers102")[self._splits_map[self._split]]
        labels = load_matlab(self._folder / self._file_dict["label"][0], "Flowers102")["labels"] - 1
        numbers = ids.tolist()
        return ([self._folder / "jpg" / f"image_{number:05d}.jpg" for number in numbers],
                [int(labels[number - 1]) for number in numbers])

    def extra_repr(self):
        return f"split={self._split}"
