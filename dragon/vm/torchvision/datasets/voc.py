"""Pascal VOC: photographs with boxes of objects, or with the class of every pixel."""
import os
from collections import defaultdict
from xml.etree import ElementTree

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


def _year(year, file, md5, folder, saved=None):
    return {"url": f"https://thor.robots.ox.ac.uk/pascal/VOC/voc{year}/{file}", "filename": saved or file, "md5": md5,
            "base_dir": folder}


_KIT = "VOCdevkit"
DATASET_YEAR_DICT = {
    "2012": _year(2012, "VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd",
                  os.path.join(_KIT, "VOC2012")),
    "2011": _year(2011, "VOCtrainval_25-May-2011.tar", "6c3384ef61512963050cb5d687e5bf1e",
                  os.path.join("TrainVal", _KIT, "VOC2011")),
    "2010": _year(2010, "VOCtrainval_03-May-2010.tar", "da459979d0c395079b5c75ee67908abb",
                  os.path.join(_KIT, "VOC2010")),
    "2009": _year(2009, "VOCtrainval_11-May-2009.tar", "a3e00b113cfcfebf17e343f59da3caa1",
                  os.path.join(_KIT, "VOC2009")),
    "2008": _year(2008, "VOCtrainval_14-Jul-2008.tar", "2629fa636546599198acfcfbfcf1904a",
                  os.path.join(_KIT, "VOC2008"), "VOCtrainval_11-May-2012.tar"),
    "2007": _year(2007, "VOCtrainval_06-Nov-2007.tar", "c52e279531787c972589f7e41ab4ae64",
                  os.path.join(_KIT, "VOC2007")),
    "2007-test": _year(2007, "VOCtest_06-Nov-2007.tar", "b6e924de25625d8de591ea690078ad9f",
                       os.path.join(_KIT, "VOC2007"))}


class _VOCBase(VisionDataset):
    """Photographs of a year's list, with targets of a kind.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `VOCdevkit`.
    year : str, optional, default="2012"
        "2007" to "2012".
    image_set : str, optional, default="train"
        "train", "trainval" or "val"; "test" in 2007.
    download : bool, optional, default=False
        Whether to fetch files that are missing.
    transform, target_transform, transforms : Callable, optional
        As for `VisionDataset`.

    """

    def __init__(self, root, year="2012", image_set="train", download=False, transform=None, target_transform=None,
                 transforms=None):
        super().__init__(root, transforms, transform, target_transform)
        self.year = verify_str_arg(year, "year", valid_values=[str(number) for number in range(2007, 2013)])
        sets = ["train", "trainval", "val"] + ["test"] * (year == "2007")
        self.image_set = verify_str_arg(image_set, "image_set", sets)
        facts = DATASET_YEAR_DICT["2007-test" if (year, image_set) == ("2007", "test") else year]
        self.url, self.filename, self.md5 = facts["url"], facts["filename"], facts["md5"]
        folder = os.path.join(self.root, facts["base_dir"])
        if download:
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.md5)
        if not os.path.isdir(folder):
            raise RuntimeError(MISSING)
        with open(os.path.join(folder, "ImageSets", self._SPLITS_DIR, f"{image_set}.txt"), encoding="utf-8") as file:
            names = [line.strip() for line in file]
        self.images = [os.path.join(folder, "JPEGImages", f"{name}.jpg") for name in names]
        self.targets = [os.path.join(folder, self._TARGET_DIR, name + self._TARGET_FILE_EXT) for name in names]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        pair = default_loader(self.images[index]), self._target(self.targets[index])
        return pair if self.transforms is None else self.transforms(*pair)


class VOCSegmentation(_VOCBase):
    """Photographs with the class of every pixel; see `VOCDetection` for the arguments."""

    _SPLITS_DIR, _TARGET_DIR, _TARGET_FILE_EXT = "Segmentation", "SegmentationClass", ".png"

    @property
    def masks(self):
        """Return the files of the classes."""
        return self.targets

    def _target(self, path):
        return Image.open(path)


class VOCDetection(_VOCBase):
    """Photographs with the boxes of objects, as a tree of dictionaries.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `VOCdevkit`.
    year : str, optional, default="2012"
        "2007" to "2012".
    image_set : str, optional, default="train"
        "train", "trainval" or "val"; "test" in 2007.
    download : bool, optional, default=False
        Whether to fetch files that are missing.
    transform, target_transform, transforms : Callable, optional
        As for `VisionDataset`.

    """

    _SPLITS_DIR, _TARGET_DIR, _TARGET_FILE_EXT = "Main", "Annotations", ".xml"

    @property
    def annotations(self):
        """Return the files of the boxes."""
        return self.targets

    def _target(self, path):
        return self.parse_voc_xml(ElementTree.parse(path).getroot())

    @staticmethod
    def parse_voc_xml(node):
        """Return a node as a dictionary; what comes more than once, and objects always, as a list."""
        children = list(node)
        if not children:
            return {node.tag: node.text.strip()} if node.text else {}
        found = defaultdict(list)
        for child in map(VOCDetection.parse_voc_xml, children):
            for tag, value in child.items():
                found[tag].append(value)
        if node.tag == "annotation":
            found["object"] = [found["object"]]
        return {node.tag: {tag: values[0] if len(values) == 1 else values for tag, values in found.items()}}
