"""torchvision.ops beside genuine torchvision, or beside plain loops where only its compiled operators know."""
import math

import genuine
import pytest
import torch
from compare import mine, same, seeded
from harness.subresults import each
from plain import nms

tv = genuine.load()
from torchvision.ops.roi_align import _roi_align  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import ops  # noqa: E402

generator = torch.Generator().manual_seed(5)


def rand(*size):
    return torch.rand(*size, generator=generator)


CORNERS = rand(9, 2) * 20
BOXES = torch.cat((CORNERS, CORNERS + rand(9, 2) * 15 + 1), 1)
OTHERS = torch.cat((CORNERS[:5] + 2, CORNERS[:5] + rand(5, 2) * 12 + 3), 1)
SCORES = rand(9)
FUNCTIONS = {
    "box_area": (BOXES,), "box_iou": (BOXES, OTHERS), "generalized_box_iou": (BOXES, OTHERS),
    "distance_box_iou": (BOXES, OTHERS), "complete_box_iou": (BOXES, OTHERS),
    "generalized_box_iou_loss": (BOXES[:5], OTHERS), "distance_box_iou_loss": (BOXES[:5], OTHERS, "mean"),
    "complete_box_iou_loss": (BOXES[:5], OTHERS, "sum"), "remove_small_boxes": (BOXES, 6.0),
    "clip_boxes_to_image": (BOXES, (18, 22)), "masks_to_boxes": (rand(4, 9, 11) > 0.96,),
    "sigmoid_focal_loss": (rand(6, 3), (rand(6, 3) > 0.5).float(), 0.3, 1.5, "mean"),
}


@each("name", FUNCTIONS)
def test_function(name):
    args = FUNCTIONS[name]
    same(getattr(ops, name)(*mine(args)), getattr(tv.ops, name)(*args), 2e-6, 1e-6)
    if args[0].is_floating_point() and name not in ("remove_small_boxes",):
        theirs, ours = args[0].clone().requires_grad_(), mine(args[0]).requires_grad_()
        getattr(tv.ops, name)(theirs, *args[1:]).sum().backward()
        getattr(ops, name)(ours, *mine(args[1:])).sum().backward()
        same(ours.grad, theirs.grad, 1e-4, 1e-5)


def test_formats():
    straight, turned = ("xyxy", "xywh", "cxcywh"), ("xywhr", "cxcywhr", "xyxyxyxy")
    boxes = {"xyxy": BOXES, "xywhr": torch.cat((BOXES, rand(9, 1) * 90), 1)}
    for family, start in ((straight, "xyxy"), (turned, "xywhr")):
        for before in family:
            source = tv.ops.box_convert(boxes[start], start, before)
            for after in family:
                wanted = tv.ops.box_convert(source, before, after)
                same(ops.box_convert(mine(source), before, after), wanted, 1e-5, 1e-5)
    for fmt in straight:
        same(ops.box_iou(mine(BOXES), mine(OTHERS), fmt), tv.ops.box_iou(BOXES, OTHERS, fmt), 1e-6, 1e-6)
    with pytest.raises(ValueError):
        ops.box_convert(mine(BOXES), "xyxy", "abc")


@pytest.mark.parametrize("threshold", (0.0, 0.2, 0.5, 1.0))
def test_nms(threshold):
    same(ops.nms(mine(BOXES), mine(SCORES), threshold), nms(BOXES, SCORES, threshold))
    kinds = torch.arange(9) % 3
    wanted = [index for index in nms(BOXES + kinds[:, None] * 1000, SCORES, threshold).tolist()]
    for function in (ops.batched_nms, ops.boxes._batched_nms_vanilla):
        same(function(mine(BOXES), mine(SCORES), mine(kinds), threshold), torch.tensor(wanted))
    assert ops.nms(dt.empty(0, 4), dt.empty(0), 0.5).shape == (0,)


def test_deformed_no_images():
    given = [dt.zeros(0, 4, 5, 6, requires_grad=True), dt.zeros(0, 18, 5, 6), dt.ones(2, 4, 3, 3, requires_grad=True)]
    out = ops.deform_conv2d(*given, padding=1, mask=dt.ones(0, 9, 5, 6))
    assert out.shape == (0, 2, 5, 6)
    out.sum().backward()
    assert given[0].grad.shape == given[0].shape and not given[2].grad.any()


@pytest.mark.parametrize("spread", [30, 200])
def test_nms_of_many(spread):
    """Blocks of boxes are judged one after the other: those of later ones fall to those kept before."""
    generator = torch.Generator().manual_seed(1)
    corners = torch.rand(1100, 2, generator=generator) * spread
    boxes = torch.cat((corners, corners + torch.rand(1100, 2, generator=generator) * 20), 1)
    boxes[5], boxes[7, 2:] = float("nan"), boxes[7, :2]
    scores = torch.rand(1100, generator=generator).round(decimals=2)
    same(ops.nms(mine(boxes), mine(scores), 0.3), nms(boxes, scores, 0.3))


ROIS = torch.cat((torch.tensor([[0.0], [1.0], [1.0], [0.0]]), torch.tensor(
    [[1.0, 2.0, 9.0, 8.5], [0.0, 0.0, 15.0, 15.0], [3.2, 4.1, 4.0, 4.5], [-0.5, 5.0, 18.0, 16.0]])), 1)
IMAGES = rand(2, 8, 12, 14)


@pytest.mark.parametrize("ratio", (-1, 1, 3))
@pytest.mark.parametrize("aligned", (False, True))
def test_roi_align(ratio, aligned):
    theirs, ours = IMAGES.clone().requires_grad_(), mine(IMAGES).requires_grad_()
    wanted = _roi_align.__wrapped__(theirs, ROIS, 0.7, 3, 2, ratio, aligned)
    found = ops.roi_align(ours, mine(ROIS), (3, 2), 0.7, ratio, aligned)
    same(found, wanted, 1e-5, 1e-5)
    wanted.pow(2).sum().backward()
    found.pow(2).sum().backward()
    same(ours.grad, theirs.grad, 1e-4, 1e-5)
    listed = ops.roi_align(ours, [mine(ROIS[:1, 1:]), mine(ROIS[1:2, 1:])], (3, 2), 0.7, ratio, aligned)
    same(listed, wanted[:2], 1e-5, 1e-5)


def plain_bins(rois, images, bins, scale, own_channel):
    channels = images.shape[1] // (bins * bins) if own_channel else images.shape[1]
    out = torch.zeros(len(rois), channels, bins, bins)
    height, width = images.shape[2:]
    for k, (image, *corners) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (math.floor(abs(c * scale) + 0.5) * (1 if c > 0 else -1) for c in corners)
        more, last = (0, 1) if own_channel else (1, 0)
        step_h, step_w = max(y2 - y1 + more, 1) / bins, max(x2 - x1 + more, 1) / bins
        for c in range(channels):
            for p in range(bins):
                for q in range(bins):
                    top, bottom = (min(max(math.floor(p * step_h) + y1, 0), height - last),
                                   min(max(math.ceil((p + 1) * step_h) + y1, 0), height - last))
                    left, right = (min(max(math.floor(q * step_w) + x1, 0), width - last),
                                   min(max(math.ceil((q + 1) * step_w) + x1, 0), width - last))
                    part = images[int(image), (c * bins + p) * bins + q if own_channel else c, top:bottom, left:right]
                    if part.numel():
                        out[k, c, p, q] = part.mean() if own_channel else part.max()
    return out


def test_roi_pools():
    same(ops.roi_pool(mine(IMAGES), mine(ROIS), 2, 0.6), plain_bins(ROIS, IMAGES, 2, 0.6, False))
    same(ops.ps_roi_pool(mine(IMAGES), mine(ROIS), 2, 0.6), plain_bins(ROIS, IMAGES, 2, 0.6, True), 1e-5, 1e-6)
    spread = ops.ps_roi_align(mine(IMAGES), mine(ROIS), 2, 0.6, 2)
    for p in range(2):
        for q in range(2):
            channels = torch.arange(2) * 4 + p * 2 + q
            wanted = _roi_align.__wrapped__(IMAGES[:, channels], ROIS, 0.6, 2, 2, 2, True)
            same(spread[:, :, p, q], wanted[:, :, p, q], 1e-5, 1e-5)


def test_deform_conv2d():
    x, weight, bias = rand(2, 4, 7, 8), rand(6, 2, 3, 2), rand(6)
    zero = torch.zeros(2, 2 * 2 * 6, 4, 5)
    options = {"stride": (2, 2), "padding": (1, 1), "dilation": (1, 1)}
    wanted = torch.nn.functional.conv2d(x, weight, bias, groups=2, **options)
    same(ops.deform_conv2d(mine(x), mine(zero), mine(weight), mine(bias), **options), wanted, 1e-4, 1e-5)
    # whole shifts read other pixels; a mask weighs them
    x, weight = rand(1, 1, 6, 6), rand(1, 1, 1, 1)
    shift = torch.stack((torch.full((6, 6), 1.0), torch.full((6, 6), -2.0)))[None]
    moved = torch.zeros(1, 1, 6, 6)
    moved[..., :5, 2:] = x[..., 1:, :4]
    mask = rand(1, 1, 6, 6)
    same(ops.deform_conv2d(mine(x), mine(shift), mine(weight), mask=mine(mask)), moved * weight * mask, 1e-4, 1e-5)
    ours = mine(shift).requires_grad_()
    ops.deform_conv2d(mine(x), ours + 0.3, mine(weight)).sum().backward()
    assert ours.grad.shape == ours.shape and float(ours.grad.abs().sum()) > 0
    with pytest.raises(RuntimeError):
        ops.deform_conv2d(mine(x), mine(shift[:, :1]), mine(weight))


MODULES = {
    "Conv2dNormActivation": ((4, 6, 3), {"stride": 2}, (2, 4, 8, 8)),
    "Conv3dNormActivation": ((2, 3, (1, 3, 3)), {"norm_layer": None, "dilation": 1}, (1, 2, 4, 5, 5)),
    "SqueezeExcitation": ((6, 2), {}, (2, 6, 4, 4)),
    "MLP": ((5, [7, 3]), {"dropout": 0.2}, (4, 5)),
    "Permute": (([0, 2, 1],), {}, (2, 3, 4)),
    "FrozenBatchNorm2d": ((3,), {}, (2, 3, 4, 4)),
    "StochasticDepth": ((0.4, "row"), {}, (6, 3, 2)),
    "DropBlock2d": ((0.3, 3), {}, (2, 3, 9, 9)),
    "DropBlock3d": ((0.3, 3), {}, (1, 2, 5, 6, 7)),
}


@each("name", MODULES)
def test_module(name):
    args, kwargs, shape = MODULES[name]
    theirs = seeded(2, lambda: getattr(tv.ops, name)(*args, **kwargs))
    ours = seeded(2, lambda: getattr(ops, name)(*args, **kwargs))
    assert repr(ours) == repr(theirs)
    same(dict(ours.state_dict()), dict(theirs.state_dict()))
    x = rand(*shape)
    same(seeded(3, ours, mine(x)), seeded(3, theirs, x), 1e-4, 1e-5)


REPRS = [lambda o: o.RoIAlign(3, 0.5, 2), lambda o: o.RoIPool((2, 3), 1.0), lambda o: o.PSRoIAlign(3, 0.5, 2),
         lambda o: o.PSRoIPool(3, 0.5), lambda o: o.MultiScaleRoIAlign(["a"], 3, 2),
         lambda o: o.DeformConv2d(4, 6, 3, padding=1, groups=2, bias=False)]


@pytest.mark.parametrize("make", REPRS, ids=range(len(REPRS)))
def test_reprs(make):
    assert repr(make(ops)) == repr(make(tv.ops))


def test_feature_pyramid():
    def build(library):
        module = library.ops.feature_pyramid_network
        return module.FeaturePyramidNetwork([4, 6], 5, module.LastLevelP6P7(5, 5))
    import dragon.vm.torchvision as mv
    theirs, ours = seeded(4, build, tv), seeded(4, build, mv)
    same(dict(ours.state_dict()), dict(theirs.state_dict()))
    levels = {"a": rand(1, 4, 8, 8), "b": rand(1, 6, 4, 4)}
    same(ours(mine(levels)), theirs(levels), 1e-4, 1e-5)


def test_poolers():
    levels = {"a": rand(2, 3, 16, 16), "b": rand(2, 3, 8, 8)}
    boxes = [torch.tensor([[1.0, 1.0, 40.0, 50.0], [2.0, 2.0, 5.0, 6.0]]), torch.tensor([[0.0, 0.0, 60.0, 60.0]])]
    pooler = ops.MultiScaleRoIAlign(["a", "b"], 2, 2, canonical_scale=30, canonical_level=3)
    found = pooler(mine(levels), mine(boxes), [(64, 64), (64, 60)])
    rois = torch.cat([torch.cat((torch.full((len(b), 1), float(i)), b), 1) for i, b in enumerate(boxes)])
    level = pooler.map_levels(mine(boxes)).tolist()
    assert pooler.scales == [0.25, 0.125] and set(level) == {0, 1}
    for index, chosen in enumerate(level):
        feature, scale = levels["ab"[chosen]], (0.25, 0.125)[chosen]
        same(found[index], _roi_align.__wrapped__(feature, rois[index:index + 1], scale, 2, 2, 2, False)[0], 1e-4, 1e-5)


def corners(box):
    """Return the corners of a box (cx, cy, w, h, degrees)."""
    cx, cy, w, h, angle = box
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return [(cx + one * cos * w / 2 + other * sin * h / 2, cy - one * sin * w / 2 + other * cos * h / 2)
            for one, other in ((1, 1), (1, -1), (-1, -1), (-1, 1))]


def area(points):
    """Return the area of a polygon, negative if it turns the other way."""
    return sum(x * after[1] - y * after[0] for (x, y), after in zip(points, points[1:] + points[:1])) / 2


def clipped(points, box):
    """Return a polygon cut by the edges of a box, one after the other."""
    frame = corners(box)
    if area(frame) < 0:
        frame.reverse()
    for (ax, ay), (bx, by) in zip(frame, frame[1:] + frame[:1]):
        side = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in points]
        kept = []
        for index, (x, y) in enumerate(points):
            px, py = points[index - 1]
            if (side[index - 1] >= 0) != (side[index] >= 0):
                share = side[index - 1] / (side[index - 1] - side[index])
                kept.append((px + share * (x - px), py + share * (y - py)))
            if side[index] >= 0:
                kept.append((x, y))
        points = kept
    return points


def test_turned_boxes():
    one = torch.cat((rand(12, 2) * 20, rand(12, 2) * 15 + 1, rand(12, 1) * 360 - 180), 1)
    other = torch.cat((rand(9, 2) * 20, rand(9, 2) * 15 + 1, rand(9, 1) * 360), 1)
    other[:4] = one[:4]  # the same, turned by a right angle, a point, without turn
    other[1, 4] += 90
    one[2, 2:4] = 0
    one[3, 4] = other[3, 4] = 0
    wanted = torch.zeros(12, 9)
    for i, a in enumerate(one.tolist()):
        for k, b in enumerate(other.tolist()):
            common = abs(area(clipped(corners(a), b)))
            wanted[i, k] = common / (a[2] * a[3] + b[2] * b[3] - common)
    same(ops.box_iou(mine(one), mine(other), "cxcywhr"), wanted, 1e-5, 1e-6)
    for fmt in ("xywhr", "xyxyxyxy"):
        given = [tv.ops.box_convert(boxes, "cxcywhr", fmt) for boxes in (one, other)]
        same(ops.box_iou(*mine(given), fmt), wanted, 1e-4, 1e-5)
    assert ops.box_iou(dt.empty(0, 5), mine(other), "cxcywhr").shape == (0, 9)


def test_refused_shapes():
    with pytest.raises(RuntimeError, match=r"\(N, 5\)"):
        ops.box_iou(dt.rand(1, 4), dt.rand(1, 5), "cxcywhr")


def test_code_can_ask_whether_it_is_traced():
    from dragon.vm import torchvision
    seen = []

    def function(x):
        seen.append(torchvision._is_tracing())
        return x + 1

    dt.jit.trace(function, dt.ones(2))
    assert seen[0] is True and torchvision._is_tracing() is False
