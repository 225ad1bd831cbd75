"""ImageNet: photographs of a thousand classes, unpacked from the archives of the challenge of 2012."""
import os
import shutil
import tempfile

from dragon.vm import torch
from dragon.vm.torchvision.datasets._listed import load_matlab
from dragon.vm.torchvision.datasets.folder import ImageFolder
from dragon.vm.torchvision.datasets.utils import check_integrity, extract_archive, verify_str_arg

ARCHIVE_META = {"train": ("ILSVRC2012_img_train.tar", "1d675b47d978889d74fa0da5fadfb00e"),
                "val": ("ILSVRC2012_img_val.tar", "29b22e2961454d5413ddabcf34fc5622"),
                "devkit": ("ILSVRC2012_devkit_t12.tar.gz", "fa75699e90414af021442c21a62c3abf")}
META_FILE = "meta.bin"


class ImageNet(ImageFolder):
    """Photographs of a thousand classes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds the archives, or what was unpacked from them before.
    split : str, optional, default="train"
        "train" or "val".
    kwargs : Any
        As for `ImageFolder`.

    """

    def __init__(self, root, split="train", **kwargs):
        root = self.root = os.path.expanduser(root)
        self.split = verify_str_arg(split, "split", ("train", "val"))
        self.parse_archives()
        names = load_meta_file(self.root)[0]
        super().__init__(self.split_folder, **kwargs)
        self.root = root
        self.wnids, self.wnid_to_idx = self.classes, self.class_to_idx
        self.classes = [names[wnid] for wnid in self.wnids]
        self.class_to_idx = {name: index for index, found in enumerate(self.classes) for name in found}

    def parse_archives(self):
        """Unpack what is not unpacked yet."""
        if not check_integrity(os.path.join(self.root, META_FILE)):
            parse_devkit_archive(self.root)
        if not os.path.isdir(self.split_folder):
            (parse_train_archive if self.split == "train" else parse_val_archive)(self.root)

    @property
    def split_folder(self):
        """Return the folder of the photographs."""
        return os.path.join(self.root, self.split)

    def extra_repr(self):
        return f"Split: {self.split}"


def load_meta_file(root, file=None):
    """Return (the names of each class, the class of each photograph of "val") as they were noted."""
    path = os.path.join(root, file or META_FILE)
    if not check_integrity(path):
        raise RuntimeError(f"The meta file {path} is not present in the root directory or is corrupted. This file is "
                           "automatically created by the ImageNet dataset.")
    return torch.load(path, weights_only=True)


def _archive(root, key, file):
    """Return the path of an archive that is there and whole."""
    name, md5 = ARCHIVE_META[key]
    path = os.path.join(root, file or name)
    if not check_integrity(path, md5):
        raise RuntimeError(f"The archive {file or name} is not present in the root directory or is corrupted. You need "
                           f"to download it externally and place it in {root}.")
    return path


def parse_devkit_archive(root, file=None):
    """Note the names of classes, and the class of each photograph of "val"; reading them needs SciPy."""
    with tempfile.TemporaryDirectory() as folder:
        extract_archive(_archive(root, "devkit", file), folder)
        data = os.path.join(folder, "ILSVRC2012_devkit_t12", "data")
        # The classes are the leaves of a tree: those without children.
        leaves = [row for row in load_matlab(os.path.join(data, "meta.mat"), "ImageNet")["synsets"] if row[4] == 0]
        names = {str(row[1]): tuple(str(row[2]).split(", ")) for row in leaves}
        wnids = {int(row[0]): str(row[1]) for row in leaves}
        with open(os.path.join(data, "ILSVRC2012_validation_ground_truth.txt"), encoding="utf-8") as lines:
            found = [wnids[int(line)] for line in lines]
    torch.save((names, found), os.path.join(root, META_FILE))


def parse_train_archive(root, file=None, folder="train"):
    """Unpack the photographs for training: an archive of archives."""
    path, folder = _archive(root, "train", file), os.path.join(root, folder)
    extract_archive(path, folder)
    for name in os.listdir(folder):
        inner = os.path.join(folder, name)
        extract_archive(inner, os.path.splitext(inner)[0], remove_finished=True)


def parse_val_archive(root, file=None, wnids=None, folder="val"):
    """Unpack the photographs for validation, into folders by class."""
    wnids = load_meta_file(root)[1] if wnids is None else wnids
    path, folder = _archive(root, "val", file), os.path.join(root, folder)
    extract_archive(path, folder)
    images = sorted(os.listdir(folder))
    for wnid in set(wnids):
        os.mkdir(os.path.join(folder, wnid))
    for wnid, name in zip(wnids, images):
        shutil.move(os.path.join(folder, name), os.path.join(folder, wnid, name))
