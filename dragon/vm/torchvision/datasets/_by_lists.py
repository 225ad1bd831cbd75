"""Data sets whose files of text, or of MATLAB, tell the class of each image."""
import csv
import importlib.resources
import json
import os

from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader, make_dataset
from dragon.vm.torchvision.datasets.utils import check_integrity, download_url, verify_str_arg


def load_matlab(path, who, squeeze_me=True):
    """Return what a file of MATLAB's holds; SciPy reads it."""
    try:
        from scipy.io import loadmat
    except ImportError as error:
        raise ImportError(f"{who}: found no SciPy, which reads MATLAB's files; install it with `pip install scipy`",
                          name="scipy") from error
    return loadmat(path, squeeze_me=squeeze_me)


class Food101(ListedImages):
    """Photographs of 101 kinds of food.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `food-101`.
    split : str, optional, default="train"
        "train" or "test".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz", "85eeb15f3717b99a5da872d97d918f87"),)

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "test"))
        self._folder = folder_of(root, "food-101")
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder / "meta", self._folder / "images")

    def _list(self):
        with open(self._folder / "meta" / f"{self._split}.json", encoding="utf-8") as file:
            listed = json.load(file)
        self._name_classes(sorted(listed))
        pairs = [(self._folder.joinpath("images", *f"{path}.jpg".split("/")), self.class_to_idx[name])
                 for name, paths in listed.items() for path in paths]
        return [path for path, _ in pairs], [label for _, label in pairs]

    def extra_repr(self):
        return f"split={self._split}"


class DTD(ListedImages):
    """Photographs of 47 kinds of texture.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `dtd`.
    split : str, optional, default="train"
        "train", "val" or "test".
    partition : int, optional, default=1
        Which of ten splits, 1 to 10.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("https://www.robots.ox.ac.uk/~vgg/data/dtd/download/dtd-r1.0.1.tar.gz",
                  "fff73e5086ae6bdbea199a49dfb8a4c1"),)

    def __init__(self, root, split="train", partition=1, transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "test"))
        if not isinstance(partition, int) or not 1 <= partition <= 10:
            raise ValueError("Parameter 'partition' should be an integer with `1 <= partition <= 10`, but got "
                             f"{partition} instead")
        self._partition, self._folder = partition, folder_of(root, "dtd", "dtd")
        super().__init__(root, transform, target_transform, download, loader)

    def _archives_to(self):
        return self._folder.parent

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        with open(self._folder / "labels" / f"{self._split}{self._partition}.txt", encoding="utf-8") as file:
            listed = [line.strip().split("/") for line in file]
        self._name_classes(sorted({name for name, _ in listed}))
        return ([self._folder.joinpath("images", *pair) for pair in listed],
                [self.class_to_idx[name] for name, _ in listed])

    def extra_repr(self):
        return f"split={self._split}, partition={self._partition}"


class FGVCAircraft(ListedImages):
    """Photographs of aircraft by variant, family or manufacturer.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `fgvc-aircraft-2013b`.
    split : str, optional, default="trainval"
        "train", "val", "trainval" or "test".
    annotation_level : str, optional, default="variant"
        "variant", "family" or "manufacturer".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/fgvc-aircraft-2013b.tar.gz", None),)
    _levels = {"variant": "variants.txt", "family": "families.txt", "manufacturer": "manufacturers.txt"}

    def __init__(self, root, split="trainval", annotation_level="variant", transform=None, target_transform=None,
                 download=False, loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "trainval", "test"))
        self._annotation_level = verify_str_arg(annotation_level, "annotation_level", tuple(self._levels))
        self._folder = folder_of(root, "fgvc-aircraft-2013b")
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        data = self._folder / "data"
        with open(data / self._levels[self._annotation_level], encoding="utf-8") as file:
            self._name_classes(line.strip() for line in file)
        with open(data / f"images_{self._annotation_level}_{self._split}.txt", encoding="utf-8") as file:
            listed = [line.strip().split(" ", 1) for line in file]
        return ([os.path.join(data, "images", f"{name}.jpg") for name, _ in listed],
                [self.class_to_idx[label] for _, label in listed])


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


class StanfordCars(ListedImages):
    """Photographs of 196 kinds of cars; reading their lists needs SciPy, and nobody serves them any more.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `stanford_cars`.
    split : str, optional, default="train"
        "train" or "test".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "test"))
        self._folder = folder_of(root, "stanford_cars")
        lists = {"train": "devkit/cars_train_annos.mat", "test": "cars_test_annos_withlabels.mat"}
        self._lists, self._images = self._folder / lists[split], self._folder / f"cars_{split}"
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder / "devkit", self._images) and self._lists.exists()

    def _download(self):
        raise ValueError("The original URL is broken so the StanfordCars dataset cannot be downloaded anymore.")

    def _list(self):
        listed = load_matlab(self._lists, "StanfordCars")["annotations"]
        names = load_matlab(str(self._folder / "devkit" / "cars_meta.mat"), "StanfordCars")["class_names"]
        self._name_classes(names.tolist())
        listed = listed.reshape(-1)
        return ([str(self._images / item["fname"]) for item in listed], [item["class"] - 1 for item in listed])


class SUN397(ListedImages):
    """Photographs of 397 kinds of scenes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `SUN397`.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("http://vision.princeton.edu/projects/2010/SUN/SUN397.tar.gz", "8ca2778205c41d23104230ba66911c7a"),)

    def __init__(self, root, transform=None, target_transform=None, download=False, loader=default_loader):
        self._folder = folder_of(root, "SUN397")
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        with open(self._folder / "ClassName.txt", encoding="utf-8") as file:
            self._name_classes(line[3:].strip() for line in file)  # a line is like "/a/abbey"
        paths = list(self._folder.rglob("sun_*.jpg"))
        return paths, [self.class_to_idx["/".join(path.relative_to(self._folder).parts[1:-1])] for path in paths]


class CLEVRClassification(ListedImages):
    """Drawn scenes by the number of their objects.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `clevr`.
    split : str, optional, default="train"
        "train", "val" or "test", which has no targets.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("https://dl.fbaipublicfiles.com/clevr/CLEVR_v1.0.zip", "b11922020e72d0cd9154779b2d3d07d2"),)

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False,
                 loader=default_loader):
        self._split = verify_str_arg(split, "split", ("train", "val", "test"))
        self._folder = folder_of(root, "clevr", "CLEVR_v1.0")
        super().__init__(root, transform, target_transform, download, loader)

    def _archives_to(self):
        return self._folder.parent

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        paths = sorted(self._folder.joinpath("images", self._split).glob("*"))
        if self._split == "test":
            return paths, [None] * len(paths)
        with open(self._folder / "scenes" / f"CLEVR_{self._split}_scenes.json", encoding="utf-8") as file:
            counts = {scene["image_filename"]: len(scene["objects"]) for scene in json.load(file)["scenes"]}
        return paths, [counts[path.name] for path in paths]

    def extra_repr(self):
        return f"split={self._split}"


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
