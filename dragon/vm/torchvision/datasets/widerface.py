"""WIDER FACE: photographs of crowds with a box around each face."""
import itertools
import os

from dragon.vm import torch
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.utils import (download_and_extract_archive, download_file_from_google_drive,
                                                  extract_archive, verify_str_arg)
from dragon.vm.torchvision.datasets.vision import VisionDataset

# What a line tells of a face, behind its box.
MARKS = ("blur", "expression", "illumination", "occlusion", "pose", "invalid")


class WIDERFace(VisionDataset):
    """Photographs, each with a dictionary of what is known of its faces.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `widerface`.
    split : str, optional, default="train"
        "train", "val" or "test", which has no targets.
    transform, target_transform, download : optional
        As for `ImageFolder`.

    """

    BASE_FOLDER = "widerface"
    FILE_LIST = [("15hGDLhsx8bLgLcIRD5DhYt5iBxnjNF1M", "3fedf70df600953d25982bcd13d91ba2", "WIDER_train.zip"),
                 ("1GUCogbp16PMGa39thoMMeWxp7Rp5oM8Q", "dfa7d7e790efa35df3788964cf0bbaea", "WIDER_val.zip"),
                 ("1HIfDbVEWKmsYKJZm4lchTBDLW5N7dY5T", "e5d8f4248ed24c334bbd12f49c29dd40", "WIDER_test.zip")]
    ANNOTATIONS_FILE = ("http://shuoyang1213.me/WIDERFACE/support/bbx_annotation/wider_face_split.zip",
                        "0e3767bcf0e326556d407bf5bff5d27c", "wider_face_split.zip")

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(os.path.join(root, self.BASE_FOLDER), transform=transform, target_transform=target_transform)
        self.split = verify_str_arg(split, "split", ("train", "val", "test"))
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download and prepare it")
        self.img_info = self._list_test() if split == "test" else self._list_known()

    def _lines(self, name):
        with open(os.path.join(self.root, "wider_face_split", name), encoding="utf-8") as file:
            return [line.rstrip() for line in file]

    def _image(self, name):
        return os.path.abspath(os.path.expanduser(os.path.join(self.root, f"WIDER_{self.split}", "images", name)))

    def _list_test(self):
        return [{"img_path": self._image(line)} for line in self._lines("wider_face_test_filelist.txt")]

    def _list_known(self):
        lines, found = iter(self._lines(f"wider_face_{self.split}_bbx_gt.txt")), []
        for name in filter(None, lines):
            # An image without faces has a line of zeros all the same.
            count = max(int(next(lines, "0")), 1)
            faces = [list(map(int, line.split())) for line in itertools.islice(lines, count)]
            if len(faces) < count:
                raise RuntimeError(f"WIDERFace: the list of faces ends within those of {name}")
            columns = torch.tensor(faces)
            marks = {mark: columns[:, place].clone() for place, mark in enumerate(MARKS, 4)}
            found.append({"img_path": self._image(name), "annotations": {"bbox": columns[:, :4].clone(), **marks}})
        return found

    def _check_integrity(self):
        return all(os.path.exists(os.path.join(self.root, os.path.splitext(name)[0]))
                   for _, _, name in (*self.FILE_LIST, self.ANNOTATIONS_FILE))

    def download(self):
        """Fetch the files that are missing."""
        if self._check_integrity():
            return
        for number, md5, name in self.FILE_LIST:
            download_file_from_google_drive(number, self.root, name, md5)
            extract_archive(os.path.join(self.root, name))
        url, md5, _ = self.ANNOTATIONS_FILE
        download_and_extract_archive(url, self.root, md5=md5)

    def __getitem__(self, index):
        found = self.img_info[index]
        return self._transformed(Image.open(found["img_path"]), found.get("annotations"))

    def __len__(self):
        return len(self.img_info)

    def extra_repr(self):
        return f"Split: {self.split}"
