"""CelebA: photographs of faces with attributes."""
import csv
import os
from collections import namedtuple

from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.utils import (check_integrity, download_file_from_google_drive, extract_archive,
                                                  verify_str_arg)
from dragon.vm.torchvision.datasets.vision import VisionDataset

CSV = namedtuple("CSV", ["header", "index", "data"])


class CelebA(VisionDataset):
    """Photographs of faces with 40 attributes, a person's number, a box and five points.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `celeba`.
    split : str, optional, default="train"
        "train", "valid", "test" or "all".
    target_type : Union[str, List[str]], optional, default="attr"
        "attr", "identity", "bbox", "landmarks", several of them, or none in an empty list.
    transform, target_transform, download : optional
        As for `ImageFolder`.

    """

    base_folder = "celeba"
    file_list = [
        ("0B7EVK8r0v71pZjFTYXZWM3FlRnM", "00d2c5bc6d35e252742224ab0c1e8fcb", "img_align_celeba.zip"),
        ("0B7EVK8r0v71pblRyaVFSWGxPY0U", "75e246fa4810816ffd6ee81facbd244c", "list_attr_celeba.txt"),
        ("1_ee_0u7vcNLOfNLegJRHmolfH5ICW-XS", "32bd1bd63d3c78cd57e08160ec5ed1e2", "identity_CelebA.txt"),
        ("0B7EVK8r0v71pbThiMVRxWXZ4dU0", "00566efa6fedff7a56946cd1c10f1c16", "list_bbox_celeba.txt"),
        ("0B7EVK8r0v71pd0FJY3Blby1HUTQ", "cc24ecafdb5b50baae59b03474781f8c", "list_landmarks_align_celeba.txt"),
        ("0B7EVK8r0v71pY0NSMzRuSXJEVkk", "d32c9cbf5e040fd4025c592c306e6668", "list_eval_partition.txt")]
    _splits = {"train": 0, "valid": 1, "test": 2, "all": None}

    def __init__(self, root, split="train", target_type="attr", transform=None, target_transform=None,
                 download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split = split
        self.target_type = target_type if isinstance(target_type, list) else [target_type]
        if not self.target_type and self.target_transform is not None:
            raise RuntimeError("target_transform is specified but target_type is empty")
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(MISSING)
        part = self._splits[verify_str_arg(split.lower() if isinstance(split, str) else split, "split",
                                           tuple(self._splits))]
        splits = self._load_csv("list_eval_partition.txt")
        members = [row for row, value in enumerate(splits.data[:, 0].tolist()) if part in (None, value)]
        rows = torch.tensor(members, dtype=torch.int64)
        self.filename = [splits.index[row] for row in members]
        self.identity = self._load_csv("identity_CelebA.txt").data[rows]
        self.bbox = self._load_csv("list_bbox_celeba.txt", header=1).data[rows]
        self.landmarks_align = self._load_csv("list_landmarks_align_celeba.txt", header=1).data[rows]
        attributes = self._load_csv("list_attr_celeba.txt", header=1)
        # Attributes are told as -1 and 1.
        self.attr, self.attr_names = torch.div(attributes.data[rows] + 1, 2, rounding_mode="floor"), attributes.header

    def _load_csv(self, filename, header=None):
        with open(os.path.join(self.root, self.base_folder, filename), encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter=" ", skipinitialspace=True))
        names, rows = ([], rows) if header is None else (rows[header], rows[header + 1:])
        return CSV(names, [row[0] for row in rows], torch.tensor([[int(item) for item in row[1:]] for row in rows]))

    def _check_integrity(self):
        folder = os.path.join(self.root, self.base_folder)
        return os.path.isdir(os.path.join(folder, "img_align_celeba")) and all(
            check_integrity(os.path.join(folder, name), md5) for _, md5, name in self.file_list
            if not name.endswith((".zip", ".7z")))

    def download(self):
        """Fetch the files that are missing."""
        if self._check_integrity():
            return
        folder = os.path.join(self.root, self.base_folder)
        for key, md5, name in self.file_list:
            download_file_from_google_drive(key, folder, name, md5)
        extract_archive(os.path.join(folder, "img_align_celeba.zip"))

    def __getitem__(self, index):
        image = Image.open(os.path.join(self.root, self.base_folder, "img_align_celeba", self.filename[index]))
        kinds = {"attr": lambda: self.attr[index, :], "identity": lambda: self.identity[index, 0],
                 "bbox": lambda: self.bbox[index, :], "landmarks": lambda: self.landmarks_align[index, :]}
        found = []
        for kind in self.target_type:
            if kind not in kinds:
                raise ValueError(f'Target type "{kind}" is not recognized.')
            found.append(kinds[kind]())
        if not found:
            return (image if self.transform is None else self.transform(image)), None
        return self._transformed(image, tuple(found) if len(found) > 1 else found[0])

    def __len__(self):
        return len(self.attr)

    def extra_repr(self):
        return f"Target type: {self.target_type}\nSplit: {self.split}"
