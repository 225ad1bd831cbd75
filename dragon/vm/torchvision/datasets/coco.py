"""COCO: photographs with boxes, masks and key points of objects, or with captions."""
import json
import os
from collections import defaultdict

from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.vision import VisionDataset


class Annotations:
    """A file of annotations in COCO's form, under the names by which `pycocotools` knows it.

    Parameters
    ----------
    annotation_file : Union[str, Path]
        The file.

    """

    def __init__(self, annotation_file):
        with open(annotation_file, encoding="utf-8") as file:
            self.dataset = json.load(file)
        self.imgs = {image["id"]: image for image in self.dataset.get("images", ())}
        self.anns = {item["id"]: item for item in self.dataset.get("annotations", ())}
        self.cats = {item["id"]: item for item in self.dataset.get("categories", ())}
        self.imgToAnns, self.catToImgs = defaultdict(list), defaultdict(list)
        for item in self.anns.values():
            self.imgToAnns[item["image_id"]].append(item)
            if "category_id" in item:
                self.catToImgs[item["category_id"]].append(item["image_id"])

    @staticmethod
    def _many(ids):
        return list(ids) if isinstance(ids, (list, tuple, set)) else [ids]

    def loadImgs(self, ids=()):
        """Return what is known of images."""
        return [self.imgs[key] for key in self._many(ids)]

    def loadAnns(self, ids=()):
        """Return annotations."""
        return [self.anns[key] for key in self._many(ids)]

    def loadCats(self, ids=()):
        """Return categories."""
        return [self.cats[key] for key in self._many(ids)]

    def getAnnIds(self, imgIds=(), catIds=(), areaRng=(), iscrowd=None):
        """Return annotations' numbers: those of images and categories, between two areas, of crowds or of none."""
        images, kinds = self._many(imgIds), self._many(catIds)
        items = [item for key in images for item in self.imgToAnns.get(key, ())] if images else self.anns.values()
        return [item["id"] for item in items
                if (not kinds or item["category_id"] in kinds)
                and (not len(areaRng) or areaRng[0] < item["area"] < areaRng[1])
                and (iscrowd is None or item["iscrowd"] == iscrowd)]

    def getCatIds(self, catNms=(), supNms=(), catIds=()):
        """Return categories' numbers: those of names, of groups, or of a choice."""
        names, groups, ids = self._many(catNms), self._many(supNms), self._many(catIds)
        return [key for key, item in self.cats.items()
                if (not names or item["name"] in names) and (not groups or item["supercategory"] in groups)
                and (not ids or key in ids)]

    def getImgIds(self, imgIds=(), catIds=()):
        """Return images' numbers: those of a choice that show all of some categories."""
        found = set(self._many(imgIds) or self.imgs)
        for kind in self._many(catIds):
            found &= set(self.catToImgs[kind])
        return list(found)


class CocoDetection(VisionDataset):
    """Photographs with the annotations of their objects.

    Parameters
    ----------
    root : Union[str, Path]
        The folder of the photographs.
    annFile : Union[str, Path]
        The file of annotations.
    transform, target_transform, transforms : Callable, optional
        As for `VisionDataset`.

    """

    def __init__(self, root, annFile, transform=None, target_transform=None, transforms=None):
        super().__init__(root, transforms, transform, target_transform)
        self.coco = Annotations(annFile)
        self.ids = sorted(self.coco.imgs)

    def _load_image(self, id):
        path = self.coco.loadImgs(id)[0]["file_name"]
        return default_loader(os.path.join(self.root, path))

    def _load_target(self, id):
        return self.coco.loadAnns(self.coco.getAnnIds(id))

    def __getitem__(self, index):
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        pair = self._load_image(self.ids[index]), self._load_target(self.ids[index])
        return pair if self.transforms is None else self.transforms(*pair)

    def __len__(self):
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """Photographs with captions; see `CocoDetection`."""

    def _load_target(self, id):
        return [item["caption"] for item in super()._load_target(id)]
