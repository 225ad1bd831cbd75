"""FCOS: one anchor a cell, told by the distances to an object's sides."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models.detection import _utils as det_utils
from dragon.vm.torchvision.models.detection._define import define_detector, residual_levels
from dragon.vm.torchvision.models.detection._dense import Levelled
from dragon.vm.torchvision.models.detection.anchor_utils import AnchorGenerator
from dragon.vm.torchvision.models.detection.faster_rcnn import check_backbone, check_kind, FROM_RESNET
from dragon.vm.torchvision.models.detection.retinanet import draw_prior
from dragon.vm.torchvision.models.detection.rpn import anchors_first, draw_small
from dragon.vm.torchvision.ops import generalized_box_iou_loss, sigmoid_focal_loss

nn, F = torch.nn, torch.nn.functional


def _centredness(distances):
    """Return 1 where distances left and right, and up and down, are equal; less the less they are."""
    across, down = distances[..., [0, 2]], distances[..., [1, 3]]
    return torch.sqrt((across.min(dim=-1)[0] / across.max(dim=-1)[0]) * (down.min(dim=-1)[0] / down.max(dim=-1)[0]))


class FCOSHead(nn.Module):
    """Tell classes, distances, and how central a cell is.

    Parameters
    ----------
    in_channels, num_anchors, num_classes : int
        The channels that come, the anchors of a cell, and the classes.
    num_convs : int, optional, default=4
        Convolutions before the last.

    """

    def __init__(self, in_channels, num_anchors, num_classes, num_convs=4):
        super().__init__()
        self.box_coder = det_utils.BoxLinearCoder(normalize_by_size=True)
        self.classification_head = FCOSClassificationHead(in_channels, num_anchors, num_classes, num_convs)
        self.regression_head = FCOSRegressionHead(in_channels, num_anchors, num_convs)

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        """Return the losses of all three, by the anchors with an object."""
        logits, anchors = head_outputs["cls_logits"], torch.stack(anchors)
        classes, boxes = [], []
        for target, matched in zip(targets, matched_idxs):
            if len(target["labels"]) == 0:
                label = target["labels"].new_zeros((len(matched),))
                box = target["boxes"].new_zeros((len(matched), 4))
            else:
                label, box = (target[key][matched.clamp(min=0)] for key in ("labels", "boxes"))
            label[matched < 0] = -1
            classes.append(label)
            boxes.append(box)
        classes, boxes = torch.stack(classes), torch.stack(boxes)
        positive = classes >= 0
        count = max(1, int(positive.sum()))
        wanted = torch.zeros_like(logits)
        wanted[positive, classes[positive]] = 1.0
        found = self.box_coder.decode(head_outputs["bbox_regression"], anchors)
        central = _centredness(self.box_coder.encode(anchors, boxes))
        losses = {
            "classification": sigmoid_focal_loss(logits, wanted, reduction="sum"),
            "bbox_regression": generalized_box_iou_loss(found[positive], boxes[positive], reduction="sum"),
            "bbox_ctrness": F.binary_cross_entropy_with_logits(
                head_outputs["bbox_ctrness"].squeeze(dim=2)[positive], central[positive], reduction="sum")}
        return {name: loss / count for name, loss in losses.items()}

    def forward(self, x):
        logits = self.classification_head(x)
        codes, central = self.regression_head(x)
        return {"cls_logits": logits, "bbox_regression": codes, "bbox_ctrness": central}


def _tower(channels, count, norm_layer):
    """Return convolutions, each with a normalization and an activation."""
    layers = []
    for _ in range(count):
        layers += [nn.Conv2d(channels, channels, kernel_size=3, stride=1, padding=1), norm_layer(channels), nn.ReLU()]
    return nn.Sequential(*layers)


class FCOSClassificationHead(nn.Module):
    """Tell the classes of cells.

    Parameters
    ----------
    in_channels, num_anchors, num_classes : int
        The channels that come, the anchors of a cell, and the classes.
    num_convs : int, optional, default=4
        Convolutions before the last.
    prior_probability : float, optional, default=0.01
        That of each class at the start.
    norm_layer : Callable, optional
        Normalizes after convolutions, in groups of 32 channels if None.

    """

    def __init__(self, in_channels, num_anchors, num_classes, num_convs=4, prior_probability=0.01, norm_layer=None):
        super().__init__()
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.conv = _tower(in_channels, num_convs, norm_layer or partial(nn.GroupNorm, 32))
        draw_small(self.conv)
        self.cls_logits = nn.Conv2d(in_channels, num_anchors * num_classes, kernel_size=3, stride=1, padding=1)
        draw_prior(self.cls_logits, prior_probability)

    def forward(self, x):
        return torch.cat([anchors_first(self.cls_logits(self.conv(level)), self.num_classes) for level in x], dim=1)


class FCOSRegressionHead(nn.Module):
    """Tell the distances of cells to the sides of an object, and how central they are.

    Parameters
    ----------
    in_channels, num_anchors : int
        The channels that come, and the anchors of a cell.
    num_convs : int, optional, default=4
        Convolutions before the last.
    norm_layer : Callable, optional
        Normalizes after convolutions, in groups of 32 channels if None.

    """

    def __init__(self, in_channels, num_anchors, num_convs=4, norm_layer=None):
        super().__init__()
        self.conv = _tower(in_channels, num_convs, norm_layer or partial(nn.GroupNorm, 32))
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=3, stride=1, padding=1)
        self.bbox_ctrness = nn.Conv2d(in_channels, num_anchors * 1, kernel_size=3, stride=1, padding=1)
        draw_small((self.bbox_reg, self.bbox_ctrness, *self.conv))

    def forward(self, x):
        hidden = [self.conv(level) for level in x]
        return (torch.cat([anchors_first(F.relu(self.bbox_reg(level)), 4) for level in hidden], dim=1),
                torch.cat([anchors_first(self.bbox_ctrness(level), 1) for level in hidden], dim=1))


class FCOS(Levelled):
    """Tell for each cell the classes, the distances to an object's sides, and how central it is.

    Parameters
    ----------
    backbone : Module
        Makes levels of features, and tells its `out_channels`.
    num_classes : int
        The classes.
    min_size, max_size, image_mean, image_std : optional
        As for `GeneralizedRCNNTransform`.
    anchor_generator, head : Module, optional
        Make the anchors, one a cell, and tell of them.
    center_sampling_radius : float, optional, default=1.5
        How far from the centre, in anchors, a cell belongs to an object.
    score_thresh, nms_thresh : float, optional
        The least score of what is found, and the overlap from which on the lesser of two is dropped.
    detections_per_img, topk_candidates : int, optional
        How many are found at most, and how many of a level are looked at.
    kwargs : Any
        As for `GeneralizedRCNNTransform`.

    """

    def __init__(self, backbone, num_classes, min_size=800, max_size=1333, image_mean=None, image_std=None,
                 anchor_generator=None, head=None, center_sampling_radius=1.5, score_thresh=0.2, nms_thresh=0.6,
                 detections_per_img=100, topk_candidates=1000, **kwargs):
        check_backbone(backbone)
        check_kind(anchor_generator, "anchor_generator", AnchorGenerator)
        if anchor_generator is None:
            anchor_generator = AnchorGenerator(((8,), (16,), (32,), (64,), (128,)), ((1.0,),) * 5)
        each = anchor_generator.num_anchors_per_location()[0]
        if each != 1:
            raise ValueError(f"anchor_generator.num_anchors_per_location()[0] should be 1 instead of {each}")
        if head is None:
            head = FCOSHead(backbone.out_channels, each, num_classes)
        super().__init__(backbone, anchor_generator, head, (min_size, max_size), image_mean, image_std, score_thresh,
                         nms_thresh, detections_per_img, topk_candidates, **kwargs)
        self.box_coder = det_utils.BoxLinearCoder(normalize_by_size=True)
        self.center_sampling_radius = center_sampling_radius

    def _for_loss(self, cells):
        return (cells,)

    def _match(self, boxes, anchors, num_anchors_per_level):
        """Return the box of each anchor: the smallest that it lies in, near the centre, at the level for its size."""
        if boxes.numel() == 0:
            return torch.full((len(anchors),), -1, dtype=torch.int64, device=anchors.device)
        centres, sides = (anchors[:, :2] + anchors[:, 2:]) / 2, anchors[:, 2] - anchors[:, 0]
        away = (centres[:, None, :] - ((boxes[:, :2] + boxes[:, 2:]) / 2)[None, :, :]).abs().max(dim=2)[0]
        fits = away < self.center_sampling_radius * sides[:, None]
        to_sides = torch.cat((centres[:, None] - boxes[None, :, :2], boxes[None, :, 2:] - centres[:, None]), dim=2)
        fits = fits & (to_sides.min(dim=2)[0] > 0)
        low, high = sides * 4, sides * 8
        low[:num_anchors_per_level[0]] = 0
        high[-num_anchors_per_level[-1]:] = float("inf")
        farthest = to_sides.max(dim=2)[0]
        fits = fits & (farthest > low[:, None]) & (farthest < high[:, None])
        areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        values, matched = (fits.to(torch.float32) * (1e8 - areas[None, :])).max(dim=1)
        return torch.where(values < 1e-5, torch.full_like(matched, -1), matched)

    def compute_loss(self, targets, head_outputs, anchors, num_anchors_per_level):
        """Return the losses of what the head tells."""
        matched = [self._match(target["boxes"], anchor, num_anchors_per_level)
                   for target, anchor in zip(targets, anchors)]
        return self.head.compute_loss(targets, head_outputs, anchors, matched)

    def postprocess_detections(self, head_outputs, anchors, image_shapes):
        """Return, for each image, what is found."""
        found = []
        for index, shape in enumerate(image_shapes):
            levels = zip(*(head_outputs[name] for name in ("cls_logits", "bbox_regression", "bbox_ctrness")),
                         anchors[index])
            found.append(self._best(*zip(*(
                self._candidates(torch.sqrt(torch.sigmoid(logits[index]) * torch.sigmoid(central[index])), codes[index],
                                 anchor, shape, self.box_coder.decode) for logits, codes, central, anchor in levels))))
        return found


def _make(trained, layers, checkpoint, **kwargs):
    backbone = residual_levels(trained, layers, checkpoint, returned_layers=[2, 3, 4], extra=(256, 256))
    return FCOS(backbone, **kwargs)


define_detector(globals(), "fcos_resnet50_fpn", "FCOS_ResNet50_FPN", _make, FROM_RESNET)
