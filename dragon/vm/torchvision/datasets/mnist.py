"""MNIST and its relatives, from files of the IDX format."""
import os
import shutil
import string

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torchvision.datasets.utils import (check_integrity, download_and_extract_archive, extract_archive,
                                                  verify_str_arg)
from dragon.vm.torchvision.datasets.vision import VisionDataset
from dragon.vm.torchvision.transforms.functional import _image_from_array

_NAMES = tuple(f"{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))
DIGITS = [f"{index} - {word}" for index, word in
          enumerate("zero one two three four five six seven eight nine".split())]


def _renamed(new, old):
    def read(self):
        warnings.warn(f"{old} has been renamed {new}")
        return getattr(self, new)
    read.__doc__ = f"The old name of `{new}`."
    return property(read)


class MNIST(VisionDataset):
    """Images of handwritten digits.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `MNIST/raw/train-images-idx3-ubyte` and the other three files.

    """

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"]
    resources = list(zip(_NAMES, ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
                                  "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c")))
    training_file, test_file = "training.pt", "test.pt"
    classes = DIGITS
    train_labels, test_labels = _renamed("targets", "train_labels"), _renamed("targets", "test_labels")
    train_data, test_data = _renamed("data", "train_data"), _renamed("data", "test_data")

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError("Dataset not found. You can use download=True to download it")
        self.data, self.targets = self._load_data()

    def _files(self):
        part = "train" if self.train else "t10k"
        return f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"

    def _load_data(self):
        images, labels = (os.path.join(self.raw_folder, name) for name in self._files())
        return read_image_file(images), read_label_file(labels)

    def _image(self, index):
        return _image_from_array(self.data[index].numpy(), mode="L")

    def __getitem__(self, index):
        return self._transformed(self._image(index), int(self.targets[index]))

    def __len__(self):
        return len(self.data)

    @property
    def raw_folder(self):
        """The folder of the files."""
        return os.path.join(self.root, self.__class__.__name__, "raw")

    @property
    def processed_folder(self):
        """The folder in which old versions of torchvision kept tensors."""
        return os.path.join(self.root, self.__class__.__name__, "processed")

    class_to_idx = property(lambda self: {name: index for index, name in enumerate(self.classes)},
                            doc="The number of each class.")

    def _check_exists(self):
        return all(check_integrity(os.path.join(self.raw_folder, os.path.splitext(name)[0]))
                   for name, _ in self.resources)

    def download(self):
        """Fetch the files that are missing."""
        if self._check_exists():
            return
        os.makedirs(self.raw_folder, exist_ok=True)
        for name, md5 in self.resources:
            errors = []
            for mirror in self.mirrors:
                try:
                    download_and_extract_archive(mirror + name, download_root=self.raw_folder, filename=name, md5=md5)
                    break
                except RuntimeError as error:
                    errors.append(str(error))
            else:
                raise RuntimeError(f"Error downloading {name}:\n" + "\n".join(errors))

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class FashionMNIST(MNIST):
    """Images of clothes, in the folder `FashionMNIST/raw`; see `MNIST`."""

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = list(zip(_NAMES, ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
                                  "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310")))
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


class KMNIST(MNIST):
    """Images of cursive Japanese letters, in the folder `KMNIST/raw`; see `MNIST`."""

    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources = list(zip(_NAMES, ("bdb82020997e1d708af4cf47b453dcf7", "e144d726b3acfaa3e44228e80efcd344",
                                  "5c965bf0a639b31b8f53240b1b52f4d7", "7320c461ea6c1c855c0b718fb2a4b134")))
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    """Images of handwritten letters and digits, in the folder `EMNIST/raw`.

    Parameters
    ----------
    root : Union[str, Path]
        The folder above.
    split : str
        "byclass", "bymerge", "balanced", "letters", "digits" or "mnist".
    kwargs
        As for `MNIST`.

    """

    url = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"
    md5 = "58c8d27c78d21e728a6bc7b3cc06412e"
    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    _merged_classes = set("cijklmopsuvwxyz")
    _all_classes = set(string.digits + string.ascii_letters)
    classes_split_dict = {"byclass": sorted(_all_classes), "bymerge": sorted(_all_classes - _merged_classes),
                          "balanced": sorted(_all_classes - _merged_classes),
                          "letters": ["N/A", *string.ascii_lowercase], "digits": list(string.digits),
                          "mnist": list(string.digits)}

    def __init__(self, root, split, **kwargs):
        self.split = verify_str_arg(split, "split", self.splits)
        super().__init__(root, **kwargs)
        self.classes = self.classes_split_dict[self.split]

    def _files(self):
        prefix = f"emnist-{self.split}-{'train' if self.train else 'test'}"
        return f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"

    def _check_exists(self):
        return all(check_integrity(os.path.join(self.raw_folder, name)) for name in self._files())

    def download(self):
        if self._check_exists():
            return
        os.makedirs(self.raw_folder, exist_ok=True)
        download_and_extract_archive(self.url, download_root=self.raw_folder, md5=self.md5)
        packed = os.path.join(self.raw_folder, "gzip")
        for name in os.listdir(packed):
            if name.endswith(".gz"):
                extract_archive(os.path.join(packed, name), self.raw_folder)
        shutil.rmtree(packed)


class QMNIST(MNIST):
    """MNIST with all its test images and what is known of each, in the folder `QMNIST/raw`.

    Parameters
    ----------
    root : Union[str, Path]
        The folder above.
    what : str, optional
        "train", "test", "test10k", "test50k" or "nist"; by `train` by default.
    compat : bool, optional, default=True
        Whether a target is the class alone.
    train : bool, optional, default=True
        Which part, if `what` does not say.
    kwargs
        As for `MNIST`.

    """

    subsets = {"train": "train", "test": "test", "test10k": "test", "test50k": "test", "nist": "nist"}
    _names = {"train": "qmnist-train", "test": "qmnist-test", "nist": "xnist"}
    _source = "https://raw.githubusercontent.com/facebookresearch/qmnist/master/"

    def __init__(self, root, what=None, compat=True, train=True, **kwargs):
        what = what or ("train" if train else "test")
        self.what, self.compat = verify_str_arg(what, "what", tuple(self.subsets)), compat
        super().__init__(root, train, **kwargs)

    def _files(self):
        name = self._names[self.subsets[self.what]]
        return f"{name}-images-idx3-ubyte", f"{name}-labels-idx2-int"

    _check_exists = EMNIST._check_exists

    def _load_data(self):
        images, labels = (os.path.join(self.raw_folder, name) for name in self._files())
        part = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}.get(self.what, slice(None))
        return read_image_file(images)[part].clone(), read_sn3_pascalvincent_tensor(labels).long()[part].clone()

    def __getitem__(self, index):
        target = self.targets[index]
        return self._transformed(self._image(index), int(target[0]) if self.compat else target)

    def download(self):
        if self._check_exists():
            return
        suffix = ".xz" if self.subsets[self.what] == "nist" else ".gz"
        for name in self._files():
            download_and_extract_archive(self._source + name + suffix, self.raw_folder)

    def extra_repr(self):
        return f"Split: {self.what}"


SN3_PASCALVINCENT_TYPEMAP = {8: torch.uint8, 9: torch.int8, 11: torch.int16, 12: torch.int32, 13: torch.float32,
                             14: torch.float64}


def read_sn3_pascalvincent_tensor(path, strict=True):
    """Return what an IDX file holds: its type, its sizes and its numbers, the most significant byte first."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    kind, rank = data[2], data[3]
    if data[:2] != b"\0\0" or kind not in SN3_PASCALVINCENT_TYPEMAP or not 1 <= rank <= 3:
        raise AssertionError(f"{path}: got the head {bytes(data[:4])!r}, expected that of an IDX file")
    dtype = SN3_PASCALVINCENT_TYPEMAP[kind]
    start = 4 * (rank + 1)
    sizes = [int.from_bytes(data[offset:offset + 4], "big") for offset in range(4, start, 4)]
    numbers = torch.frombuffer(data, dtype=torch.uint8, offset=start)
    if dtype.itemsize > 1:
        numbers = numbers.view(-1, dtype.itemsize).flip(1).contiguous().view(-1).view(dtype)
    else:
        numbers = numbers.view(dtype)
    return numbers.view(*sizes)


def _read(path, rank):
    numbers = read_sn3_pascalvincent_tensor(path, strict=False)
    if numbers.dtype != torch.uint8:
        raise TypeError(f"x should be of dtype torch.uint8 instead of {numbers.dtype}")
    if numbers.ndim != rank:
        raise ValueError(f"x should have {rank} dimension instead of {numbers.ndim}")
    return numbers


def read_label_file(path):
    """Return the labels in an IDX file."""
    return _read(path, 1).long()


def read_image_file(path):
    """Return the images in an IDX file."""
    return _read(path, 3)
