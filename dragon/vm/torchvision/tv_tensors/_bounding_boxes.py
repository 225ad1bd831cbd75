"""Boxes on an image."""
from enum import Enum

from dragon.vm import torch
from dragon.vm.torchvision.tv_tensors._tv_tensor import TVTensor


class BoundingBoxFormat(Enum):
    """The meanings of a box's numbers: corners, a corner or the centre and sides, an angle."""

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"
    XYWHR = "XYWHR"
    CXCYWHR = "CXCYWHR"
    XYXYXYXY = "XYXYXYXY"


CLAMPING_MODE_TYPE = str  # or None
_TURNED = ("XYWHR", "CXCYWHR", "XYXYXYXY")


def is_rotated_bounding_format(format):
    """Return whether boxes of a format may be turned."""
    if not isinstance(format, (BoundingBoxFormat, str)):
        raise ValueError(f"format should be str or BoundingBoxFormat, got {type(format)}")
    return (format.value if isinstance(format, BoundingBoxFormat) else format) in _TURNED


is_rotated_bounding_format._script_form = None  # its argument is of two types: scripts run it as Python code


class BoundingBoxes(TVTensor):
    """Boxes (N, 4) on an image.

    Parameters
    ----------
    data : Any
        What `torch.as_tensor` takes.
    format : Union[BoundingBoxFormat, str]
        What the numbers are.
    canvas_size : Tuple[int, int]
        The image's height and width.
    clamping_mode : str, optional, default="soft"
        How boxes are cut to the image: "soft", "hard" or None.
    dtype, device, requires_grad : optional
        Of the tensor.

    """

    _loose = {"check_dims": False}
    _particulars = ("format", "canvas_size", "clamping_mode")

    @classmethod
    def _wrap(cls, tensor, *, format, canvas_size, clamping_mode="soft", check_dims=True):
        if check_dims and tensor.ndim not in (1, 2):
            raise ValueError(f"Expected a 1D or 2D tensor, got {tensor.ndim}D")
        if check_dims and tensor.ndim == 1:
            tensor = tensor.unsqueeze(0)
        if clamping_mode not in (None, "hard", "soft"):
            raise ValueError(f"clamping_mode must be None, hard or soft, got {clamping_mode}.")
        boxes = tensor.as_subclass(cls)
        boxes.format = BoundingBoxFormat[format.upper()] if isinstance(format, str) else format
        boxes.canvas_size, boxes.clamping_mode = canvas_size, clamping_mode
        return boxes

    def __new__(cls, data, *, format, canvas_size, clamping_mode="soft", dtype=None, device=None, requires_grad=None):
        tensor = cls._to_tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)
        if not torch.is_floating_point(tensor) and is_rotated_bounding_format(format):
            raise ValueError(f"Rotated bounding boxes should be floating point tensors, got {tensor.dtype}.")
        return cls._wrap(tensor, format=format, canvas_size=canvas_size, clamping_mode=clamping_mode)
