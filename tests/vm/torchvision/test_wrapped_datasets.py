"""Data sets whose samples say what they are, beside genuine torchvision's."""
import copy
import pickle
from types import SimpleNamespace

import genuine
import numpy
import pytest

tv = genuine.load()
import torch  # noqa: E402
from harness.subresults import each  # noqa: E402
from made_files import numbers  # noqa: E402
from PIL import Image  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import datasets  # noqa: E402

BOTH = ((datasets, dt.tensor), (tv.datasets, torch.tensor))
IMAGE = Image.fromarray(numbers.integers(0, 255, (5, 6, 3), "uint8"))
CLASSES = Image.fromarray(numbers.integers(0, 9, (5, 6), "uint8"))
OBJECTS = Image.fromarray(numpy.array([[7, 7, 26001, 26001], [24000, 24000, 26002, 7]], "int32"))
FRAMES = numbers.integers(0, 255, (2, 3, 5, 6), "uint8")
FACES = {"bbox": numpy.array([[1, 2, 3, 4], [0, 0, 2, 2]]), **{
    mark: numpy.array([place, 0]) for place, mark in enumerate(
        ("blur", "expression", "illumination", "occlusion", "pose", "invalid"))}}
ITEMS = [{"image_id": 7, "bbox": [1.0, 2.0, 3.0, 2.5], "category_id": 3, "area": 7.5, "iscrowd": 0},
         {"image_id": 7, "bbox": [0.0, 0.0, 2.0, 2.0], "category_id": 1, "area": 4.0, "iscrowd": 1}]
CARS = [{"type": "Car", "truncated": 0.5, "bbox": [1.0, 2.0, 3.0, 4.0], "occluded": 2},
        {"type": "Tram", "truncated": 0.0, "bbox": [0.0, 0.0, 2.0, 2.5], "occluded": 0}]
THINGS = {"annotation": {"folder": "VOC", "object": [
    {"name": "dog", "bndbox": {"xmin": "1", "ymin": "2", "xmax": "4", "ymax": "3"}},
    {"name": "sofa", "bndbox": {"xmin": "0", "ymin": "0", "xmax": "5", "ymax": "4"}}]}}
CLIPS = {form: {"video_clips": SimpleNamespace(output_format=form)} for form in ("TCHW", "THWC")}
CASES = {
    "a class": ("MNIST", 3, {}, None), "captions": ("CocoCaptions", ["a dog"], {}, None),
    "keys of a class": ("MNIST", 3, {}, "all"), "what is no key": ("Kitti", CARS, {}, 3),
    "areas": ("VOCSegmentation", CLASSES, {}, None),
    "outlined areas": ("SBDataset", CLASSES, {"mode": "segmentation"}, None),
    "outlines": ("SBDataset", CLASSES, {"mode": "boundaries"}, None),
    "category": ("Caltech101", 3, {"target_type": ["category"]}, None),
    "annotation": ("Caltech101", FRAMES, {"target_type": ["category", "annotation"]}, None),
    "COCO": ("CocoDetection", ITEMS, {"ids": [7]}, None), "nothing in it": ("CocoDetection", [], {"ids": [7]}, None),
    "some of COCO": ("CocoDetection", ITEMS, {"ids": [7]}, ["boxes", "area", "bbox", "image_id"]),
    "VOC": ("VOCDetection", THINGS, {}, None), "all of VOC": ("VOCDetection", THINGS, {}, "all"),
    "labels of VOC": ("VOCDetection", THINGS, {}, ("labels",)), "no key of VOC": ("VOCDetection", THINGS, {}, ["x"]),
    "a face": ("CelebA", numpy.array([1, 2, 3, 4]), {"target_type": ["bbox"]}, None),
    "whose face": ("CelebA", (5, numpy.array([1, 2, 3, 4])), {"target_type": ["identity", "bbox"]}, None),
    "marks of a face": ("CelebA", 5, {"target_type": ["attr"]}, None),
    "KITTI": ("Kitti", CARS, {}, None), "no KITTI": ("Kitti", None, {}, None),
    "some of KITTI": ("Kitti", CARS, {}, ["boxes", "type", "bbox"]),
    "a pet": ("OxfordIIITPet", CLASSES, {"_target_types": ["segmentation"]}, None),
    "a pet and its class": ("OxfordIIITPet", (3, CLASSES), {"_target_types": ["category", "segmentation"]}, None),
    "no pet": ("OxfordIIITPet", None, {"_target_types": []}, None),
    "objects": ("Cityscapes", OBJECTS, {"target_type": ["instance"]}, None),
    "objects and areas": ("Cityscapes", (OBJECTS, CLASSES), {"target_type": ["instance", "semantic"]}, None),
    "polygons": ("Cityscapes", {}, {"target_type": ["polygon"]}, None),
    "crowds": ("WIDERFace", FACES, {}, None), "boxes of crowds": ("WIDERFace", FACES, {}, ["bbox"]),
    "no crowd": ("WIDERFace", None, {}, None),
    "a clip": ("Kinetics", FRAMES, CLIPS["TCHW"], None), "frames last": ("UCF101", FRAMES, CLIPS["THWC"], None),
    "no wrapper": ("FakeData", 3, {}, None)}


def arrays_as(make, value):
    """Return a sample with tensors instead of its arrays."""
    if isinstance(value, dict):
        return {key: arrays_as(make, item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(arrays_as(make, item) for item in value)
    return make(value) if isinstance(value, numpy.ndarray) else copy.deepcopy(value)


def holding(module, make, name, target, fields):
    """Return a data set of a class, with one sample of our own."""
    sample = (arrays_as(make, target), make([0.5]), 3) if target is FRAMES else (IMAGE, arrays_as(make, target))
    kind = type(name, (getattr(module, name),), {"__init__": lambda self: None, "__len__": lambda self: 1,
                                                 "__getitem__": lambda self, index: sample})
    made = kind()
    vars(made).update(transform=None, target_transform=None, transforms=None, **fields)
    return made


def told(value):
    """Return of a sample what both sides should agree on."""
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(map(told, value))
    if hasattr(value, "numel"):
        more = (value.format.value, tuple(value.canvas_size)) if hasattr(value, "canvas_size") else ()
        return type(value).__name__, str(value.dtype), value.tolist(), *more
    return (value.mode, value.size) if isinstance(value, Image.Image) else value


@each("name, target, fields, keys", CASES.values(), ids=list(CASES))
def test_beside_genuine(name, target, fields, keys):
    found = []
    for module, make in BOTH:
        try:
            made = module.wrap_dataset_for_transforms_v2(holding(module, make, name, target, fields), keys)
            found.append((told(made[0]), isinstance(made, getattr(module, name)), len(made), type(made).__name__))
        except (TypeError, ValueError, RuntimeError) as error:
            found.append((type(error), str(error)[:30]))
    assert found[0] == found[1]


def test_masks_of_coco():
    pytest.importorskip("pycocotools")
    runs = {"size": [5, 6], "counts": [7, 2, 3, 2, 16]}
    items = [{**item, "segmentation": part} for item, part in zip(ITEMS, ([[0.0, 0.0, 4.0, 0.0, 4.0, 3.0]], runs))]
    found = [told(module.wrap_dataset_for_transforms_v2(holding(module, make, "CocoDetection", items, {"ids": [7]}),
                                                        "all")[0]) for module, make in BOTH]
    assert found[0] == found[1]


def test_transforms_come_behind(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        IMAGE.save(tmp_path / name / "1.png")
    plain = datasets.ImageFolder(str(tmp_path), transform=lambda image: image.size, target_transform=str)
    made = datasets.wrap_dataset_for_transforms_v2(plain)
    assert made[1] == ((6, 5), "1") and plain[1][1] == 1
    assert made.classes == ["cat", "dog"] and made.find_classes(str(tmp_path))[0] == ["cat", "dog"]
    with pytest.raises(AttributeError, match="no_such"):
        made.no_such
    made.transforms = made.transform = made.target_transform = None
    assert pickle.loads(pickle.dumps(made))[1][1] == 1 and copy.copy(made)[0][1] == 0
    with pytest.raises(TypeError, match="VisionDataset"):
        datasets.wrap_dataset_for_transforms_v2([1])
