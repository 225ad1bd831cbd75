"""Data sets of images from two eyes, made small, beside genuine torchvision's; and files of floats."""
import genuine
import pytest
from compare import same

tv = genuine.load()
from made_files import disparity_picture, floats, picture, same_items, write  # noqa: E402

from dragon.vm.torchvision import datasets  # noqa: E402

BOTH = (datasets, tv.datasets)


def drawn_streets(root):
    for name in ("im0.png", "im1.png"):
        picture(root / f"carla-highres/trainingF/a/{name}")
    for name in ("disp0GT.pfm", "disp1GT.pfm"):
        floats(root / f"carla-highres/trainingF/a/{name}", order=">")
    return "CarlaStereo", {}


def kitti_2012(root):
    for side in "01":
        picture(root / f"Kitti2012/training/colored_{side}/1_10.png")
    disparity_picture(root / "Kitti2012/training/disp_noc/1.png")
    return "Kitti2012Stereo", {}


def kitti_2015(root):
    for side in "23":
        picture(root / f"Kitti2015/testing/image_{side}/1.png")
    return "Kitti2015Stereo", {"split": "test"}


def kitti_2015_train(root):
    for side in "23":
        picture(root / f"Kitti2015/training/image_{side}/1.png")
    for side in "01":
        disparity_picture(root / f"Kitti2015/training/disp_occ_{side}/1.png")
    return "Kitti2015Stereo", {}


def middlebury(root):
    folder = root / "Middlebury2014/train/Adirondack-perfect"
    for side in "01":
        picture(folder / f"im{side}.png")
        floats(folder / f"disp{side}.pfm")
    return "Middlebury2014Stereo", {}


def four_kinds(root):
    for kind in ("shapenet", "reflective", "tree", "hole"):
        for side in ("left", "right"):
            picture(root / f"CREStereo/{kind}/1_{side}.jpg")
            disparity_picture(root / f"CREStereo/{kind}/1_{side}.disp.png")
    return "CREStereo", {}


def falling(root):
    for folder in (root / "FallingThings/single/can/kitchen", root / "FallingThings/mixed/forest"):
        for side in ("left", "right"):
            picture(folder / f"1.{side}.jpg")
            disparity_picture(folder / f"1.{side}.depth.png")
        write(folder / "_camera_settings.json", {"camera_settings": [{"intrinsic_settings": {"fx": 768.2}}]})
    return "FallingThingsStereo", {"variant": "both"}


def scene_flow(root):
    for side in ("left", "right"):
        picture(root / f"SceneFlow/Monkaa/frames_finalpass/a/{side}/1.png")
        floats(root / f"SceneFlow/Monkaa/disparity/a/{side}/1.pfm")
    return "SceneFlowStereo", {"variant": "Monkaa", "pass_name": "final"}


def drawn_film(root):
    folder = root / "Sintel/training"
    for name in ("final_left", "final_right", "clean_left", "clean_right", "disparities"):
        picture(folder / f"{name}/alley/1.png")
    for name in ("occlusions", "outofframe"):
        picture(folder / f"{name}/alley/1.png", "L")
    return "SintelStereo", {"pass_name": "final"}


def rooms(root):
    for side in ("left", "right"):
        picture(root / f"InStereo2k/test/a/{side}.png")
        disparity_picture(root / f"InStereo2k/test/a/{side}_disp.png")
    return "InStereo2k", {"split": "test"}


def gardens(root):
    for side in "01":
        picture(root / f"ETH3D/two_view_training/a/im{side}.png", "L")
    floats(root / "ETH3D/two_view_training_gt/a/disp0GT.pfm")
    picture(root / "ETH3D/two_view_training_gt/a/mask0nocc.png", "L")
    return "ETH3DStereo", {}


EYES = (drawn_streets, kitti_2012, kitti_2015, kitti_2015_train, middlebury, four_kinds, falling, scene_flow,
        drawn_film, rooms, gardens)


@pytest.mark.parametrize("make", EYES, ids=[make.__name__ for make in EYES])
def test_two_eyes(make, tmp_path):
    name, options = make(tmp_path)
    same_items(*(getattr(module, name)(str(tmp_path), **options) for module in BOTH))

    def swap(images, disparities, masks):
        return images[::-1], disparities[::-1], masks
    same_items(*(strip(getattr(module, name)(str(tmp_path), **options, transforms=swap)) for module in BOTH))


def strip(found):
    """Have a data set print no function, whose place differs between the sides."""
    transforms, found.transforms = found.transforms, None
    assert transforms is not None
    found.transforms = type("Swap", (), {"__call__": lambda self, *items: transforms(*items),
                                         "__repr__": lambda self: "swap"})()
    return found


WRONG = {"Kitti2012Stereo": {"split": "x"}, "Middlebury2014Stereo": {"calibration": None},
         "SceneFlowStereo": {"variant": "x"}, "FallingThingsStereo": {"variant": "x"},
         "SintelStereo": {"pass_name": "x"}, "ETH3DStereo": {"split": "x"}}


@pytest.mark.parametrize("name", [*WRONG, "CarlaStereo", "CREStereo"])
def test_what_is_not_there(name, tmp_path):
    for module in BOTH:
        with pytest.raises(FileNotFoundError):
            getattr(module, name)(str(tmp_path))
        if name in WRONG:
            with pytest.raises(ValueError):
                getattr(module, name)(str(tmp_path), **WRONG[name])


def test_files_of_floats(tmp_path):
    from dragon.vm.torchvision.datasets.utils import _read_pfm
    for channels, order in ((1, "<"), (3, ">")):
        floats(tmp_path / "a.pfm", channels, order)
        same(_read_pfm(tmp_path / "a.pfm"), tv.datasets.utils._read_pfm(tmp_path / "a.pfm"))
    for text, match in ((b"PG\n5 4\n1.0\n", "Invalid"), (b"\x89PNG\n\x1a\nabc\n", "Invalid"),
                        (b"Pf\nx 4\n1.0\n", "Malformed"), (b"Pf\n", "Malformed")):
        (tmp_path / "b.pfm").write_bytes(text)
        with pytest.raises(ValueError, match=match):
            _read_pfm(tmp_path / "b.pfm")
    (tmp_path / "c.flo").write_bytes(b"PIEX")
    with pytest.raises(ValueError, match="Magic"):
        datasets._optical_flow._read_flo(tmp_path / "c.flo")
