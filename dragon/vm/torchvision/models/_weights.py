"""The checkpoints of models: where they are, what transforms the images, what is known of them."""
from dataclasses import dataclass
from enum import Enum

from dragon.vm.torchvision._internally_replaced_utils import load_state_dict_from_url
from dragon.vm.torchvision.models._meta import categories, KEYPOINTS
from dragon.vm.torchvision.models._table import WEIGHTS

BASE = "https://download.pytorch.org/models/"


@dataclass
class Weights:
    """A checkpoint: its address, the transform for its images, and what is known of it."""

    url: str
    transforms: object
    meta: dict


class WeightsEnum(Enum):
    """The checkpoints of a model."""

    @classmethod
    def verify(cls, obj):
        """Return a member given as such or by its name; None as it is."""
        if isinstance(obj, str):
            return cls[obj.replace(cls.__name__ + ".", "")]
        if obj is not None and not isinstance(obj, cls):
            raise TypeError(f"Invalid Weight class provided; expected {cls.__name__} but received "
                            f"{obj.__class__.__name__}.")
        return obj

    def get_state_dict(self, *args, **kwargs):
        """Return the checkpoint, from the cache or fetched."""
        return load_state_dict_from_url(self.url, *args, **kwargs)

    def __repr__(self):
        return f"{self.__class__.__name__}.{self._name_}"

    url = property(lambda self: self.value.url, doc="The checkpoint's address.")
    transforms = property(lambda self: self.value.transforms,
                          doc="The transform for its images: a function without arguments that makes the transform.")
    meta = property(lambda self: self.value.meta, doc="The facts known about it.")


# Two checkpoints were trained on pixels normalized otherwise.
_NORMALIZED = {"VGG16_Weights.IMAGENET1K_FEATURES": ((0.48235, 0.45882, 0.40784), (1.0 / 255.0,) * 3),
               "EfficientNet_V2_L_Weights.IMAGENET1K_V1": ((0.5,) * 3, (0.5,) * 3)}
# Means and deviations of videos by name.
_VIDEOS = {"grey": ((0.45,) * 3, (0.225,) * 3), "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))}


def _preset(kind, words, normalized):
    """Return what makes the transform of a checkpoint; Pillow is needed only when it is called."""
    keywords = dict(zip(("mean", "std"), normalized or ()))
    if kind == "ImageClassification":
        keywords.update(zip(("crop_size", "resize_size"), map(int, words)))
    elif kind == "SemanticSegmentation":
        keywords["resize_size"] = 520
    elif kind == "VideoClassification":
        keywords.update(crop_size=(int(words[0]),) * 2, resize_size=tuple(map(int, words[1].split("x"))))
        keywords.update(zip(("mean", "std"), _VIDEOS[words[2]] if words[2:] else ()))

    def make(**kwargs):
        from dragon.vm.torchvision.transforms import _presets
        if kind == "ImageClassification" and words[2:]:
            kwargs.setdefault("interpolation", _presets.InterpolationMode(words[2]))
        return getattr(_presets, kind)(**{**keywords, **kwargs})
    return make


# By the first word of a transform in the table: its class, and the names of what is told apart.
_KINDS = {"image": ("ImageClassification", "imagenet"), "objects": ("ObjectDetection", "coco"),
          "people": ("ObjectDetection", "person"), "segments": ("SemanticSegmentation", "voc"),
          "video": ("VideoClassification", "kinetics"), "flow": ("OpticalFlow", None)}


def _meta(member, words, count, least):
    side, _, frames = least.partition("x")
    meta = {"num_params": int(count), "min_size": (int(side), int(side)), "categories": None}
    names = _KINDS[words[0]][1]
    if names and member != "IMAGENET1K_FEATURES":
        meta["categories"] = categories(names)
    if names == "person":
        meta["keypoint_names"] = KEYPOINTS
    if frames:
        meta["min_temporal_size"] = int(frames)
    return meta


def _members(stem):
    """Yield (member, its line's words) of a class of checkpoints."""
    for line in WEIGHTS.strip().splitlines():
        first, *words = line.split()
        if first == stem:
            yield words


def weights_enum(name, unquantized=None):
    """Return the class of a model's checkpoints by its name; those of a quantized model know the checkpoints before."""
    members, default = {}, None
    for member, file, transform, count, least in _members(name.removesuffix("Weights").rstrip("_")):
        words, key = transform.split(":"), member.rstrip("*")
        meta, folder = _meta(key, words, count, least), ""
        if unquantized is not None:
            dataset, backend, version = key.split("_")
            meta.update(backend=backend.lower(), unquantized=unquantized[f"{dataset}_{version}"])
            folder = "quantized/"
        preset = _preset(_KINDS[words[0]][0], words[1:], _NORMALIZED.get(f"{name}.{key}"))
        members[key] = Weights(BASE + folder + file, preset, meta)
        default = members[key] if member.endswith("*") else default
    if default is not None:
        members["DEFAULT"] = default
    enum = WeightsEnum(name, members)
    enum.__module__ = "torchvision.models"
    return enum
