"""Sizes of inputs; formats of boxes."""
from dragon.vm import torch
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision.tv_tensors import BoundingBoxFormat
from dragon.vm.torchvision.transforms import _functional_pil as F_pil, functional as F1
from dragon.vm.torchvision.transforms.v2.functional._turned import cut_to_canvas
from dragon.vm.torchvision.transforms.v2.functional._utils import is_pure_tensor

XYXY, XYWH, CXCYWH = BoundingBoxFormat.XYXY, BoundingBoxFormat.XYWH, BoundingBoxFormat.CXCYWH
CORNERS = BoundingBoxFormat.XYXYXYXY


def _log_usage(name):
    torch._C._log_api_usage_once(f"torchvision.transforms.v2.functional._meta.{name}")


def get_dimensions_image(image):
    """Return [channels, height, width]."""
    return [1 if image.ndim == 2 else image.shape[-3], *image.shape[-2:]]


def get_num_channels_image(image):
    """Return the number of channels."""
    return get_dimensions_image(image)[0]


def get_size_image(image):
    """Return [height, width]."""
    return list(image.shape[-2:])


def get_num_frames_video(video):
    """Return the number of frames."""
    return video.shape[-4]


get_dimensions_video, get_num_channels_video = get_dimensions_image, get_num_channels_image
get_size_video = get_size_mask = get_size_image


def get_size_bounding_boxes(bounding_box):
    """Return [height, width] of the canvas."""
    return list(bounding_box.canvas_size)


get_size_keypoints = get_size_bounding_boxes
_get_dimensions_image_pil = F_pil.get_dimensions


def _get_num_channels_image_pil(image):
    return F_pil.get_dimensions(image)[0]


def _get_size_image_pil(image):
    return F_pil.get_dimensions(image)[1:]


def get_dimensions(inpt):
    """Return [channels, height, width]."""
    _require_image("get_dimensions", inpt)
    return F1.get_dimensions(inpt)


def get_num_channels(inpt):
    """Return the number of channels."""
    _require_image("get_num_channels", inpt)
    return F1.get_dimensions(inpt)[0]


def _require_image(who, inpt):
    if isinstance(inpt, tv_tensors.TVTensor) and not isinstance(inpt, (tv_tensors.Image, tv_tensors.Video)):
        raise TypeError(f"Functional F.{who} supports images and videos, but got {type(inpt)} instead.")


get_image_num_channels = get_num_channels


def get_num_frames(inpt):
    """Return the number of frames of a video."""
    if not isinstance(inpt, tv_tensors.Video) and not is_pure_tensor(inpt):
        raise TypeError(f"Functional F.get_num_frames supports videos, but got {type(inpt)} instead.")
    return get_num_frames_video(inpt)


def get_size(inpt):
    """Return [height, width] of an input, or of its canvas."""
    if isinstance(inpt, (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints)):
        return get_size_bounding_boxes(inpt)
    return get_size_image(inpt) if isinstance(inpt, torch.Tensor) else F1.get_dimensions(inpt)[1:]


def convert_boxes(boxes, old_format, new_format):
    """Return boxes in another format; whole numbers stay whole."""
    if old_format == new_format:
        return boxes
    if tv_tensors.is_rotated_bounding_format(old_format) or tv_tensors.is_rotated_bounding_format(new_format):
        return _convert_turned(boxes, old_format, new_format)
    first, second = boxes[..., :2], boxes[..., 2:]
    whole = None if boxes.is_floating_point() else "floor"
    if old_format == XYWH:
        second = first + second
    elif old_format == CXCYWH:
        first = first - second.div(-2, rounding_mode=whole).abs()
        second = first + second
    if new_format == XYWH:
        second = second - first
    elif new_format == CXCYWH:
        second = second - first
        first = (first * 2 + second).div(2, rounding_mode=whole)
    return torch.cat((first, second), dim=-1)


def _convert_turned(boxes, old_format, new_format):
    from dragon.vm.torchvision.ops import box_convert
    if tv_tensors.is_rotated_bounding_format(old_format) != tv_tensors.is_rotated_bounding_format(new_format):
        raise ValueError("Cannot convert between rotated and unrotated bounding boxes.")
    return box_convert(boxes, old_format.value.lower(), new_format.value.lower())


def _converted(boxes, old_format, new_format, inplace):
    """Return boxes in another format, in their own memory if asked for and if that has as many columns."""
    made = convert_boxes(boxes, old_format, new_format)
    return boxes.copy_(made) if inplace and made is not boxes and made.shape == boxes.shape else made


def convert_bounding_box_format(inpt, old_format=None, new_format=None, inplace=False):
    """Return boxes in another format, written over the old ones if asked for."""
    _log_usage("convert_bounding_box_format")
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    new_format = BoundingBoxFormat[new_format.upper()] if isinstance(new_format, str) else new_format
    if isinstance(inpt, tv_tensors.BoundingBoxes):
        if old_format is not None:
            raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
        made = _converted(inpt.as_subclass(torch.Tensor), inpt.format, new_format, inplace)
        return tv_tensors.wrap(made, like=inpt, format=new_format)
    if not is_pure_tensor(inpt):
        raise TypeError("Input can either be a plain tensor or a bounding box tv_tensor, but got "
                        f"{type(inpt)} instead.")
    if old_format is None:
        raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
    old_format = BoundingBoxFormat[old_format.upper()] if isinstance(old_format, str) else old_format
    return _converted(inpt, old_format, new_format, inplace)


def clamped(boxes, format, canvas_size, clamping_mode="soft"):
    """Return boxes cut to a canvas."""
    if clamping_mode is None:
        return boxes.clone()
    if tv_tensors.is_rotated_bounding_format(format):
        corners = cut_to_canvas(convert_boxes(boxes, format, CORNERS), canvas_size, clamping_mode)
        return convert_boxes(corners, CORNERS, format)
    height, width = canvas_size
    corners = convert_boxes(boxes if boxes.is_floating_point() else boxes.float(), format, XYXY)
    cut = torch.stack((corners[..., 0::2].clamp(min=0, max=width), corners[..., 1::2].clamp(min=0, max=height)), -1)
    return convert_boxes(cut.reshape(corners.shape), XYXY, format).to(boxes.dtype)


def clamp_bounding_boxes(inpt, format=None, canvas_size=None, clamping_mode="auto"):
    """Return boxes cut to their canvas."""
    _log_usage("clamp_bounding_boxes")
    if clamping_mode not in (None, "soft", "hard", "auto"):
        raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    if is_pure_tensor(inpt):
        if format is None or canvas_size is None or (clamping_mode is not None and clamping_mode == "auto"):
            raise ValueError("For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed.")
        format = BoundingBoxFormat[format.upper()] if isinstance(format, str) else format
        return clamped(inpt, format, canvas_size, clamping_mode)
    if not isinstance(inpt, tv_tensors.BoundingBoxes):
        raise TypeError("Input can either be a plain tensor or a bounding box tv_tensor, but got "
                        f"{type(inpt)} instead.")
    if format is not None or canvas_size is not None:
        raise ValueError("For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed.")
    mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
    return tv_tensors.wrap(clamped(inpt.as_subclass(torch.Tensor), inpt.format, inpt.canvas_size, mode), like=inpt)


def clamped_points(points, canvas_size):
    """Return keypoints moved onto a canvas."""
    height, width = canvas_size
    return torch.stack((points[..., 0].clamp(0, width - 1), points[..., 1].clamp(0, height - 1)), -1).to(points.dtype)


def clamp_keypoints(inpt, canvas_size=None):
    """Return keypoints moved onto their canvas."""
    _log_usage("clamp_keypoints")
    if is_pure_tensor(inpt):
        if canvas_size is None:
            raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
        return clamped_points(inpt, canvas_size)
    if not isinstance(inpt, tv_tensors.KeyPoints):
        raise TypeError(f"Input can either be a plain tensor or a keypoints tv_tensor, but got {type(inpt)} instead.")
    if canvas_size is not None:
        raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
    return tv_tensors.wrap(clamped_points(inpt.as_subclass(torch.Tensor), inpt.canvas_size), like=inpt)
