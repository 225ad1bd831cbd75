"""Ten classes of ImageNet."""
from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader, find_classes, make_dataset
from dragon.vm.torchvision.datasets.utils import verify_str_arg


class Imagenette(ListedImages):
    """Ten classes of ImageNet, in three sizes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `imagenette2` or one of its sizes.
    split : str, optional, default="train"
        "train" or "val".
    size : str, optional, default="full"
        "full", "320px" or "160px".
    download, transform, target_transform, loader : optional
        As for `ImageFolder`.

    """

    _ARCHIVES = {size: (f"https://s3.amazonaws.com/fast-ai-imageclas/imagenette2{tail}.tgz", md5)
                 for size, tail, md5 in (("full", "", "fe2fc210e6bb7c5664d602c3cd71e612"),
                                         ("320px", "-320", "3df6f0d01a2c9592104656642f5e78a3"),
                                         ("160px", "-160", "e793b78cc4c9e9a4ccc0c1155377a412"))}
    _WNID_TO_CLASS = {
        "n01440764": ("tench", "Tinca tinca"), "n02102040": ("English springer", "English springer spaniel"),
        "n02979186": ("cassette player",), "n03000684": ("chain saw", "chainsaw"),
        "n03028079": ("church", "church building"), "n03394916": ("French horn", "horn"),
        "n03417042": ("garbage truck", "dustcart"),
        "n03425413": ("gas pump", "gasoline pump", "petrol pump", "island dispenser"), "n03445777": ("golf ball",),
        "n03888257": ("parachute", "chute")}

    def __init__(self, root, split="train", size="full", download=False, transform=None, target_transform=None,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ["train", "val"])
        self._size = verify_str_arg(size, "size", ["full", "320px", "160px"])
        self._archives = (self._ARCHIVES[size],)
        self._folder = folder_of(root, "imagenette2" + self._ARCHIVES[size][0].partition("imagenette2")[2][:-4])
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        folder = str(self._folder / self._split)
        self.wnids, self.wnid_to_idx = find_classes(folder)
        self.classes = [self._WNID_TO_CLASS[wnid] for wnid in self.wnids]
        self.class_to_idx = {name: index for wnid, index in self.wnid_to_idx.items()
                             for name in self._WNID_TO_CLASS[wnid]}
        self._samples = make_dataset(folder, self.wnid_to_idx, extensions=".jpeg")
        return [path for path, _ in self._samples], [label for _, label in self._samples]
