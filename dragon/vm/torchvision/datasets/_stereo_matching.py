"""Pairs of images from two eyes, and how far each pixel lies apart in them."""
import json
from pathlib import Path

import numpy

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._middlebury import Middlebury2014Stereo  # noqa: F401
from dragon.vm.torchvision.datasets._stereo import of_pfm, of_picture, StereoMatchingDataset
from dragon.vm.torchvision.datasets.utils import verify_str_arg

TRAIN_OR_TEST = ("train", "test")
PASSES = {"clean": ("clean",), "final": ("final",), "both": ("clean", "final")}


class CarlaStereo(StereoMatchingDataset):
    """Drawn streets of CARLA's.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `carla-highres`.
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    def __init__(self, root, transforms=None):
        super().__init__(root, transforms)
        scene = Path(root) / "carla-highres" / "trainingF" / "*"
        self._scan((scene / "im0.png", scene / "im1.png"), (scene / "disp0GT.pfm", scene / "disp1GT.pfm"))

    def _read_disparity(self, file_path):
        return of_pfm(file_path), None


class Kitti2012Stereo(StereoMatchingDataset):
    """Streets from a car, with the disparity of the left eye.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `Kitti2012`.
    split : str, optional, default="train"
        "train" or "test", which has no disparity.
    transforms : Callable, optional
        Takes the pairs of images, of disparities and of masks, and returns the three.

    """

    _has_built_in_disparity_mask = True

    def __init__(self, root, split="train", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(split, "split", valid_values=TRAIN_OR_TEST)
        folder = Path(root) / "Kitti2012" / f"{split}ing"
        self._scan((folder / "colored_0" / "*_10.png", folder / "colored_1" / "*_10.png"),
                   (folder / "disp_noc" / "*.png", None) if split == "train" else None)

    def _read_disparity(self, file_path):
        return of_picture(file_path, 256.0), None


class Kitti2015Stereo(StereoMatchingDataset):
    """Streets from a car, with the disparities of both eyes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `Kitti2015`.
    split : str, optional, default="train"
        "train" or "test", which has no disparity.
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    _has_built_in_disparity_mask = True

    def __init__(self, root, split="train", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(split, "split", valid_values=TRAIN_OR_TEST)
        folder = Path(root) / "Kitti2015" / f"{split}ing"
        self._scan((folder / "image_2" / "*.png", folder / "image_3" / "*.png"),
                   (folder / "disp_occ_0" / "*.png", folder / "disp_occ_1" / "*.png") if split == "train" else None)

    def _read_disparity(self, file_path):
        return of_picture(file_path, 256.0), None


class CREStereo(StereoMatchingDataset):
    """Drawn things of four kinds.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `CREStereo`.
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    _has_built_in_disparity_mask = True

    def __init__(self, root, transforms=None):
        super().__init__(root, transforms)
        for kind in ("shapenet", "reflective", "tree", "hole"):
            folder = Path(root) / "CREStereo" / kind
            self._scan((folder / "*_left.jpg", folder / "*_right.jpg"),
                       (folder / "*_left.disp.png", folder / "*_right.disp.png"))

    def _read_disparity(self, file_path):
        return of_picture(file_path, 32.0, "float32"), None


class FallingThingsStereo(StereoMatchingDataset):
    """Drawn things that fall, whose depth is known.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `FallingThings`.
    variant : str, optional, default="single"
        "single", "mixed" or "both": one thing, several, or each so.
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    _BASELINE, _PER_UNIT = 6, 100  # the eyes' distance in centimetres; what depth is counted in

    def __init__(self, root, variant="single", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(variant, "variant", valid_values=("single", "mixed", "both"))
        for kind in ("single", "mixed") if variant == "both" else (variant,):
            folder = Path(root) / "FallingThings" / kind / ("*/*" if kind == "single" else "*")
            self._scan((folder / "*.left.jpg", folder / "*.right.jpg"),
                       (folder / "*.left.depth.png", folder / "*.right.depth.png"))

    def _read_disparity(self, file_path):
        depth = numpy.asarray(Image.open(file_path), dtype="float32")
        with open(Path(file_path).parent / "_camera_settings.json", encoding="utf-8") as file:
            focal = json.load(file)["camera_settings"][0]["intrinsic_settings"]["fx"]
        return (self._BASELINE * focal * self._PER_UNIT / depth)[None], None


class SceneFlowStereo(StereoMatchingDataset):
    """Drawn scenes of three films.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `SceneFlow`.
    variant : str, optional, default="FlyingThings3D"
        "FlyingThings3D", "Driving" or "Monkaa".
    pass_name : str, optional, default="clean"
        "clean", "final" or "both": drawn plainly, with blur, or each so.
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    def __init__(self, root, variant="FlyingThings3D", pass_name="clean", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(variant, "variant", valid_values=("FlyingThings3D", "Driving", "Monkaa"))
        verify_str_arg(pass_name, "pass_name", valid_values=tuple(PASSES))
        folder, scenes = Path(root) / "SceneFlow" / variant, "*" if variant == "Monkaa" else "*/*/*"
        for name in PASSES[pass_name]:
            images, disparities = folder / f"frames_{name}pass" / scenes, folder / "disparity" / scenes
            self._scan((images / "left" / "*.png", images / "right" / "*.png"),
                       (disparities / "left" / "*.pfm", disparities / "right" / "*.pfm"))

    def _read_disparity(self, file_path):
        return of_pfm(file_path), None


class SintelStereo(StereoMatchingDataset):
    """Frames of a drawn film, with masks of what both eyes see.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `Sintel`.
    pass_name : str, optional, default="final"
        "final", "clean" or "both": drawn with blur and fog, plainly, or each so.
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    _has_built_in_disparity_mask = True

    def __init__(self, root, pass_name="final", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(pass_name, "pass_name", valid_values=tuple(PASSES))
        folder = Path(root) / "Sintel" / "training"
        for name in reversed(PASSES[pass_name]):
            self._scan((folder / f"{name}_left" / "*" / "*.png", folder / f"{name}_right" / "*" / "*.png"),
                       (folder / "disparities" / "*" / "*.png", None))

    def _get_occlussion_mask_paths(self, file_path):
        path = Path(file_path)
        found = [path.parents[2] / folder / path.parent.name / path.name for folder in ("occlusions", "outofframe")]
        for mask, what in zip(found, ("Occlusion", "Out of frame")):
            if not mask.exists():
                raise FileNotFoundError(f"{what} mask {mask} does not exist")
        return tuple(map(str, found))

    def _read_disparity(self, file_path):
        if file_path is None:
            return None, None
        red, green, blue = numpy.asarray(Image.open(file_path), dtype="float32").transpose(2, 0, 1)[:, None]
        hidden, outside = (numpy.asarray(Image.open(path)) for path in self._get_occlussion_mask_paths(file_path))
        return red * 4 + green / 2 ** 6 + blue / 2 ** 14, (hidden == 0) & (outside == 0)


class InStereo2k(StereoMatchingDataset):
    """Rooms with the disparities of both eyes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `InStereo2k`.
    split : str, optional, default="train"
        "train" or "test".
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    def __init__(self, root, split="train", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(split, "split", valid_values=TRAIN_OR_TEST)
        scene = Path(root) / "InStereo2k" / split / "*"
        self._scan((scene / "left.png", scene / "right.png"), (scene / "left_disp.png", scene / "right_disp.png"))

    def _read_disparity(self, file_path):
        return of_picture(file_path, 1024.0, "float32"), None


class ETH3DStereo(StereoMatchingDataset):
    """Grey photographs of rooms and gardens, with masks of what both eyes see.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `ETH3D`.
    split : str, optional, default="train"
        "train" or "test", which has no disparity.
    transforms : Callable, optional
        As for `Kitti2012Stereo`.

    """

    _has_built_in_disparity_mask = True

    def __init__(self, root, split="train", transforms=None):
        super().__init__(root, transforms)
        verify_str_arg(split, "split", valid_values=TRAIN_OR_TEST)
        folder = Path(root) / "ETH3D"
        scene = folder / ("two_view_training" if split == "train" else "two_view_test") / "*"
        self._scan((scene / "im0.png", scene / "im1.png"),
                   (folder / "two_view_training_gt" / "*" / "disp0GT.pfm", None) if split == "train" else None)

    def _read_disparity(self, file_path):
        if file_path is None:
            return None, None
        return of_pfm(file_path), numpy.asarray(Image.open(Path(file_path).parent / "mask0nocc.png")).astype(bool)
