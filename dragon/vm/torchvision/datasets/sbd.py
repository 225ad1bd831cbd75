"""Semantic Boundaries: VOC's photographs with the outlines of their objects."""
import os
import shutil

import numpy

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import load_matlab, MISSING
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive, download_url, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class SBDataset(VisionDataset):
    """Photographs with boundaries or areas of 20 classes; reading those needs SciPy.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `img` and `cls`.
    image_set : str, optional, default="train"
        "train", "val" or "train_noval", which leaves out what VOC validates with.
    mode : str, optional, default="boundaries"
        "boundaries", an array of one plane a class, or "segmentation", an image of classes.
    download : bool, optional, default=False
        Whether to fetch files that are missing.
    transforms : Callable, optional
        Applied to the image and the target.

    """

    url = "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/semantic_contours/benchmark.tgz"
    filename, md5 = "benchmark.tgz", "82b4d87ceb2ed10f6038a1cba92111cb"
    voc_train_url = "https://www.cs.cornell.edu/~bharathh/train_noval.txt"
    voc_split_filename, voc_split_md5 = "train_noval.txt", "79bff800c5f0b1ec6b21080a3c066722"
    num_classes = 20

    def __init__(self, root, image_set="train", mode="boundaries", download=False, transforms=None):
        super().__init__(root, transforms)
        self.image_set = verify_str_arg(image_set, "image_set", ("train", "val", "train_noval"))
        self.mode = verify_str_arg(mode, "mode", ("segmentation", "boundaries"))
        if download:
            self._download()
        if not os.path.isdir(self.root):
            raise RuntimeError(MISSING)
        with open(os.path.join(self.root, f"{image_set}.txt"), encoding="utf-8") as file:
            names = [line.strip() for line in file]
        self.images = [os.path.join(self.root, "img", f"{name}.jpg") for name in names]
        self.masks = [os.path.join(self.root, "cls", f"{name}.mat") for name in names]

    def _download(self):
        download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.md5)
        for name in ("cls", "img", "inst", "train.txt", "val.txt"):
            shutil.move(os.path.join(self.root, "benchmark_RELEASE", "dataset", name), self.root)
        if self.image_set == "train_noval":
            download_url(self.voc_train_url, self.root, self.voc_split_filename, self.voc_split_md5)

    def _get_target(self, path):
        found = load_matlab(path, "SBDataset", squeeze_me=False)["GTcls"][0]
        if self.mode == "segmentation":
            return Image.fromarray(found["Segmentation"][0])
        return numpy.stack([found["Boundaries"][0][index][0].toarray() for index in range(self.num_classes)])

    def __getitem__(self, index):
        image, target = default_loader(self.images[index]), self._get_target(self.masks[index])
        return (image, target) if self.transforms is None else self.transforms(image, target)

    def __len__(self):
        return len(self.images)

    def extra_repr(self):
        return f"Image set: {self.image_set}\nMode: {self.mode}"
