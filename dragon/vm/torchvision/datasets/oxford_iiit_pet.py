"""Oxford's photographs of cats and dogs."""
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, MISSING
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class OxfordIIITPet(VisionDataset):
    """Photographs of 37 breeds of cats and dogs.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `oxford-iiit-pet`.
    split : str, optional, default="trainval"
        "trainval" or "test".
    target_types : Union[str, Sequence[str]], optional, default="category"
        "category", "binary-category", "segmentation", or several of them.
    transforms, transform, target_transform : Callable, optional
        As for `VisionDataset`.
    download : bool, optional, default=False
        Whether to fetch files that are missing.

    """

    _RESOURCES = (("https://www.robots.ox.ac.uk/~vgg/data/pets/data/images.tar.gz",
                   "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
                  ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/annotations.tar.gz",
                   "95a8c909bbe2e81eed6a22bccdf3f68f"))
    _VALID_TARGET_TYPES = ("category", "binary-category", "segmentation")

    def __init__(self, root, split="trainval", target_types="category", transforms=None, transform=None,
                 target_transform=None, download=False):
        self._split = verify_str_arg(split, "split", ("trainval", "test"))
        kinds = [target_types] if isinstance(target_types, str) else target_types
        self._target_types = [verify_str_arg(kind, "target_types", self._VALID_TARGET_TYPES) for kind in kinds]
        super().__init__(root, transforms=transforms, transform=transform, target_transform=target_transform)
        self._folder = folder_of(root, "oxford-iiit-pet")
        there = (self._folder / "images", self._folder / "annotations")
        if download and not folders_there(*there):
            for url, md5 in self._RESOURCES:
                download_and_extract_archive(url, str(self._folder), md5=md5)
        if not folders_there(*there):
            raise RuntimeError(MISSING)
        with open(self._folder / "annotations" / f"{self._split}.txt", encoding="utf-8") as file:
            rows = [line.split() for line in file]
        self._names = [row[0] for row in rows]
        self._labels, self._bin_labels = ([int(row[place]) - 1 for row in rows] for place in (1, 2))
        self._images = [there[0] / f"{name}.jpg" for name in self._names]
        self._segs = [there[1] / "trimaps" / f"{name}.png" for name in self._names]
        breeds = {(name.rsplit("_", 1)[0], label) for name, label in zip(self._names, self._labels)}
        self.classes = [" ".join(word.title() for word in name.split("_"))
                        for name, _ in sorted(breeds, key=lambda breed: breed[1])]
        self.bin_classes = ["Cat", "Dog"]
        self.class_to_idx, self.bin_class_to_idx = ({name: index for index, name in enumerate(names)}
                                                    for names in (self.classes, self.bin_classes))

    def __len__(self):
        return len(self._images)

    def __getitem__(self, idx):
        makers = {"category": lambda: self._labels[idx], "binary-category": lambda: self._bin_labels[idx],
                  "segmentation": lambda: Image.open(self._segs[idx])}
        found = tuple(makers[kind]() for kind in self._target_types)
        pair = (default_loader(self._images[idx]), found if len(found) > 1 else found[0] if found else None)
        return self.transforms(*pair) if self.transforms else pair
