"""LSUN: photographs of ten kinds of scenes, in databases of LMDB's."""
import os
import pickle
import string
from collections.abc import Iterable

from dragon.core import files
from dragon.vm.torchvision._postponed import open_picture
from dragon.vm.torchvision.datasets.utils import iterable_to_str, load_arrays, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset

SCENES = ["bedroom", "bridge", "church_outdoor", "classroom", "conference_room", "dining_room", "kitchen",
          "living_room", "restaurant", "tower"]
SPLITS = ["train", "val", "test"]


class LSUNClass(VisionDataset):
    """The photographs of one database, without targets; reading them needs lmdb.

    Parameters
    ----------
    root : str
        The folder of the database.
    transform, target_transform : Callable, optional
        Applied to the image, and to the target, which is None.

    """

    def __init__(self, root, transform=None, target_transform=None):
        try:
            import lmdb
        except ImportError as error:
            raise ImportError("LSUN: found no lmdb, which reads its databases; install it with `pip install lmdb`",
                              name="lmdb") from error
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.env = lmdb.open(root, max_readers=1, readonly=True, lock=False, readahead=False, meminit=False)
        with self.env.begin(write=False) as reading:
            self.length = reading.stat()["entries"]
        # Listing the keys of a large database takes minutes, so they are kept, in the working folder.
        cache = "_cache_" + "".join(letter for letter in root if letter in string.ascii_letters)
        if os.path.isfile(cache):
            self.keys = load_arrays(cache)
            return
        with self.env.begin(write=False) as reading:
            self.keys = list(reading.cursor().iternext(keys=True, values=False))
        with files.rewriting(cache) as file:
            pickle.dump(self.keys, file)

    def __getitem__(self, index):
        with self.env.begin(write=False) as reading:
            found = reading.get(self.keys[index])
        return self._transformed(open_picture(found), None)

    def __len__(self):
        return self.length


class LSUN(VisionDataset):
    """Photographs of scenes, each with the place of its class among the chosen ones.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds the databases, such as `bedroom_train_lmdb`.
    classes : Union[str, Sequence[str]], optional, default="train"
        "train", "val" or "test", or names such as "church_outdoor_train".
    transform, target_transform : Callable, optional
        Applied to the image, and to the class.

    """

    def __init__(self, root, classes="train", transform=None, target_transform=None):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes = verified_classes(classes)
        self.dbs = [LSUNClass(os.path.join(root, f"{name}_lmdb"), transform=transform) for name in self.classes]
        self.indices = []  # where each database ends
        for database in self.dbs:
            self.indices.append(len(database) + (self.indices[-1] if self.indices else 0))
        self.length = self.indices[-1] if self.indices else 0

    def __getitem__(self, index):
        if index >= self.length:
            raise IndexError(f"LSUN: got index {index}, expected one below {self.length}")
        target = next(place for place, end in enumerate(self.indices) if index < end)
        image, _ = self.dbs[target][index - (self.indices[target - 1] if target else 0)]
        return image, target if self.target_transform is None else self.target_transform(target)

    def __len__(self):
        return self.length

    def extra_repr(self):
        return f"Classes: {self.classes}"


def verified_classes(classes):
    """Return the names of databases that a split, or names, stand for; raises ValueError."""
    if isinstance(classes, str) and classes in SPLITS:
        return [classes] if classes == "test" else [f"{scene}_{classes}" for scene in SCENES]
    if not isinstance(classes, Iterable):
        raise ValueError(f"Expected type str or Iterable for argument classes, but got type {type(classes)}.")
    for name in (classes := list(classes)):
        if not isinstance(name, str):
            raise ValueError(f"Expected type str for elements in argument classes, but got type {type(name)}.")
        scene, _, split = name.rpartition("_")
        for word, known, what in ((scene, SCENES, "LSUN class"), (split, SPLITS, "postfix")):
            verify_str_arg(word, valid_values=known, custom_msg=f"Unknown value '{word}' for {what}. Valid values are "
                                                                f"{{{iterable_to_str(known)}}}.")
    return classes
