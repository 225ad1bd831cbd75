"""STL-10 from its binary files."""
import os

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.utils import check_integrity, verify_str_arg
from dragon.vm.torchvision.datasets.vision import ArchivedDataset


class STL10(ArchivedDataset):
    """Images of 96 by 96 pixels in ten classes, and many without a class.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `stl10_binary`.
    split : str, optional, default="train"
        "train", "test", "unlabeled" or "train+unlabeled".
    folds : int, optional
        One of ten parts of the training images.

    """

    base_folder = "stl10_binary"
    url = "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz"
    filename = "stl10_binary.tar.gz"
    tgz_md5 = "91f7769df0f17e558f3565bffb0c7dfb"
    class_names_file = "class_names.txt"
    folds_list_file = "fold_indices.txt"
    train_list = [["train_X.bin", "918c2871b30a85fa023e0c44e0bee87f"],
                  ["train_y.bin", "5a34089d4802c674881badbb80307741"],
                  ["unlabeled_X.bin", "5242ba1fed5e4be9e1e742405eb56ca4"]]
    test_list = [["test_X.bin", "7f263ba9f9e0b06b93213547f721ac82"],
                 ["test_y.bin", "36f9794fa4beb8a2c72628de14fa638e"]]
    splits = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(self, root, split="train", folds=None, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split, self.folds = verify_str_arg(split, "split", self.splits), self._verify_folds(folds)
        if download:
            self.download()
        elif not self._check_integrity():
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        import numpy
        if split == "test":
            self.data, self.labels = self._images("test_X.bin"), self._labels("test_y.bin")
        elif split == "unlabeled":
            self.data = self._images("unlabeled_X.bin")
            self.labels = numpy.full(len(self.data), -1)
        else:
            self.data, self.labels = self._images("train_X.bin"), self._labels("train_y.bin")
            if folds is not None:
                with open(self._path(self.folds_list_file)) as file:
                    chosen = [int(word) for word in file.read().splitlines()[folds].split()]
                self.data, self.labels = self.data[chosen], self.labels[chosen]
            if split == "train+unlabeled":
                more = self._images("unlabeled_X.bin")
                self.data = numpy.concatenate((self.data, more))
                self.labels = numpy.concatenate((self.labels, numpy.full(len(more), -1)))
        if os.path.isfile(self._path(self.class_names_file)):
            with open(self._path(self.class_names_file)) as file:
                self.classes = file.read().splitlines()

    def _is_intact(self, path, md5):
        return check_integrity(path, md5)  # this module's, which test suites put their own in the place of

    def _images(self, name):
        import numpy
        return numpy.fromfile(self._path(name), dtype="uint8").reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)

    def _labels(self, name):
        import numpy
        return numpy.fromfile(self._path(name), dtype="uint8") - 1

    def _verify_folds(self, folds):
        if folds is not None and not isinstance(folds, int):
            raise ValueError(f"Expected type None or int for argument folds, but got type {type(folds)}.")
        if folds is not None and folds not in range(10):
            raise ValueError(f"Value for argument folds should be in the range [0, 10), but got {folds}.")
        return folds

    def __getitem__(self, index):
        return self._transformed(Image.fromarray(self.data[index].transpose(1, 2, 0)), int(self.labels[index]))

    def extra_repr(self):
        return f"Split: {self.split}"
