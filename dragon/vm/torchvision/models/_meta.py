"""The names of what models tell apart."""
import functools
import importlib.resources

KEYPOINTS = ["nose", *(f"{side}_{part}" for part in ("eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle")
                       for side in ("left", "right"))]


@functools.cache
def categories(name):
    """Return the names of classes: those of "imagenet", "coco", "voc", "kinetics" or "person"."""
    if name == "person":
        return ["no person", "person"]
    return importlib.resources.files(__package__).joinpath(f"{name}.txt").read_text("utf-8").splitlines()


_IMAGENET_CATEGORIES, _COCO_CATEGORIES, _VOC_CATEGORIES, _KINETICS400_CATEGORIES, _COCO_PERSON_CATEGORIES = map(
    categories, ("imagenet", "coco", "voc", "kinetics", "person"))
_COCO_PERSON_KEYPOINT_NAMES = KEYPOINTS
