"""Labeled Faces in the Wild: photographs of people, one by one or in pairs."""
import os

from dragon.vm.torchvision.datasets._listed import MISSING
from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.utils import check_integrity, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class _LFW(VisionDataset):
    """The photographs of faces and the lists of them; nobody serves them any more.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `lfw-py`.
    split : str
        "10fold", "train" or "test".
    image_set : str
        "original", "funneled" or "deepfunneled": how the faces are aligned.
    view : str
        "people" or "pairs".
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    base_folder = "lfw-py"
    download_url_prefix = "http://vis-www.cs.umass.edu/lfw/"
    file_dict = {"original": ("lfw", "lfw.tgz", "a17d05bd522c52d84eca14327a23d494"),
                 "funneled": ("lfw_funneled", "lfw-funneled.tgz", "1b42dfed7d15c9b2dd63d5e5840c86ad"),
                 "deepfunneled": ("lfw-deepfunneled", "lfw-deepfunneled.tgz", "68331da3eb755a505a502b5aacb3c201")}
    checksums = {"pairs.txt": "9f1ba174e4e1c508ff7cdf10ac338a7d",
                 "pairsDevTest.txt": "5132f7440eb68cf58910c8a45a2ac10b",
                 "pairsDevTrain.txt": "4f27cbf15b2da4a85c1907eb4181ad21",
                 "people.txt": "450f0863dd89e85e73936a6d71a3474b",
                 "peopleDevTest.txt": "e4bf5be0a43b5dcd9dc5ccfcb8fb19c5",
                 "peopleDevTrain.txt": "54eaac34beb6d042ed3a7d883e247a21",
                 "lfw-names.txt": "a6d0a479bd074669f656265a6e693f6d"}
    annot_file = {"10fold": "", "train": "DevTrain", "test": "DevTest"}
    names = "lfw-names.txt"

    def __init__(self, root, split, image_set, view, transform=None, target_transform=None, download=False,
                 loader=default_loader):
        super().__init__(os.path.join(root, self.base_folder), transform=transform, target_transform=target_transform)
        self.image_set = verify_str_arg(image_set.lower(), "image_set", self.file_dict.keys())
        folder, self.filename, self.md5 = self.file_dict[self.image_set]
        self.view = verify_str_arg(view.lower(), "view", ["people", "pairs"])
        self.split = verify_str_arg(split.lower(), "split", ["10fold", "train", "test"])
        self.labels_file = f"{self.view}{self.annot_file[self.split]}.txt"
        self.images_dir, self._loader = os.path.join(self.root, folder), loader
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(MISSING)

    def _check_integrity(self):
        wanted = [(self.filename, self.md5), (self.labels_file, self.checksums[self.labels_file])]
        if self.view == "people":
            wanted.append((self.names, self.checksums[self.names]))
        return all(check_integrity(os.path.join(self.root, name), md5) for name, md5 in wanted)

    def download(self):
        """Refuse, since the files are served no longer."""
        raise ValueError("LFW dataset is no longer available for automatic download. Please download the dataset "
                         f"manually and place it in {self.root}")

    def _get_path(self, identity, no):
        return os.path.join(self.images_dir, identity, f"{identity}_{int(no):04d}.jpg")

    def _lines(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return [line.rstrip("\n") for line in file]

    def extra_repr(self):
        return f"Alignment: {self.image_set}\nSplit: {self.split}"

    def __len__(self):
        return len(self.data)


class LFWPeople(_LFW):
    """Photographs of faces, each with the number of its person.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `lfw-py`.
    split : str, optional, default="10fold"
        "10fold", "train" or "test".
    image_set : str, optional, default="funneled"
        "original", "funneled" or "deepfunneled": how the faces are aligned.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    def __init__(self, root, split="10fold", image_set="funneled", transform=None, target_transform=None,
                 download=False, loader=default_loader):
        super().__init__(root, split, image_set, "people", transform, target_transform, download, loader)
        self.class_to_idx = {line.split()[0]: index for index, line in enumerate(self._lines(self.names))}
        self.data, self.targets = self._get_people()

    def _get_people(self):
        lines = self._lines(self.labels_file)
        # Ten folds begin with their number; each fold, as each other list, with that of its people.
        folds, start = (int(lines[0]), 1) if self.split == "10fold" else (1, 0)
        data, targets = [], []
        for _ in range(folds):
            count = int(lines[start])
            for line in lines[start + 1:start + 1 + count]:
                identity, images = line.strip().split("\t")
                data += [self._get_path(identity, number) for number in range(1, int(images) + 1)]
                targets += [self.class_to_idx[identity]] * int(images)
            start += 1 + count
        return data, targets

    def __getitem__(self, index):
        return self._transformed(self._loader(self.data[index]), self.targets[index])

    def extra_repr(self):
        return f"{super().extra_repr()}\nClasses (identities): {len(self.class_to_idx)}"


class LFWPairs(_LFW):
    """Pairs of photographs of faces, 1 if they are one person's and 0 if not.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `lfw-py`.
    split : str, optional, default="10fold"
        "10fold", "train" or "test".
    image_set : str, optional, default="funneled"
        "original", "funneled" or "deepfunneled": how the faces are aligned.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    def __init__(self, root, split="10fold", image_set="funneled", transform=None, target_transform=None,
                 download=False, loader=default_loader):
        super().__init__(root, split, image_set, "pairs", transform, target_transform, download, loader)
        self.pair_names, self.data, self.targets = self._get_pairs()

    def _get_pairs(self):
        lines = self._lines(self.labels_file)
        folds, count = map(int, lines[0].split("\t")) if self.split == "10fold" else (1, int(lines[0]))
        names, data, targets = [], [], []
        # A fold has pairs of one person, "name first second", and as many of two, "name first name second".
        for line in lines[1:1 + 2 * folds * count]:
            words = line.strip().split("\t")
            same = len(targets) % (2 * count) < count
            first, second = ((words[0], words[1]), (words[0], words[2])) if same else (words[:2], words[2:4])
            names.append((first[0], second[0]))
            data.append((self._get_path(*first), self._get_path(*second)))
            targets.append(int(same))
        return names, data, targets

    def __getitem__(self, index):
        images = [self._loader(path) for path in self.data[index]]
        if self.transform is not None:
            images = [self.transform(image) for image in images]
        target = self.targets[index]
        return (*images, target if self.target_transform is None else self.target_transform(target))
