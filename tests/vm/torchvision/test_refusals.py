"""Arguments of the wrong kind, and images without pixels, are refused in the words of the guest's classes."""
import numpy
import pytest

from dragon.vm import torch, torchvision
from harness.subresults import each

F, V = torchvision.transforms.functional, torchvision.transforms.v2.functional
IMAGE = torch.ones(3, 4, 5)


class Long:
    """A sequence that claims far more items than it gives."""

    def __len__(self):
        return 2**62

    def __getitem__(self, index):
        return [1, 2][index]


KINDS = {
    "a class for scores": lambda: torchvision.ops.nms(torch.ones(2, 4), object, 0.5),
    "a number for images": lambda: torchvision.ops.deform_conv2d(2j, torch.ones(1, 2, 4, 4), torch.ones(1, 1, 1, 1)),
    "a word for a dtype": lambda: F.convert_image_dtype(IMAGE, ""),
    "an array to brighten": lambda: V.adjust_gamma_image(numpy.ones(3), 2),
    "a bool to turn": lambda: V.affine_image(True, 1, [0, 0], 1, [0, 0]),
    "dots to turn": lambda: V.rotate_image(..., 2),
    "an array of points": lambda: V.clamp_keypoints(numpy.ones(2)),
}
VALUES = {
    "an empty kernel": lambda: torchvision.ops.deform_conv2d(
        torch.ones(1, 1, 4, 4), torch.ones(1, 2, 4, 4), torch.ones(3, 0, 1, 1)),
    "a dictionary for a size": lambda: F.five_crop(IMAGE, {"a": 1}),
    "a size in a dictionary": lambda: V.center_crop_image(IMAGE, {"a": 1}),
    "a size without end": lambda: V.five_crop_image(IMAGE, Long()),
    "no pixels": lambda: V.resize(torch.ones(3, 2, 0), 2),
    "no margins": lambda: V.pad_image(IMAGE, [], {"a": 1}),
    "an unknown way to clamp": lambda: V.clamp_bounding_boxes(torch.ones(4), "xyxy", (2, 2), "no"),
    "a canvas without sides": lambda: V.sanitize_keypoints(torch.ones(2, 3, 4), {}),
    "no channels": lambda: F.to_pil_image(torch.ones(0, 1, 1)),
    "points of nothing": lambda: V.sanitize_keypoints(None),
}


@pytest.mark.parametrize("call", KINDS.values(), ids=KINDS)
def test_what_has_the_wrong_kind(call):
    with pytest.raises(TypeError, match="got|Got"):
        call()


@each("call", VALUES.values(), ids=VALUES)
def test_what_has_no_meaning(call):
    with pytest.raises(ValueError, match="."):
        call()
