"""Scripts of torchvision's operators and of what its models are built from."""
import io
from typing import List

import pytest

import dragon.vm.torch as torch
from dragon.vm import torchvision
from dragon.vm.torch import Tensor, nn
from dragon.vm.torchvision.models.densenet import DenseNet
from dragon.vm.torchvision.models.inception import InceptionC, InceptionE
from dragon.vm.torchvision.models.maxvit import MaxVit
from dragon.vm.torchvision.models.shufflenetv2 import channel_shuffle
from dragon.vm.torchvision.models.swin_transformer import PatchMerging, ShiftedWindowAttention, ShiftedWindowAttentionV2
from dragon.vm.torchvision.models.vision_transformer import VisionTransformer
from dragon.vm.torchvision.ops import nms, roi_align, stochastic_depth
from harness import interpreter

IMAGES = torch.linspace(-1, 1, 2 * 3 * 32 * 32).view(2, 3, 32, 32).sin()


class Detector(nn.Module):
    """What detectors do with boxes."""

    def __init__(self):
        super().__init__()
        self.align = torchvision.ops.RoIAlign((2, 2), 1.0, 2)
        self.pool = torchvision.ops.RoIPool(2, 1.0)

    def forward(self, x: Tensor, boxes: Tensor, scores: Tensor, regions: List[Tensor]):
        """Return what is left of boxes, and regions."""
        kept = nms(boxes, scores, 0.5)
        return (kept, torchvision.ops.nms(boxes, scores, iou_threshold=0.1), roi_align(x, regions, 2),
                self.align(x, regions), self.pool(x, regions))


def again(scripted):
    """Return a script out of its archive."""
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    return torch.jit.load(io.BytesIO(buffer.getvalue()))


@pytest.mark.parametrize("module, x", [
    (DenseNet(4, (2, 2), 8, num_classes=3), IMAGES), (PatchMerging(3), IMAGES.permute(0, 2, 3, 1)),
    (ShiftedWindowAttention(4, [4, 4], [2, 2], 2), IMAGES.view(2, 16, 48, 4)),
    (ShiftedWindowAttentionV2(4, [4, 4], [2, 2], 2), IMAGES.view(2, 16, 48, 4)),
    (InceptionC(3, 5), IMAGES), (InceptionE(3), IMAGES),
    (MaxVit((32, 32), 4, 2, [4, 8], [1, 2], 4, 0.2, num_classes=5), IMAGES),
    (VisionTransformer(32, 16, 1, 2, 8, 8, num_classes=3), IMAGES)], ids=lambda part: type(part).__name__)
def test_models_are_scripts(module, x):
    module.eval()
    scripted = torch.jit.script(module)
    for found in (scripted, again(scripted)):
        torch.testing.assert_close(found(x), module(x))


def test_operators_of_detectors():
    boxes = torch.tensor([[0.0, 0, 4, 4], [1, 1, 4, 4], [5, 5, 7, 7]])
    arguments = IMAGES, boxes, torch.tensor([0.5, 0.9, 0.3]), [boxes, boxes[:2]]
    detector = Detector()
    scripted = torch.jit.script(detector)
    for found in (scripted, again(scripted)):
        for one, other in zip(found(*arguments), detector(*arguments)):
            assert torch.equal(one, other)
    assert torch.equal(torch.ops.torchvision.nms(boxes, arguments[2], 0.5), nms(boxes, arguments[2], 0.5))


def test_operators_are_there_without_a_word_of_torchvision(tmp_path):
    code = "import dragon.vm.torch as torch; print(torch.ops.torchvision.nms(torch.ones(2, 4), torch.ones(2), 0.5))"
    found = interpreter.run(["-c", code], tmp_path, preload="import numpy, dragon")
    assert found.stdout.strip() == "tensor([0, 1])", found.stderr  # boxes without a size have no overlap


def test_functions_of_models():
    scripted = torch.jit.script(channel_shuffle)
    assert torch.equal(again(scripted)(IMAGES, 3), channel_shuffle(IMAGES, 3))
    assert torch.equal(torch.jit.script(stochastic_depth)(IMAGES, 1.0, "row", True), torch.zeros_like(IMAGES))
