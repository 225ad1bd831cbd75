"""torchvision's operators and a detector on the device beside the CPU's."""
import numpy as np
import pytest

import dragon.vm.torch as torch
import dragon.vm.torchvision as torchvision

ops = torchvision.ops
RNG = np.random.default_rng(4)


def numbers(*shape):
    return torch.tensor(RNG.standard_normal(shape).astype("float32"))


def boxes(count, size=20.0):
    corners = RNG.uniform(0, size / 2, (count, 2))
    return torch.tensor(np.concatenate([corners, corners + RNG.uniform(2, size / 2, (count, 2))], 1).astype("float32"))


def flat(found):
    if isinstance(found, dict):
        return [leaf for key in found for leaf in flat(found[key])]
    return [leaf for item in found for leaf in flat(item)] if isinstance(found, (list, tuple)) else [found]


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.detach().to(device)
    if isinstance(value, dict):
        return {key: moved(item, device) for key, item in value.items()}
    return type(value)(moved(item, device) for item in value) if isinstance(value, (list, tuple)) else value


def beside(call, *args, close=1e-4, slopes=()):
    """Check a call on the device, and its gradients by some arguments, beside the CPU's."""
    results = []
    for device in ("cpu", "cuda"):
        there = [moved(arg, device) for arg in args]
        for place in slopes:
            there[place].requires_grad_()
        found = call(*there)
        leaves = flat(found)
        assert all(leaf.device.type == device for leaf in leaves)
        if slopes:
            sum((leaf * leaf).sum() for leaf in leaves).backward()
            leaves = [*leaves, *(there[place].grad for place in slopes)]
        results.append([leaf.detach().cpu().numpy() for leaf in leaves])
    for mine, theirs in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=close, atol=close)


def test_suppression():
    rows, scores = boxes(70), torch.tensor(RNG.permutation(70).astype("float32"))
    beside(lambda b, s: ops.nms(b, s, 0.3), rows, scores)
    beside(lambda b, s, kinds: ops.batched_nms(b, s, kinds, 0.3), rows, scores, torch.tensor(np.arange(70) % 3))
    beside(lambda b, s: ops.nms(b, s, 0.5), boxes(1), scores[:1])
    beside(lambda b, s: ops.nms(b, s, 0.5), rows[:0], scores[:0])


def test_boxes():
    rows, others = boxes(5), boxes(7)
    for call in (ops.box_iou, ops.generalized_box_iou, ops.distance_box_iou, ops.complete_box_iou):
        beside(call, rows, others)
    beside(ops.box_area, rows)
    beside(lambda b: ops.clip_boxes_to_image(b, (10, 12)), rows)
    beside(lambda b: ops.remove_small_boxes(b, 5.0), rows)
    beside(lambda b: ops.box_convert(b, "xyxy", "cxcywh"), rows)
    masks = torch.zeros(3, 9, 11)
    masks[0, 2:5, 3:7], masks[1, 0, 0], masks[2, 4:, :] = 1, 1, 1
    beside(ops.masks_to_boxes, masks)
    for loss in (ops.generalized_box_iou_loss, ops.complete_box_iou_loss, ops.distance_box_iou_loss):
        beside(lambda a, b, loss=loss: loss(a, b, reduction="mean"), rows, boxes(5), slopes=(0,))
    beside(lambda x, y: ops.sigmoid_focal_loss(x, y, reduction="sum"), numbers(4, 3),
           (numbers(4, 3) > 0).float(), slopes=(0,))


@pytest.mark.parametrize("aligned", [False, True])
def test_regions(aligned):
    x, rows = numbers(2, 4, 10, 12), torch.cat([torch.tensor([[0.0], [1.0], [1.0]]), boxes(3)], 1)
    beside(lambda x, r: ops.roi_align(x, r, (3, 2), 0.5, 2, aligned), x, rows, slopes=(0,))
    beside(lambda x, r: ops.roi_align(x, r, 2, 0.5, -1, aligned), x, rows, slopes=(0,))
    beside(lambda x, r: ops.roi_align(x, [r[:1, 1:], r[1:, 1:]], 2, 0.5, 2, aligned), x, rows, slopes=(0,))
    beside(lambda x, r: ops.roi_pool(x, r, (3, 2), 0.5), x, rows, slopes=(0,))
    beside(lambda x, r: ops.ps_roi_align(x, r, 2, 0.5, 2), x, rows, slopes=(0,))
    beside(lambda x, r: ops.ps_roi_pool(x, r, 2, 0.5), x, rows, slopes=(0,))


@pytest.mark.parametrize("masked", [False, True])
def test_deformed_convolution(masked):
    x, w, b = numbers(2, 4, 7, 6), numbers(4, 2, 3, 3), numbers(4)
    offset, mask = numbers(2, 18, 7, 6), torch.sigmoid(numbers(2, 9, 7, 6))
    beside(lambda x, o, w, b, m: ops.deform_conv2d(x, o, w, b, padding=1, mask=m if masked else None),
           x, offset, w, b, mask, slopes=(0, 1, 2, 3))


def test_pyramids():
    torch.manual_seed(0)
    maps = {"0": numbers(1, 4, 16, 16), "1": numbers(1, 8, 8, 8)}
    pyramid = ops.FeaturePyramidNetwork([4, 8], 6)

    def call(maps):
        return pyramid.to(maps["0"].device)(maps)
    beside(call, maps)
    pooler = ops.MultiScaleRoIAlign(["0", "1"], 3, 2)
    beside(lambda maps, rows: pooler(maps, [rows], [(32, 32)]), {"0": numbers(1, 4, 16, 16), "1": numbers(1, 4, 8, 8)},
           boxes(4, 30.0))


def test_layers_of_models():
    x = numbers(2, 4, 6, 6)
    for layer in (ops.SqueezeExcitation(4, 2), ops.FrozenBatchNorm2d(4), ops.Conv2dNormActivation(4, 5, 3),
                  ops.Permute([0, 2, 3, 1]), ops.StochasticDepth(0.0, "row")):
        layer.eval()
        beside(lambda x, layer=layer: layer.to(x.device)(x), x)


def test_a_detector():
    torch.manual_seed(3)
    backbone = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3, 2, 1))
    backbone.out_channels = 8
    detection = torchvision.models.detection
    anchors = detection.anchor_utils.AnchorGenerator(((8, 16),), ((0.5, 1.0),))
    pool = ops.MultiScaleRoIAlign(["0"], 3, 2)
    model = detection.FasterRCNN(
        backbone, rpn_anchor_generator=anchors, box_roi_pool=pool, min_size=32, max_size=40,
        box_head=detection.faster_rcnn.TwoMLPHead(8 * 9, 12), box_score_thresh=0.0, box_detections_per_img=5,
        box_predictor=detection.faster_rcnn.FastRCNNPredictor(12, 3), rpn_post_nms_top_n_test=8,
        rpn_post_nms_top_n_train=8)
    images = [numbers(3, 32, 36).abs(), numbers(3, 30, 32).abs()]
    model.eval()
    beside(lambda images: model.to(images[0].device)(images), images, close=1e-3)
    targets = [{"boxes": boxes(2), "labels": torch.tensor([1, 2])}, {"boxes": boxes(1), "labels": torch.tensor([1])}]
    model.train().to("cuda")
    losses = model(moved(images, "cuda"), moved(targets, "cuda"))
    total = sum(losses.values())
    total.backward()
    assert total.device.type == "cuda" and np.isfinite(total.item())
    assert all(p.grad is not None and p.grad.device.type == "cuda" for p in model.parameters())
