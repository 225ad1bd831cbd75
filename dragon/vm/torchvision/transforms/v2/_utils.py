"""Questions that the transforms ask of their inputs and arguments."""
import numbers
from collections.abc import Mapping, Sequence

from dragon.vm import torch
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms._arguments import (_check_sequence_input, _setup_angle,  # noqa: F401
                                                         _setup_size)
from dragon.vm.torchvision.transforms.v2.functional import get_dimensions, get_size, is_pure_tensor


def _setup_number_or_seq(arg, name):
    if not isinstance(arg, (int, float, Sequence)):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {type(arg)}")
    if isinstance(arg, (int, float)):
        return [float(arg), float(arg)]
    if len(arg) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {len(arg)}")
    for element in arg:
        if not isinstance(element, (int, float)):
            raise ValueError(f"{name} should be a sequence of numbers. Got {type(element)}")
    return [float(arg[0]), float(arg[-1])]


def _check_fill_arg(fill):
    for value in fill.values() if isinstance(fill, dict) else (fill,):
        if isinstance(value, dict) or not (value is None or isinstance(value, (numbers.Number, tuple, list))):
            raise TypeError("Got inappropriate fill arg, only Numbers, tuples, lists and dicts are allowed.")


def _setup_fill_arg(fill):
    def converted(value):
        return value if value is None or isinstance(value, (int, float)) else [float(item) for item in value]
    _check_fill_arg(fill)
    if isinstance(fill, dict):
        return {key: converted(value) for key, value in fill.items()}
    return {"others": converted(fill)}


def _get_fill(fill_dict, inpt_type):
    return fill_dict[inpt_type] if inpt_type in fill_dict else fill_dict.get("others")


def _check_padding_arg(padding):
    message = f"Padding must be an int or a 1, 2, or 4 element of tuple or list, got {padding}."
    if isinstance(padding, (tuple, list)):
        if len(padding) not in (1, 2, 4) or not all(isinstance(side, int) for side in padding):
            raise ValueError(message)
    elif not isinstance(padding, int):
        raise ValueError(message)


def _check_padding_mode_arg(padding_mode):
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")


def _find_labels_default_heuristic(inputs):
    if isinstance(inputs, (tuple, list)):
        inputs = inputs[1]
    if is_pure_tensor(inputs):
        return inputs
    if not isinstance(inputs, Mapping):
        raise ValueError("When using the default labels_getter, the input passed to forward must be a dictionary or a "
                         "two-tuple whose second item is a dictionary or a tensor, but got "
                         f"{type(inputs)} instead.")
    key = next((key for key in inputs if key.lower() == "labels"), None)
    key = key or next((key for key in inputs if "label" in key.lower()), None)
    if key is None:
        raise ValueError("Could not infer where the labels are in the sample. Try passing a callable as the "
                         "labels_getter parameter? If there are no labels in the sample by design, pass "
                         "labels_getter=None.")
    return inputs[key]


def _parse_labels_getter(labels_getter):
    if labels_getter == "default":
        return _find_labels_default_heuristic
    if callable(labels_getter):
        return labels_getter
    if labels_getter is None:
        return lambda _: None
    raise ValueError(f"labels_getter should either be 'default', a callable, or None, but got {labels_getter}.")


def _first(flat_inputs, kind, what):
    for inpt in flat_inputs:
        if isinstance(inpt, kind):
            return inpt
    raise ValueError(f"No {what} were found in the sample")


def get_bounding_boxes(flat_inputs):
    """Return the first boxes among inputs."""
    return _first(flat_inputs, tv_tensors.BoundingBoxes, "bounding boxes")


def get_keypoints(flat_inputs):
    """Return the first keypoints among inputs."""
    return _first(flat_inputs, tv_tensors.KeyPoints, "keypoints")


_IMAGES = (is_pure_tensor, tv_tensors.Image, Image.Image, tv_tensors.Video)
_SIZED = (*_IMAGES, tv_tensors.Mask, tv_tensors.BoundingBoxes, tv_tensors.KeyPoints)


def _only(found, what):
    if not found:
        raise TypeError(f"No {what} was found in the sample")
    if len(found) > 1:
        raise ValueError(f"Found multiple dimensions in the sample: {', '.join(map(str, sorted(found)))}")
    return found.pop()


def query_chw(flat_inputs):
    """Return (channels, height, width) of the images among inputs."""
    return _only({tuple(get_dimensions(inpt)) for inpt in flat_inputs if check_type(inpt, _IMAGES)}, "image or video")


def query_size(flat_inputs):
    """Return (height, width) of the inputs, or of their canvas."""
    return _only({tuple(get_size(inpt)) for inpt in flat_inputs if check_type(inpt, _SIZED)},
                 "image, video, mask, bounding box of keypoint")


def check_type(obj, types_or_checks):
    """Return whether a thing is of one of the classes, or passes one of the checks."""
    return any(isinstance(obj, item) if isinstance(item, type) else item(obj) for item in types_or_checks)


def has_any(flat_inputs, *types_or_checks):
    """Return whether an input is of one of the classes."""
    return any(check_type(inpt, types_or_checks) for inpt in flat_inputs)


def has_all(flat_inputs, *types_or_checks):
    """Return whether there is an input of each of the classes."""
    return all(has_any(flat_inputs, item) for item in types_or_checks)


def random_integer(high, low=0, size=()):
    """Return a whole number drawn from `low` up to, not including, `high`."""
    return int(torch.randint(low, high, size))
