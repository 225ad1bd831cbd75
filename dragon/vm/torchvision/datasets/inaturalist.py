"""iNaturalist: photographs of plants and animals."""
import os

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset

CATEGORIES_2021 = ["kingdom", "phylum", "class", "order", "family", "genus"]
_BASE = "https://ml-inat-competition-datasets.s3.amazonaws.com/"
DATASET_URLS = {"2017": f"{_BASE}2017/train_val_images.tar.gz", "2018": f"{_BASE}2018/train_val2018.tar.gz",
                "2019": f"{_BASE}2019/train_val2019.tar.gz", "2021_train": f"{_BASE}2021/train.tar.gz",
                "2021_train_mini": f"{_BASE}2021/train_mini.tar.gz", "2021_valid": f"{_BASE}2021/val.tar.gz"}
DATASET_MD5 = {"2017": "7c784ea5e424efaec655bd392f87301f", "2018": "b1c6952ce38f31868cc50ea72d066cc3",
               "2019": "c60a6e2962c9b8ccbd458d12c8582644", "2021_train": "e0526d53c7f7b2e3167b2b43bb2690ed",
               "2021_train_mini": "db6ed8330e634445efc8fec83ae81442", "2021_valid": "f6f6e0e242e3d4c9569ba56400938afc"}


class INaturalist(VisionDataset):
    """Photographs of plants and animals by species.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds that of the version.
    version : str, optional, default="2021_train"
        "2017", "2018", "2019", "2021_train", "2021_train_mini" or "2021_valid".
    target_type : Union[str, Sequence[str]], optional, default="full"
        "full", the species; "super" before 2021, and "kingdom", "phylum", "class", "order", "family" and "genus" since.
    transform, target_transform, download : optional
        As for `ImageFolder`.
    loader : Callable, optional
        Opens an image file; without one Pillow does.

    """

    def __init__(self, root, version="2021_train", target_type="full", transform=None, target_transform=None,
                 download=False, loader=None):
        self.version = verify_str_arg(version, "version", DATASET_URLS.keys())
        super().__init__(os.path.join(root, version), transform=transform, target_transform=target_transform)
        os.makedirs(root, exist_ok=True)
        self.loader = loader
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError(MISSING)
        recent = version.startswith("2021")
        known = ("full", *CATEGORIES_2021) if recent else ("full", "super")
        wanted = target_type if isinstance(target_type, list) else [target_type]
        self.target_type = [verify_str_arg(kind, "target_type", known) for kind in wanted]
        self.all_categories, self.categories_index, self.categories_map = [], {}, []
        (self._init_2021 if recent else self._init_pre2021)()
        self.index = [(number, name) for number, folder in enumerate(self.all_categories)
                      for name in os.listdir(os.path.join(self.root, folder))]

    def _init_2021(self):
        """Read the folders "number_kingdom_phylum_class_order_family_genus_species"."""
        self.all_categories = sorted(os.listdir(self.root))
        self.categories_index = {rank: {} for rank in CATEGORIES_2021}
        for number, folder in enumerate(self.all_categories):
            words = folder.split("_")
            if len(words) != 8:
                raise RuntimeError(f"Unexpected category name {folder}, wrong number of pieces")
            if words[0] != f"{number:05d}":
                raise RuntimeError(f"Unexpected category id {words[0]}, expecting {number:05d}")
            ranks = zip(CATEGORIES_2021, words[1:7])
            self.categories_map.append({rank: self.categories_index[rank].setdefault(
                name, len(self.categories_index[rank])) for rank, name in ranks})

    def _init_pre2021(self):
        """Read folders of folders, whose names are numbers since 2018."""
        found = {}
        self.categories_index = {"super": {name: place for place, name in enumerate(sorted(os.listdir(self.root)))}}
        for name, place in self.categories_index["super"].items():
            for inner in sorted(os.listdir(os.path.join(self.root, name))):
                try:
                    number = len(found) if self.version == "2017" else int(inner)
                except ValueError:
                    raise RuntimeError(f"Unexpected non-numeric dir name: {inner}") from None
                if number in found:
                    raise RuntimeError(f"Duplicate category {inner}")
                found[number] = (os.path.join(name, inner), {"super": place})
        for number in range(max(found) + 1):
            if number not in found:
                raise RuntimeError(f"Missing category {number}")
            self.all_categories.append(found[number][0])
            self.categories_map.append(found[number][1])

    def __getitem__(self, index):
        number, name = self.index[index]
        path = os.path.join(self.root, self.all_categories[number], name)
        target = tuple(number if kind == "full" else self.categories_map[number][kind] for kind in self.target_type)
        return self._transformed(Image.open(path) if self.loader is None else self.loader(path),
                                 target if len(target) > 1 else target[0])

    def __len__(self):
        return len(self.index)

    def category_name(self, category_type, category_id):
        """Return the name of a class, by its kind, as in `target_type`, and its number."""
        if category_type == "full":
            return self.all_categories[category_id]
        if category_type not in self.categories_index:
            raise ValueError(f"Invalid category type '{category_type}'")
        for name, number in self.categories_index[category_type].items():
            if number == category_id:
                return name
        raise ValueError(f"Invalid category id {category_id} for {category_type}")

    def _check_exists(self):
        return os.path.exists(self.root) and bool(os.listdir(self.root))

    def download(self):
        """Fetch the files unless they are there."""
        if self._check_exists():
            return
        base, url = os.path.dirname(self.root), DATASET_URLS[self.version]
        download_and_extract_archive(url, base, filename=f"{self.version}.tgz", md5=DATASET_MD5[self.version])
        unpacked = os.path.join(base, os.path.basename(url).removesuffix(".tar.gz"))
        if not os.path.exists(unpacked):
            raise RuntimeError(f"Unable to find downloaded files at {unpacked}")
        if os.path.isdir(self.root):
            os.rmdir(self.root)
        os.rename(unpacked, self.root)
