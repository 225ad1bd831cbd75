"""Cityscapes: photographs of streets with the class of every pixel."""
import json
import os
from collections import namedtuple

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import extract_archive, iterable_to_str, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset

# Name, number, number in training, group, its number, whether objects are told apart, whether it counts, colour.
_CLASSES = """
unlabeled 0 255 void 0 - ignored 0 0 0
ego_vehicle 1 255 void 0 - ignored 0 0 0
rectification_border 2 255 void 0 - ignored 0 0 0
out_of_roi 3 255 void 0 - ignored 0 0 0
static 4 255 void 0 - ignored 0 0 0
dynamic 5 255 void 0 - ignored 111 74 0
ground 6 255 void 0 - ignored 81 0 81
road 7 0 flat 1 - - 128 64 128
sidewalk 8 1 flat 1 - - 244 35 232
parking 9 255 flat 1 - ignored 250 170 160
rail_track 10 255 flat 1 - ignored 230 150 140
building 11 2 construction 2 - - 70 70 70
wall 12 3 construction 2 - - 102 102 156
fence 13 4 construction 2 - - 190 153 153
guard_rail 14 255 construction 2 - ignored 180 165 180
bridge 15 255 construction 2 - ignored 150 100 100
tunnel 16 255 construction 2 - ignored 150 120 90
pole 17 5 object 3 - - 153 153 153
polegroup 18 255 object 3 - ignored 153 153 153
traffic_light 19 6 object 3 - - 250 170 30
traffic_sign 20 7 object 3 - - 220 220 0
vegetation 21 8 nature 4 - - 107 142 35
terrain 22 9 nature 4 - - 152 251 152
sky 23 10 sky 5 - - 70 130 180
person 24 11 human 6 instances - 220 20 60
rider 25 12 human 6 instances - 255 0 0
car 26 13 vehicle 7 instances - 0 0 142
truck 27 14 vehicle 7 instances - 0 0 70
bus 28 15 vehicle 7 instances - 0 60 100
caravan 29 255 vehicle 7 instances ignored 0 0 90
trailer 30 255 vehicle 7 instances ignored 0 0 110
train 31 16 vehicle 7 instances - 0 80 100
motorcycle 32 17 vehicle 7 instances - 0 0 230
bicycle 33 18 vehicle 7 instances - 119 11 32
license_plate -1 -1 vehicle 7 - ignored 0 0 142
"""
_Class = namedtuple("CityscapesClass", "name id train_id category category_id has_instances ignore_in_eval color")


def _classes():
    for line in _CLASSES.strip().splitlines():
        name, number, training, group, group_number, instances, ignored, *colour = line.split()
        yield _Class(name.replace("_", " "), int(number), int(training), group, int(group_number),
                     instances == "instances", ignored == "ignored", tuple(map(int, colour)))


class Cityscapes(VisionDataset):
    """Photographs of streets with targets.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `leftImg8bit` and `gtFine` or `gtCoarse`, or their archives.
    split : str, optional, default="train"
        "train", "test" or "val"; "train", "train_extra" or "val" where the mode is coarse.
    mode : str, optional, default="fine"
        "fine" or "coarse".
    target_type : Union[str, List[str]], optional, default="instance"
        "instance", "semantic", "polygon", "color", or several of them.
    transform, target_transform, transforms : Callable, optional
        As for `VisionDataset`.

    """

    CityscapesClass = _Class
    classes = list(_classes())
    _suffixes = {"instance": "instanceIds.png", "semantic": "labelIds.png", "color": "color.png",
                 "polygon": "polygons.json"}

    def __init__(self, root, split="train", mode="fine", target_type="instance", transform=None, target_transform=None,
                 transforms=None):
        super().__init__(root, transforms, transform, target_transform)
        verify_str_arg(mode, "mode", ("fine", "coarse"))
        splits = ("train", "test" if mode == "fine" else "train_extra", "val")
        verify_str_arg(split, "split", splits, f"Unknown value '{split}' for argument split if mode is '{mode}'. Valid "
                       f"values are {{{iterable_to_str(splits)}}}.")
        self.target_type = target_type if isinstance(target_type, list) else [target_type]
        for kind in self.target_type:
            verify_str_arg(kind, "target_type", ("instance", "semantic", "polygon", "color"))
        self.mode, self.split = "gtFine" if mode == "fine" else "gtCoarse", split
        self.images_dir = os.path.join(self.root, "leftImg8bit", split)
        self.targets_dir = os.path.join(self.root, self.mode, split)
        if not os.path.isdir(self.images_dir) or not os.path.isdir(self.targets_dir):
            self._unpack()
        self.images, self.targets = [], []
        for city in os.listdir(self.images_dir):
            for name in os.listdir(os.path.join(self.images_dir, city)):
                self.images.append(os.path.join(self.images_dir, city, name))
                stem = os.path.join(self.targets_dir, city, name.split("_leftImg8bit")[0])
                self.targets.append([f"{stem}_{self._get_target_suffix(self.mode, kind)}" for kind in self.target_type])

    def _unpack(self):
        images = "trainextra" if self.split == "train_extra" else "trainvaltest"
        archives = [os.path.join(self.root, name) for name in (
            f"leftImg8bit_{images}.zip", "gtFine_trainvaltest.zip" if self.mode == "gtFine" else "gtCoarse.zip")]
        if not all(map(os.path.isfile, archives)):
            raise RuntimeError("Dataset not found or incomplete. Please make sure all required folders for the "
                               'specified "split" and "mode" are inside the "root" directory')
        for archive in archives:
            extract_archive(archive, self.root)

    def __getitem__(self, index):
        found = [self._load_json(path) if kind == "polygon" else Image.open(path)
                 for kind, path in zip(self.target_type, self.targets[index])]
        pair = default_loader(self.images[index]), tuple(found) if len(found) > 1 else found[0]
        return pair if self.transforms is None else self.transforms(*pair)

    def __len__(self):
        return len(self.images)

    def extra_repr(self):
        return f"Split: {self.split}\nMode: {self.mode}\nType: {self.target_type}"

    def _load_json(self, path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def _get_target_suffix(self, mode, target_type):
        return f"{mode}_{self._suffixes[target_type]}"
