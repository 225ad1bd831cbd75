"""Caltech's photographs of 101 and of 256 kinds of objects."""
import os
import shutil

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import load_matlab
from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive, extract_archive, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class _Caltech(VisionDataset):
    """Photographs in folders by class, numbered from 1."""

    def __init__(self, root, transform, target_transform, download):
        super().__init__(os.path.join(root, type(self).__name__.lower()), transform=transform,
                         target_transform=target_transform)
        os.makedirs(self.root, exist_ok=True)
        if download and not self._check_integrity():
            self.download()
        if not self._check_integrity():
            raise RuntimeError(MISSING)
        self.categories = sorted(set(os.listdir(self._images())) - {"BACKGROUND_Google"})
        self.index, self.y = [], []
        for number, name in enumerate(self.categories):
            count = self._count(os.listdir(self._images(name)))
            self.index += range(1, count + 1)
            self.y += [number] * count

    def _images(self, *names):
        return os.path.join(self.root, self._folder, *names)

    def _check_integrity(self):
        return os.path.exists(self._images())

    def __len__(self):
        return len(self.index)


class Caltech101(_Caltech):
    """Photographs of 101 kinds of objects, with their outlines; reading these needs SciPy.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `caltech101`.
    target_type : Union[str, List[str]], optional, default="category"
        "category", "annotation" or both.
    transform, target_transform, download : optional
        As for `ImageFolder`.

    """

    _folder, _count = "101_ObjectCategories", staticmethod(len)
    # The outlines of four classes lie in folders of other names.
    _renamed = {"Faces": "Faces_2", "Faces_easy": "Faces_3", "Motorbikes": "Motorbikes_16",
                "airplanes": "Airplanes_Side_2"}

    def __init__(self, root, target_type="category", transform=None, target_transform=None, download=False):
        kinds = [target_type] if isinstance(target_type, str) else target_type
        self.target_type = [verify_str_arg(kind, "target_type", ("category", "annotation")) for kind in kinds]
        super().__init__(root, transform, target_transform, download)
        self.annotation_categories = [self._renamed.get(name, name) for name in self.categories]

    def __getitem__(self, index):
        number, label = self.index[index], self.y[index]
        image = Image.open(self._images(self.categories[label], f"image_{number:04d}.jpg"))
        found = []
        for kind in self.target_type:
            if kind == "category":
                found.append(label)
                continue
            path = os.path.join(self.root, "Annotations", self.annotation_categories[label],
                                f"annotation_{number:04d}.mat")
            found.append(load_matlab(path, "Caltech101", squeeze_me=False)["obj_contour"])
        return self._transformed(image, tuple(found) if len(found) > 1 else found[0])

    def download(self):
        """Fetch the archive and unpack what is in it."""
        download_and_extract_archive("https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip", self.root,
                                     filename="caltech-101.zip", md5="3138e1922a9193bfa496528edbbc45d0")
        inner = os.path.join(self.root, "caltech-101")
        for name in os.listdir(inner):
            if name.endswith(".gz"):
                extract_archive(os.path.join(inner, name), self.root)
        shutil.rmtree(inner)
        os.remove(os.path.join(self.root, "caltech-101.zip"))

    def extra_repr(self):
        return f"Target type: {self.target_type}"


class Caltech256(_Caltech):
    """Photographs of 256 kinds of objects, and of none.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `caltech256`.
    transform, target_transform, download : optional
        As for `ImageFolder`.

    """

    _folder = "256_ObjectCategories"

    def __init__(self, root, transform=None, target_transform=None, download=False):
        super().__init__(root, transform, target_transform, download)

    @staticmethod
    def _count(names):
        return sum(name.endswith(".jpg") for name in names)

    def __getitem__(self, index):
        label = self.y[index]
        name = f"{label + 1:03d}_{self.index[index]:04d}.jpg"
        return self._transformed(Image.open(self._images(self.categories[label], name)), label)

    def download(self):
        """Fetch the archive and unpack it."""
        download_and_extract_archive("https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar",
                                     self.root, filename="256_ObjectCategories.tar",
                                     md5="67b4f42ca05d46448c6bb8ecd2220f6d")
