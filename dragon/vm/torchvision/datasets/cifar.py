"""CIFAR-10 and CIFAR-100 from their batches in Python's form."""
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.utils import check_integrity, load_arrays
from dragon.vm.torchvision.datasets.vision import ArchivedDataset


class CIFAR10(ArchivedDataset):
    """Small images in ten classes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `cifar-10-batches-py`.

    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [["data_batch_1", "c99cafc152244af753f735de768cd75f"],
                  ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
                  ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
                  ["data_batch_4", "634d18415352ddfa80567beed471001a"],
                  ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"]]
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = {"filename": "batches.meta", "key": "label_names", "md5": "5ff9c542aee3614f3951f8cda6e48888"}

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        import numpy
        batches, self.targets = [], []
        for name, _ in self.train_list if train else self.test_list:
            entry = load_arrays(self._path(name))
            batches.append(entry["data"])
            self.targets.extend(entry["labels"] if "labels" in entry else entry["fine_labels"])
        self.data = numpy.vstack(batches).reshape(-1, 3, 32, 32).transpose((0, 2, 3, 1))
        self._load_meta()

    def _is_intact(self, path, md5):
        return check_integrity(path, md5)  # this module's, which test suites put their own in the place of

    def _load_meta(self):
        path = self._path(self.meta["filename"])
        if not check_integrity(path, self.meta["md5"]):
            raise RuntimeError("Dataset metadata file not found or corrupted. You can use download=True to download it")
        self.classes = load_arrays(path)[self.meta["key"]]
        self.class_to_idx = {name: index for index, name in enumerate(self.classes)}

    def __getitem__(self, index):
        return self._transformed(Image.fromarray(self.data[index]), self.targets[index])

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class CIFAR100(CIFAR10):
    """Small images in a hundred classes, in the folder `cifar-100-python`; see `CIFAR10`."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = {"filename": "meta", "key": "fine_label_names", "md5": "7973b15100ade9c7d40fb424638fde48"}
