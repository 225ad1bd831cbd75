"""Middlebury's scenes of 2014: fine disparities under several lights."""
import os
import random
import shutil
from pathlib import Path

import numpy

from dragon.vm.torchvision.datasets._stereo import of_pfm, StereoMatchingDataset
from dragon.vm.torchvision.datasets.utils import download_and_extract_archive, verify_str_arg

CALIBRATIONS = {None: ("",), "perfect": ("-perfect",), "imperfect": ("-imperfect",),
                "both": ("-perfect", "-imperfect")}


class Middlebury2014Stereo(StereoMatchingDataset):
    """Rooms with masks of where the disparity is known.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `Middlebury2014`.
    split : str, optional, default="train"
        "train", "additional" or "test", which has no disparity.
    calibration : str, optional, default="perfect"
        "perfect", "imperfect" or "both"; None for "test".
    use_ambient_views : bool, optional, default=False
        Whether the right image is at times one under another light.
    transforms : Callable, optional
        Takes the pairs of images, of disparities and of masks, and returns the three.
    download : bool, optional, default=False
        Whether to fetch files that are missing.

    """

    splits = {"train": ["Adirondack", "Jadeplant", "Motorcycle", "Piano", "Pipes", "Playroom", "Playtable", "Recycle",
                        "Shelves", "Vintage"],
              "additional": ["Backpack", "Bicycle1", "Cable", "Classroom1", "Couch", "Flowers", "Mask", "Shopvac",
                             "Sticks", "Storage", "Sword1", "Sword2", "Umbrella"],
              "test": ["Plants", "Classroom2E", "Classroom2", "Australia", "DjembeL", "CrusadeP", "Crusade", "Hoops",
                       "Bicycle2", "Staircase", "Newkuba", "AustraliaP", "Djembe", "Livingroom", "Computer"]}
    _has_built_in_disparity_mask = True

    def __init__(self, root, split="train", calibration="perfect", use_ambient_views=False, transforms=None,
                 download=False):
        super().__init__(root, transforms)
        self.split = verify_str_arg(split, "split", valid_values=("train", "test", "additional"))
        self.use_ambient_views = use_ambient_views
        if calibration:
            verify_str_arg(calibration, "calibration", valid_values=("perfect", "imperfect", "both"))
            if split == "test":
                raise ValueError("Split 'test' has only no calibration settings, please set `calibration=None`.")
        elif split != "test":
            raise ValueError(f"Split '{split}' has calibration settings, however None was provided as an argument.\n"
                             f"Setting calibration to 'perfect' for split '{split}'. Available calibration settings "
                             "are: 'perfect', 'imperfect', 'both'.")
        if download:
            self._download_dataset(root)
        folder = Path(root) / "Middlebury2014" / split
        if not folder.exists():
            raise FileNotFoundError(f"The {split} directory was not found in the provided root directory")
        if not any(scene.startswith(tuple(self.splits[split])) for scene in os.listdir(folder)):
            raise FileNotFoundError(f"Provided root folder does not contain any scenes from the {split} split.")
        for tail in CALIBRATIONS[calibration]:
            scene = folder / f"*{tail}"
            self._scan((scene / "im0.png", scene / "im1.png"),
                       None if split == "test" else (scene / "disp0.pfm", scene / "disp1.pfm"))

    def _read_img(self, file_path):
        path = Path(file_path)
        if path.name == "im1.png" and self.use_ambient_views:
            others = (path.with_name(name) for name in ("im1E.png", "im1L.png"))
            path = random.choice([*(other for other in others if other.exists()), path])
        return super()._read_img(path)

    def _read_disparity(self, file_path):
        if file_path is None:
            return None, None
        disparity = of_pfm(file_path)
        disparity[disparity == numpy.inf] = 0  # nobody knows it there
        return disparity, (disparity > 0).squeeze(0)

    def _download_dataset(self, root):
        folder = Path(root) / "Middlebury2014"
        if self.split == "test":
            self._download_test(folder)
            return
        for name in (f"{scene}-{tail}" for scene in self.splits[self.split] for tail in ("perfect", "imperfect")):
            if not (folder / self.split / name).exists():
                url = f"https://vision.middlebury.edu/stereo/data/scenes2014/zip/{name}.zip"
                download_and_extract_archive(url, str(folder / self.split), filename=f"{name}.zip",
                                             remove_finished=True)

    def _download_test(self, folder):
        there = folder / "test"
        there.mkdir(parents=True, exist_ok=True)
        if set(self.splits["test"]) <= set(os.listdir(there)):
            return
        url = "https://vision.middlebury.edu/stereo/submit3/zip/MiddEval3-data-F.zip"
        download_and_extract_archive(url, str(folder), remove_finished=True)
        for scene in (folder / "MiddEval3" / "testF").iterdir():
            shutil.move(str(scene), str(there))
        shutil.rmtree(folder / "MiddEval3")
