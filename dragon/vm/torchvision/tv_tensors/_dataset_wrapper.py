"""Data sets whose samples say what they are, as transforms of the second version want them."""
from collections import defaultdict
from collections.abc import Collection
from copy import copy

from dragon.vm import torch
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision.datasets.caltech import Caltech101, Caltech256
from dragon.vm.torchvision.datasets.celeba import CelebA
from dragon.vm.torchvision.datasets.cifar import CIFAR10
from dragon.vm.torchvision.datasets.cityscapes import Cityscapes
from dragon.vm.torchvision.datasets.coco import CocoCaptions, CocoDetection
from dragon.vm.torchvision.datasets.folder import DatasetFolder
from dragon.vm.torchvision.datasets.gtsrb import GTSRB
from dragon.vm.torchvision.datasets.hmdb51 import HMDB51
from dragon.vm.torchvision.datasets.imagenette import Imagenette
from dragon.vm.torchvision.datasets.kinetics import Kinetics
from dragon.vm.torchvision.datasets.kitti import Kitti
from dragon.vm.torchvision.datasets.mnist import MNIST
from dragon.vm.torchvision.datasets.oxford_iiit_pet import OxfordIIITPet
from dragon.vm.torchvision.datasets.sbd import SBDataset
from dragon.vm.torchvision.datasets.ucf101 import UCF101
from dragon.vm.torchvision.datasets.vision import VisionDataset
from dragon.vm.torchvision.datasets.voc import VOCDetection, VOCSegmentation
from dragon.vm.torchvision.datasets.widerface import WIDERFace
from dragon.vm.torchvision.transforms.v2 import functional as F

TARGETS_BY_KEY = (CocoDetection, VOCDetection, Kitti, WIDERFace)


def wrap_dataset_for_transforms_v2(dataset, target_keys=None):
    """Return a data set whose boxes, masks and videos say that they are.

    Parameters
    ----------
    dataset : VisionDataset
        One of torchvision's, or of a class that derives from one.
    target_keys : Union[str, Collection[str]], optional
        What targets hold that are dictionaries: "all", or names; without them what detection trains with.

    Returns
    -------
    VisionDataset
        The data set, of a class that derives from its own.

    """
    named = isinstance(target_keys, Collection) and all(isinstance(key, str) for key in target_keys)
    if target_keys is not None and not named:
        raise ValueError("`target_keys` can be None, 'all', or a collection of strings denoting the keys to be "
                         f"returned, but got {target_keys}")
    kind = type(f"Wrapped{type(dataset).__name__}", (VisionDatasetTVTensorWrapper, type(dataset)), {})
    return kind(dataset, target_keys)


class WrapperFactories(dict):
    """What makes, of a data set and keys, the function (index, sample) -> sample; by class."""

    def register(self, *classes):
        """Return a decorator that enters a function for classes."""
        def decorate(factory):
            self.update(dict.fromkeys(classes, factory))
            return factory
        return decorate


WRAPPER_FACTORIES = WrapperFactories()


class VisionDatasetTVTensorWrapper:
    """What a wrapped data set does before its own class.

    Parameters
    ----------
    dataset : VisionDataset
        The data set.
    target_keys : Union[str, Collection[str]], optional
        As for `wrap_dataset_for_transforms_v2`.

    """

    def __init__(self, dataset, target_keys):
        if not isinstance(dataset, VisionDataset):
            raise TypeError("This wrapper is meant for subclasses of `torchvision.datasets.VisionDataset`, but got a "
                            f"'{type(dataset).__name__}' instead.")
        known = next((kind for kind in type(dataset).__mro__ if kind in WRAPPER_FACTORIES), None)
        if known is None:
            raise TypeError(f"No wrapper exists for dataset class {type(dataset).__name__}. Please wrap the output "
                            "yourself.")
        if target_keys is not None and known not in TARGETS_BY_KEY:
            raise ValueError("`target_keys` is currently only supported for `CocoDetection`, `VOCDetection`, `Kitti`, "
                             f"and `WIDERFace`, but got {known.__name__}.")
        self._dataset, self._target_keys = dataset, target_keys
        self._wrapper = WRAPPER_FACTORIES[known](dataset, target_keys)
        # Transforms come behind the wrapping, so the data set itself must not apply them.
        for name in ("transform", "target_transform", "transforms"):
            setattr(self, name, getattr(dataset, name))
            setattr(dataset, name, None)

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "_dataset"), name)

    def __getitem__(self, idx):
        sample = self._wrapper(idx, self._dataset[idx])
        return sample if self.transforms is None else self.transforms(*sample)

    def __len__(self):
        return len(self._dataset)

    def __reduce__(self):
        dataset = copy(self._dataset)
        for name in ("transform", "target_transform", "transforms"):
            setattr(dataset, name, getattr(self, name))
        return wrap_dataset_for_transforms_v2, (dataset, self._target_keys)


def raise_not_supported(description):
    """Refuse samples that have no form as tensors that say what they are."""
    raise RuntimeError(f"{description} is currently not supported by this wrapper: its targets have no class of their "
                       "own")


def parse_target_keys(target_keys, *, available, default):
    """Return the keys that are asked for; raises ValueError for those that there are not."""
    target_keys = default if target_keys is None else target_keys
    wanted = available if target_keys == "all" else set(target_keys)
    if wanted - available:
        raise ValueError(f"Target keys {sorted(wanted - available)} are not available")
    return wanted


def list_of_dicts_to_dict_of_lists(list_of_dicts):
    """Return the values of dictionaries by their keys."""
    found = defaultdict(list)
    for item in list_of_dicts:
        for key, value in item.items():
            found[key].append(value)
    return dict(found)


def boxes_of(values, format, image):
    """Return boxes in an image, by their corners."""
    boxes = tv_tensors.BoundingBoxes(values, format=format, canvas_size=tuple(F.get_size(image)))
    return F.convert_bounding_box_format(boxes, new_format=tv_tensors.BoundingBoxFormat.XYXY)


def by_type(target, kinds, wrappers):
    """Return a target, or several, each wrapped as its kind asks for."""
    items = target if isinstance(target, (tuple, list)) else [target]
    made = tuple(wrappers.get(kind, lambda item: item)(item) for kind, item in zip(kinds, items))
    return made if len(made) > 1 else made[0]


@WRAPPER_FACTORIES.register(Caltech256, CIFAR10, MNIST, GTSRB, DatasetFolder, Imagenette, CocoCaptions)
def identity_wrapper_factory(dataset, target_keys):
    """Leave samples as they are: an image and its class, or captions."""
    return lambda idx, sample: sample


@WRAPPER_FACTORIES.register(VOCSegmentation)
def segmentation_wrapper_factory(dataset, target_keys):
    """Make a mask of the target."""
    return lambda idx, sample: (sample[0], tv_tensors.Mask(sample[1]))


@WRAPPER_FACTORIES.register(SBDataset)
def sbd_wrapper(dataset, target_keys):
    """Make a mask of the target."""
    if dataset.mode == "boundaries":
        raise_not_supported("SBDataset with mode='boundaries'")
    return segmentation_wrapper_factory(dataset, target_keys)


@WRAPPER_FACTORIES.register(HMDB51, Kinetics, UCF101)
def video_classification_wrapper_factory(dataset, target_keys):
    """Make a video of the frames."""
    if dataset.video_clips.output_format == "THWC":
        raise RuntimeError(f"{type(dataset).__name__} with `output_format='THWC'` is not supported by this wrapper, "
                           "since it is not compatible with the transformations. Please use `output_format='TCHW'` "
                           "instead.")
    return lambda idx, sample: (tv_tensors.Video(sample[0]), *sample[1:])


@WRAPPER_FACTORIES.register(Caltech101)
def caltech101_wrapper_factory(dataset, target_keys):
    """Leave samples as they are."""
    if "annotation" in dataset.target_type:
        raise_not_supported("Caltech101 dataset with `target_type=['annotation', ...]`")
    return identity_wrapper_factory(dataset, target_keys)


def segmentation_to_mask(segmentation, canvas_size):
    """Return a mask of what a file of COCO's has of it: polygons, or lengths of runs."""
    try:
        from pycocotools import mask
    except ImportError as error:
        raise ImportError("CocoDetection: found no pycocotools, which draws masks; install it with `pip install "
                          "pycocotools`", name="pycocotools") from error
    if isinstance(segmentation, list):
        segmentation = mask.merge(mask.frPyObjects(segmentation, *canvas_size))
    elif not isinstance(segmentation, dict):
        raise ValueError(f"COCO segmentation expected to be a dict or a list, got {type(segmentation)}")
    elif not isinstance(segmentation["counts"], (str, bytes)):
        segmentation = mask.frPyObjects(segmentation, *canvas_size)
    return torch.from_numpy(mask.decode(segmentation))


@WRAPPER_FACTORIES.register(CocoDetection)
def coco_dectection_wrapper_factory(dataset, target_keys):
    """Make a dictionary of lists, boxes and masks."""
    made = {"image_id", "boxes", "masks", "labels"}
    known = made | {"segmentation", "area", "iscrowd", "bbox", "category_id"}
    keys = parse_target_keys(target_keys, available=known, default={"image_id", "boxes", "labels"})

    def wrapper(idx, sample):
        image, items = sample
        if not items:
            return image, {"image_id": dataset.ids[idx]}
        lists, canvas, target = list_of_dicts_to_dict_of_lists(items), tuple(F.get_size(image)), {}
        if "image_id" in keys:
            target["image_id"] = dataset.ids[idx]
        if "boxes" in keys:
            target["boxes"] = boxes_of(lists["bbox"], tv_tensors.BoundingBoxFormat.XYWH, image)
        if "masks" in keys:
            target["masks"] = tv_tensors.Mask(torch.stack([segmentation_to_mask(item, canvas)
                                                           for item in lists["segmentation"]]))
        if "labels" in keys:
            target["labels"] = torch.tensor(lists["category_id"])
        return image, {**target, **{key: lists[key] for key in keys - made}}
    return wrapper


VOC_DETECTION_CATEGORIES = ["__background__", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat",
                            "chair", "cow", "diningtable", "dog", "horse", "motorbike", "person", "pottedplant",
                            "sheep", "sofa", "train", "tvmonitor"]
VOC_DETECTION_CATEGORY_TO_IDX = {name: index for index, name in enumerate(VOC_DETECTION_CATEGORIES)}


@WRAPPER_FACTORIES.register(VOCDetection)
def voc_detection_wrapper_factory(dataset, target_keys):
    """Make boxes and labels of the annotation."""
    keys = parse_target_keys(target_keys, available={"annotation", "boxes", "labels"}, default={"boxes", "labels"})

    def wrapper(idx, sample):
        image, target = sample
        lists = list_of_dicts_to_dict_of_lists(target["annotation"]["object"])
        target = target if "annotation" in keys else {}
        if "boxes" in keys:
            corners = [[int(box[part]) for part in ("xmin", "ymin", "xmax", "ymax")] for box in lists["bndbox"]]
            target["boxes"] = boxes_of(corners, tv_tensors.BoundingBoxFormat.XYXY, image)
        if "labels" in keys:
            target["labels"] = torch.tensor([VOC_DETECTION_CATEGORY_TO_IDX[name] for name in lists["name"]])
        return image, target
    return wrapper


@WRAPPER_FACTORIES.register(CelebA)
def celeba_wrapper_factory(dataset, target_keys):
    """Make boxes of the target that is one."""
    if {"attr", "landmarks"} & set(dataset.target_type):
        raise_not_supported("`CelebA` dataset with `target_type=['attr', 'landmarks', ...]`")

    def wrapper(idx, sample):
        image, target = sample
        return image, by_type(target, dataset.target_type, {
            "bbox": lambda item: boxes_of(item, tv_tensors.BoundingBoxFormat.XYWH, image)})
    return wrapper


KITTI_CATEGORIES = ["Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare"]
KITTI_CATEGORY_TO_IDX = {name: index for index, name in enumerate(KITTI_CATEGORIES)}


@WRAPPER_FACTORIES.register(Kitti)
def kitti_wrapper_factory(dataset, target_keys):
    """Make a dictionary of lists and boxes."""
    own = {"type", "truncated", "occluded", "alpha", "bbox", "dimensions", "location", "rotation_y"}
    keys = parse_target_keys(target_keys, available=own | {"boxes", "labels"}, default={"boxes", "labels"})

    def wrapper(idx, sample):
        image, items = sample
        if items is None:
            return image, None
        lists, target = list_of_dicts_to_dict_of_lists(items), {}
        if "boxes" in keys:
            target["boxes"] = boxes_of(lists["bbox"], tv_tensors.BoundingBoxFormat.XYXY, image)
        if "labels" in keys:
            target["labels"] = torch.tensor([KITTI_CATEGORY_TO_IDX[name] for name in lists["type"]])
        return image, {**target, **{key: lists[key] for key in keys & own}}
    return wrapper


@WRAPPER_FACTORIES.register(OxfordIIITPet)
def oxford_iiit_pet_wrapper_factor(dataset, target_keys):
    """Make a mask of the target that is one."""
    def wrapper(idx, sample):
        image, target = sample
        if target is not None:
            target = by_type(target, dataset._target_types, {"segmentation": tv_tensors.Mask})
        return image, target
    return wrapper


def instances_of(image):
    """Return a mask of each object, and its class: the numbers above 999 count the objects of a class."""
    pixels = tv_tensors.Mask(image)
    numbers = pixels.unique()
    masks = torch.stack([pixels == number for number in numbers])
    labels = torch.stack([number // 1000 if number >= 1000 else number for number in numbers])
    return {"masks": tv_tensors.Mask(masks), "labels": labels}


@WRAPPER_FACTORIES.register(Cityscapes)
def cityscapes_wrapper_factory(dataset, target_keys):
    """Make masks of the targets that are some."""
    if {"polygon", "color"} & set(dataset.target_type):
        raise_not_supported("`Cityscapes` dataset with `target_type=['polygon', 'color', ...]`")
    return lambda idx, sample: (sample[0], by_type(sample[1], dataset.target_type, {
        "instance": instances_of, "semantic": tv_tensors.Mask}))


@WRAPPER_FACTORIES.register(WIDERFace)
def widerface_wrapper(dataset, target_keys):
    """Make boxes of the target's."""
    keys = parse_target_keys(target_keys, default="all", available={
        "bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid"})

    def wrapper(idx, sample):
        image, target = sample
        if target is None:
            return image, None
        target = {key: target[key] for key in keys}
        if "bbox" in keys:
            target["bbox"] = boxes_of(target["bbox"], tv_tensors.BoundingBoxFormat.XYWH, image)
        return image, target
    return wrapper
