"""KITTI: photographs of streets with boxes around what moves there."""
import csv
import os

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import folders_there
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive
from dragon.vm.torchvision.datasets.vision import VisionDataset


class Kitti(VisionDataset):
    """Photographs of streets, each with a list of dictionaries of objects.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `Kitti/raw`.
    train : bool, optional, default=True
        The images for training, or those for tests, which have no targets.
    transform, target_transform, transforms : Callable, optional
        Applied to the image, to the target, and to both.
    download : bool, optional, default=False
        Whether to fetch files that are missing.

    """

    data_url = "https://s3.eu-central-1.amazonaws.com/avg-kitti/"
    resources = ["data_object_image_2.zip", "data_object_label_2.zip"]
    image_dir_name, labels_dir_name = "image_2", "label_2"

    def __init__(self, root, train=True, transform=None, target_transform=None, transforms=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform, transforms=transforms)
        self.train, self._location = train, "training" if train else "testing"
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError("Dataset not found. You may use download=True to download it.")
        images = self._folder(self.image_dir_name)
        names = os.listdir(images)
        self.images = [os.path.join(images, name) for name in names]
        self.targets = [os.path.join(self._folder(self.labels_dir_name), f"{name.split('.')[0]}.txt")
                        for name in names] if train else []

    @property
    def _raw_folder(self):
        return os.path.join(self.root, self.__class__.__name__, "raw")

    def _folder(self, name):
        return os.path.join(self._raw_folder, self._location, name)

    def _check_exists(self):
        wanted = [self.image_dir_name, self.labels_dir_name] if self.train else [self.image_dir_name]
        return folders_there(*map(self._folder, wanted))

    def download(self):
        """Fetch the files that are missing."""
        if not self._check_exists():
            for name in self.resources:
                download_and_extract_archive(f"{self.data_url}{name}", self._raw_folder, filename=name)

    def _parse_target(self, index):
        with open(self.targets[index], encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter=" "))
        return [{"type": kind, "truncated": float(truncated), "occluded": int(occluded), "alpha": float(alpha),
                 "bbox": list(map(float, numbers[:4])), "dimensions": list(map(float, numbers[4:7])),
                 "location": list(map(float, numbers[7:10])), "rotation_y": float(numbers[10])}
                for kind, truncated, occluded, alpha, *numbers in rows]

    def __getitem__(self, index):
        image, target = Image.open(self.images[index]), self._parse_target(index) if self.train else None
        return self.transforms(image, target) if self.transforms else (image, target)

    def __len__(self):
        return len(self.images)
