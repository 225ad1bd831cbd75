"""Detectors beside genuine torchvision, on a backbone of a few channels: answers, losses and gradients."""
from collections import OrderedDict
from functools import partial

import genuine
import plain
import pytest
import torch
from compare import mine, same, seeded

tv = genuine.load()

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import models, ops  # noqa: E402

SIDES = {"min_size": 64, "max_size": 96}
numbers = torch.Generator().manual_seed(7)


def levels(library, count, channels=32):
    """Return a backbone of so many levels, each half as large as the one before."""
    nn = library.nn

    class Levels(nn.Module):
        out_channels = channels

        def __init__(self):
            super().__init__()
            self.steps = nn.ModuleList([nn.Conv2d(channels if index else 3, channels, 3, 2, 1)
                                        for index in range(count)])

        def forward(self, x):
            found = OrderedDict()
            for index, step in enumerate(self.steps):
                x = library.tanh(step(x))
                found[str(index)] = x
            return found
    return Levels()


def rcnn(name, library, detection, operators):
    anchors = detection.anchor_utils.AnchorGenerator(((16,), (32,)), ((0.5, 1.0),) * 2)
    pool = partial(operators.MultiScaleRoIAlign, ["0", "1"], sampling_ratio=2)
    faster, mask, keypoint = detection.faster_rcnn, detection.mask_rcnn, detection.keypoint_rcnn
    options = {"box_head": faster.TwoMLPHead(32 * 9, 16), "box_predictor": faster.FastRCNNPredictor(16, 3)}
    if name == "MaskRCNN":
        options.update(mask_roi_pool=pool(output_size=6), mask_head=mask.MaskRCNNHeads(32, (8,), 1),
                       mask_predictor=mask.MaskRCNNPredictor(8, 8, 3))
    if name == "KeypointRCNN":
        options.update(keypoint_roi_pool=pool(output_size=6), keypoint_head=keypoint.KeypointRCNNHeads(32, (8, 8)),
                       keypoint_predictor=keypoint.KeypointRCNNPredictor(8, 4))
    return getattr(detection, name)(levels(library, 2), rpn_anchor_generator=anchors, box_detections_per_img=20,
                                    box_roi_pool=pool(output_size=3), box_score_thresh=0.2, **SIDES, **options)


def retinanet(library, detection, operators):
    anchors = detection.anchor_utils.AnchorGenerator(((16, 24), (32, 48)), ((0.5, 1.0),) * 2)
    return detection.RetinaNet(levels(library, 2), 3, anchor_generator=anchors, score_thresh=0.008, **SIDES)


def fcos(library, detection, operators):
    anchors = detection.anchor_utils.AnchorGenerator(((8,), (16,)), ((1.0,),) * 2)
    return detection.FCOS(levels(library, 2), 3, anchor_generator=anchors, score_thresh=0.05, **SIDES)


def ssd(library, detection, operators):
    boxes = detection.anchor_utils.DefaultBoxGenerator([[2], [2, 3]], min_ratio=0.2)
    backbone = levels(library, 2)
    del type(backbone).out_channels
    return detection.ssd.SSD(backbone, boxes, (64, 64), 3, score_thresh=0.3)


DETECTORS = {"FasterRCNN": partial(rcnn, "FasterRCNN"), "MaskRCNN": partial(rcnn, "MaskRCNN"),
             "KeypointRCNN": partial(rcnn, "KeypointRCNN"), "RetinaNet": retinanet, "FCOS": fcos,
             "SSD": ssd}


def modules(side):
    """Return (library, detection, operators) of a side, all modules of detection at hand."""
    if side is tv:
        from torchvision.models import detection
        return torch, detection, tv.ops
    return dt, models.detection, ops


def pair(name, seed=1):
    """Return a detector of both sides; in doubles, in which scores that are almost equal have one order."""
    ours, theirs = seeded(seed, DETECTORS[name], *modules(None)), seeded(seed, DETECTORS[name], *modules(tv))
    assert repr(ours) == repr(theirs)
    same(dict(ours.state_dict()), dict(theirs.state_dict()))
    return ours.double(), theirs.double()


def images():
    # Without margins: these would have cells of one score, whose order is nobody's.
    return [torch.rand(3, 64, 96, generator=numbers).double() for _ in range(2)]


def targets(boxes=3):
    found = []
    for height, width in ((64, 96), (64, 96)):
        corner = torch.rand(boxes, 2, generator=numbers) * 20
        box = torch.cat((corner, corner + 8 + torch.rand(boxes, 2, generator=numbers) * 25), 1)
        points = box[:, None, :2] + torch.rand(boxes, 4, 2, generator=numbers) * 8
        found.append({"boxes": box.double(), "labels": torch.randint(1, 3, (boxes,), generator=numbers),
                      "masks": (torch.rand(boxes, height, width, generator=numbers) > 0.5).to(torch.uint8),
                      "keypoints": torch.cat((points, torch.ones(boxes, 4, 1)), 2)})
    return found


@pytest.mark.parametrize("name", DETECTORS)
def test_detections(name, monkeypatch):
    plain.replace(monkeypatch, tv)
    ours, theirs = pair(name)
    batch = images()
    with torch.no_grad(), dt.no_grad():
        wanted = theirs.eval()(batch)
        found = ours.eval()(mine(batch))
    assert any(len(item["boxes"]) for item in wanted)
    for one, other in zip(found, wanted):
        same(one, other, 1e-6, 1e-6)


@pytest.mark.long("two whole detectors, the numbers of which are doubles, take a step of training")
@pytest.mark.parametrize("boxes", (3, 0))
@pytest.mark.parametrize("name", DETECTORS)
def test_losses_and_gradients(name, boxes, monkeypatch):
    plain.replace(monkeypatch, tv)
    ours, theirs = pair(name, 2)
    batch, wanted_boxes = images(), targets(boxes)
    wanted = seeded(3, theirs.train(), batch, wanted_boxes)
    found = seeded(3, ours.train(), mine(batch), mine(wanted_boxes))
    # PyTorch's cross entropy of logits is in the dtype of what is wanted: here the dtypes may differ.
    assert list(found) == list(wanted)
    assert [float(loss) for loss in found.values()] == pytest.approx([float(loss) for loss in wanted.values()], 1e-6)
    sum(wanted.values()).backward()
    sum(found.values()).backward()
    gradients = dict(ours.named_parameters())
    for key, parameter in theirs.named_parameters():
        if parameter.grad is None:
            assert gradients[key].grad is None
        else:
            same(gradients[key].grad, parameter.grad, 1e-5, 1e-8)


WRONG = {
    "no targets": lambda m, t: m.train()([t.rand(3, 64, 64)]),
    "flat box": lambda m, t: m.train()([t.rand(3, 64, 64)], [{"boxes": t.tensor([[1.0, 2.0, 1.0, 9.0]]),
                                                              "labels": t.tensor([1])}]),
    "boxes of 5": lambda m, t: m.train()([t.rand(3, 64, 64)], [{"boxes": t.rand(1, 5), "labels": t.tensor([1])}]),
    "no boxes": lambda m, t: m.train()([t.rand(3, 64, 64)], [{"boxes": [[1, 2, 3, 4]], "labels": t.tensor([1])}]),
    "bytes": lambda m, t: m.eval()([t.zeros(3, 64, 64, dtype=t.uint8)]),
    "flat image": lambda m, t: m.eval()([t.rand(64, 64)]),
    "labels": lambda m, t: m.train()([t.rand(3, 64, 64)], [{"boxes": t.tensor([[1.0, 2.0, 30.0, 40.0]]),
                                                            "labels": t.tensor([1.0])}]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments(wrong, monkeypatch):
    plain.replace(monkeypatch, tv)
    ours, theirs = pair("FasterRCNN")
    with pytest.raises(Exception) as wanted:
        WRONG[wrong](theirs, torch)
    with pytest.raises(wanted.type):
        WRONG[wrong](ours, dt)


def test_functions_and_old_arguments():
    options = {"weights": None, "weights_backbone": None, "num_classes": 4}
    for name in ("fasterrcnn_mobilenet_v3_large_320_fpn", "ssdlite320_mobilenet_v3_large"):
        ours = seeded(5, lambda: models.get_model(name, **options))
        theirs = seeded(5, lambda: tv.models.get_model(name, **options))
        assert repr(ours) == repr(theirs)
        same(dict(ours.state_dict()), dict(theirs.state_dict()))
    for wrong in ({"trainable_backbone_layers": 9}, {"num_classes": 3, "weights": "COCO_V1"}, {"weights": "nothing"}):
        for side in (models, tv.models):
            monkey = {**options, "weights_backbone": None, **wrong}
            if "trainable_backbone_layers" in wrong:
                with pytest.warns(UserWarning, match="has no effect"):
                    side.get_model("ssdlite320_mobilenet_v3_large", **monkey)
                continue
            with pytest.raises((ValueError, KeyError)):
                side.get_model("ssdlite320_mobilenet_v3_large", **monkey)
    with pytest.warns(UserWarning, match="pretrained_backbone"):
        models.detection.ssdlite320_mobilenet_v3_large(pretrained=False, pretrained_backbone=False)


def test_backbones():
    for name, options in (("resnet18", {"trainable_layers": 1, "returned_layers": [2, 4]}), ("resnet18", {})):
        ours, theirs = (seeded(1, lambda: m.detection.backbone_utils.resnet_fpn_backbone(
            backbone_name=name, weights=None, **options)) for m in (models, tv.models))
        same(dict(ours.state_dict()), dict(theirs.state_dict()))
        assert [p.requires_grad for p in ours.parameters()] == [p.requires_grad for p in theirs.parameters()]
    for name in ("mobilenet_v2", "mobilenet_v3_small"):
        for fpn in (True, False):
            ours, theirs = (seeded(1, lambda: m.detection.backbone_utils.mobilenet_backbone(
                backbone_name=name, weights=None, fpn=fpn, trainable_layers=0)) for m in (models, tv.models))
            same(dict(ours.state_dict()), dict(theirs.state_dict()))
            assert [p.requires_grad for p in ours.parameters()] == [p.requires_grad for p in theirs.parameters()]
    for wrong in ({"trainable_layers": 6}, {"returned_layers": [0]}):
        for m in (models, tv.models):
            with pytest.raises(ValueError):
                m.detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None, **wrong)


def test_old_checkpoints():
    head = models.detection.retinanet.RetinaNetClassificationHead(8, 2, 3)
    old = {key.replace("conv.1.0.", "conv.2.").replace("conv.2.0.", "conv.4.").replace("conv.3.0.", "conv.6.")
           .replace("conv.0.0.", "conv.0."): value for key, value in head.state_dict().items()}
    head.load_state_dict(old)
    rpn = models.detection.rpn.RPNHead(4, 2)
    rpn.load_state_dict({key.replace("conv.0.0.", "conv."): value for key, value in rpn.state_dict().items()})


@pytest.mark.parametrize("kind", ("l1", "smooth_l1", "ciou", "diou", "giou"))
def test_box_losses(kind):
    from torchvision.models.detection import _utils as theirs
    ours = models.detection._utils
    anchors, boxes = (item["boxes"] for item in targets(4))
    codes = torch.randn(4, 4, generator=numbers).double() / 3
    wanted = theirs._box_loss(kind, theirs.BoxCoder((1.0, 2.0, 1.0, 2.0)), anchors, boxes, codes)
    found = ours._box_loss(kind, ours.BoxCoder((1.0, 2.0, 1.0, 2.0)), *mine([anchors, boxes, codes]))
    same(found, wanted, 1e-5, 1e-5)
    with pytest.raises(AssertionError):
        ours._box_loss("l3", None, None, None, None)
