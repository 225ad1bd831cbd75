"""RetinaNet: all anchors at once, with a loss for the few that have an object."""
import math
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models.detection import _utils as det_utils
from dragon.vm.torchvision.models.detection._define import define_detector, learning_residual_levels, residual_levels
from dragon.vm.torchvision.models.detection._dense import Levelled
from dragon.vm.torchvision.models.detection._utils import _box_loss
from dragon.vm.torchvision.models.detection.anchor_utils import AnchorGenerator
from dragon.vm.torchvision.models.detection.faster_rcnn import check_backbone, check_kind, FROM_NONE, FROM_RESNET
from dragon.vm.torchvision.models.detection.rpn import anchors_first, draw_small, rename
from dragon.vm.torchvision.ops import boxes as box_ops, misc as misc_nn_ops, sigmoid_focal_loss

nn = torch.nn


def _default_anchorgen():
    sizes = tuple((side, int(side * 2 ** (1.0 / 3)), int(side * 2 ** (2.0 / 3))) for side in (32, 64, 128, 256, 512))
    return AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes))


class RetinaNetHead(nn.Module):
    """Tell classes, and how to move anchors.

    Parameters
    ----------
    in_channels, num_anchors, num_classes : int
        The channels that come, the anchors of a cell, and the classes.
    norm_layer : Callable, optional
        Normalizes after convolutions.

    """

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer=None):
        super().__init__()
        self.classification_head = RetinaNetClassificationHead(in_channels, num_anchors, num_classes,
                                                               norm_layer=norm_layer)
        self.regression_head = RetinaNetRegressionHead(in_channels, num_anchors, norm_layer=norm_layer)

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        """Return both losses."""
        return {"classification": self.classification_head.compute_loss(targets, head_outputs, matched_idxs),
                "bbox_regression": self.regression_head.compute_loss(targets, head_outputs, anchors, matched_idxs)}

    def forward(self, x):
        return {"cls_logits": self.classification_head(x), "bbox_regression": self.regression_head(x)}


class _Tower(nn.Module):
    """Four convolutions before the last one."""

    _version = 2

    def __init__(self, in_channels, norm_layer):
        super().__init__()
        self.conv = nn.Sequential(*(misc_nn_ops.Conv2dNormActivation(in_channels, in_channels, norm_layer=norm_layer)
                                    for _ in range(4)))

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        if (local_metadata.get("version") or 1) < 2:
            rename(state_dict, prefix, [(f"conv.{2 * index}", f"conv.{index}.0") for index in range(4)])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


def draw_prior(layer, prior_probability):
    """Draw a last convolution of classes so that each is as probable as told at the start."""
    nn.init.normal_(layer.weight, std=0.01)
    nn.init.constant_(layer.bias, -math.log((1 - prior_probability) / prior_probability))


class RetinaNetClassificationHead(_Tower):
    """Tell the classes of anchors.

    Parameters
    ----------
    in_channels, num_anchors, num_classes : int
        The channels that come, the anchors of a cell, and the classes.
    prior_probability : float, optional, default=0.01
        That of each class at the start.
    norm_layer : Callable, optional
        Normalizes after convolutions.

    """

    def __init__(self, in_channels, num_anchors, num_classes, prior_probability=0.01, norm_layer=None):
        super().__init__(in_channels, norm_layer)
        draw_small(self.conv.modules())
        self.cls_logits = nn.Conv2d(in_channels, num_anchors * num_classes, kernel_size=3, stride=1, padding=1)
        draw_prior(self.cls_logits, prior_probability)
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.BETWEEN_THRESHOLDS = det_utils.Matcher.BETWEEN_THRESHOLDS

    def compute_loss(self, targets, head_outputs, matched_idxs):
        """Return the mean over images of the focal losses, each by its anchors with an object."""
        losses = []
        for target, logits, matched in zip(targets, head_outputs["cls_logits"], matched_idxs):
            positive, valid = matched >= 0, matched != self.BETWEEN_THRESHOLDS
            wanted = torch.zeros_like(logits)
            wanted[positive, target["labels"][matched[positive]]] = 1.0
            loss = sigmoid_focal_loss(logits[valid], wanted[valid], reduction="sum")
            losses.append(loss / max(1, int(positive.sum())))
        return sum(losses[1:], losses[0]) / len(targets)

    def forward(self, x):
        return torch.cat([anchors_first(self.cls_logits(self.conv(level)), self.num_classes) for level in x], dim=1)


class RetinaNetRegressionHead(_Tower):
    """Tell how to move anchors.

    Parameters
    ----------
    in_channels, num_anchors : int
        The channels that come, and the anchors of a cell.
    norm_layer : Callable, optional
        Normalizes after convolutions.

    """

    def __init__(self, in_channels, num_anchors, norm_layer=None):
        super().__init__(in_channels, norm_layer)
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=3, stride=1, padding=1)
        draw_small((self.bbox_reg, *self.conv.modules()))
        self.box_coder = det_utils.BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self._loss_type = "l1"

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        """Return the mean over images of the losses of boxes, each by its anchors with an object."""
        losses = []
        for target, codes, anchor, matched in zip(targets, head_outputs["bbox_regression"], anchors, matched_idxs):
            positive = torch.where(matched >= 0)[0]
            boxes = target["boxes"][matched[positive]]
            loss = _box_loss(self._loss_type, self.box_coder, anchor[positive], boxes, codes[positive])
            losses.append(loss / max(1, positive.numel()))
        return sum(losses[1:], losses[0]) / max(1, len(targets))

    def forward(self, x):
        return torch.cat([anchors_first(self.bbox_reg(self.conv(level)), 4) for level in x], dim=1)


class RetinaNet(Levelled):
    """Tell the classes of all anchors, and how to move them.

    Parameters
    ----------
    backbone : Module
        Makes levels of features, and tells its `out_channels`.
    num_classes : int
        The classes.
    min_size, max_size, image_mean, image_std : optional
        As for `GeneralizedRCNNTransform`.
    anchor_generator, head : Module, optional
        Make the anchors, and tell of them.
    proposal_matcher : Matcher, optional
        Tells which anchor belongs to which target.
    score_thresh, nms_thresh : float, optional
        The least score of what is found, and the overlap from which on the lesser of two is dropped.
    detections_per_img, topk_candidates : int, optional
        How many are found at most, and how many of a level are looked at.
    fg_iou_thresh, bg_iou_thresh : float, optional
        Overlaps from which on an anchor has an object, and below which it has none.
    kwargs : Any
        As for `GeneralizedRCNNTransform`.

    """

    def __init__(self, backbone, num_classes, min_size=800, max_size=1333, image_mean=None, image_std=None,
                 anchor_generator=None, head=None, proposal_matcher=None, score_thresh=0.05, nms_thresh=0.5,
                 detections_per_img=300, fg_iou_thresh=0.5, bg_iou_thresh=0.4, topk_candidates=1000, **kwargs):
        check_backbone(backbone)
        check_kind(anchor_generator, "anchor_generator", AnchorGenerator)
        anchors = _default_anchorgen() if anchor_generator is None else anchor_generator
        if head is None:
            head = RetinaNetHead(backbone.out_channels, anchors.num_anchors_per_location()[0], num_classes)
        super().__init__(backbone, anchors, head, (min_size, max_size), image_mean, image_std, score_thresh, nms_thresh,
                         detections_per_img, topk_candidates, **kwargs)
        self.proposal_matcher = proposal_matcher or det_utils.Matcher(fg_iou_thresh, bg_iou_thresh, True)
        self.box_coder = det_utils.BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))

    def compute_loss(self, targets, head_outputs, anchors):
        """Return the losses of what the head tells."""
        matched = match_anchors(self.proposal_matcher, targets, anchors)
        return self.head.compute_loss(targets, head_outputs, anchors, matched)

    def postprocess_detections(self, head_outputs, anchors, image_shapes):
        """Return, for each image, what is found."""
        found = []
        for index, shape in enumerate(image_shapes):
            levels = zip(head_outputs["cls_logits"], head_outputs["bbox_regression"], anchors[index])
            found.append(self._best(*zip(*(
                self._candidates(torch.sigmoid(logits[index]), codes[index], anchor, shape,
                                 self.box_coder.decode_single) for logits, codes, anchor in levels))))
        return found


def match_anchors(matcher, targets, anchors):
    """Return, for each image, the target of each anchor; negative without one."""
    return [matcher(box_ops.box_iou(target["boxes"], anchor)) if target["boxes"].numel()
            else torch.full((len(anchor),), -1, dtype=torch.int64, device=anchor.device)
            for target, anchor in zip(targets, anchors)]


def _first(trained, layers, checkpoint, **kwargs):
    backbone = residual_levels(trained, layers, checkpoint, returned_layers=[2, 3, 4], extra=(256, 256))
    return RetinaNet(backbone, **kwargs)


def _second(trained, layers, checkpoint, num_classes, **kwargs):
    backbone = learning_residual_levels(layers, checkpoint, returned_layers=[2, 3, 4], extra=(2048, 256))
    anchors = _default_anchorgen()
    head = RetinaNetHead(backbone.out_channels, anchors.num_anchors_per_location()[0], num_classes,
                         norm_layer=partial(nn.GroupNorm, 32))
    head.regression_head._loss_type = "giou"
    return RetinaNet(backbone, num_classes, anchor_generator=anchors, head=head, **kwargs)


define_detector(globals(), "retinanet_resnet50_fpn", "RetinaNet_ResNet50_FPN", _first, FROM_RESNET,
                plain=("COCO_V1",))
define_detector(globals(), "retinanet_resnet50_fpn_v2", "RetinaNet_ResNet50_FPN_V2", _second, FROM_NONE)
