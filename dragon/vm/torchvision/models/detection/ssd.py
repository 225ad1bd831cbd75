"""SSD: default boxes of several levels, told apart in one step."""
from collections import OrderedDict

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torchvision.models._api import Choice
from dragon.vm.torchvision.models.detection import _utils as det_utils
from dragon.vm.torchvision.models.detection._define import define_detector
from dragon.vm.torchvision.models.detection._dense import Dense
from dragon.vm.torchvision.models.detection.anchor_utils import DefaultBoxGenerator
from dragon.vm.torchvision.models.detection.backbone_utils import freeze
from dragon.vm.torchvision.models.detection.retinanet import match_anchors
from dragon.vm.torchvision.models.detection.rpn import anchors_first
from dragon.vm.torchvision.models.vgg import vgg16, VGG16_Weights
from dragon.vm.torchvision.ops import boxes as box_ops

nn, F = torch.nn, torch.nn.functional


def _xavier_init(conv):
    for layer in conv.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.constant_(layer.bias, 0.0)


class SSDHead(nn.Module):
    """Tell codes and classes of the boxes of all levels.

    Parameters
    ----------
    in_channels, num_anchors : List[int]
        The channels of each level, and its boxes a cell.
    num_classes : int
        The classes.

    """

    def __init__(self, in_channels, num_anchors, num_classes):
        super().__init__()
        self.classification_head = SSDClassificationHead(in_channels, num_anchors, num_classes)
        self.regression_head = SSDRegressionHead(in_channels, num_anchors)

    def forward(self, x):
        return {"bbox_regression": self.regression_head(x), "cls_logits": self.classification_head(x)}


class SSDScoringHead(nn.Module):
    """Tell something of the boxes of all levels, each by a module of its own.

    Parameters
    ----------
    module_list : ModuleList
        The modules.
    num_columns : int
        How many numbers of a box they tell.

    """

    def __init__(self, module_list, num_columns):
        super().__init__()
        self.module_list, self.num_columns = module_list, num_columns

    def forward(self, x):
        return torch.cat([anchors_first(module(level), self.num_columns)
                          for module, level in zip(self.module_list, x)], dim=1)


def _layers(in_channels, num_anchors, columns):
    layers = nn.ModuleList([nn.Conv2d(channels, columns * anchors, kernel_size=3, padding=1)
                            for channels, anchors in zip(in_channels, num_anchors)])
    _xavier_init(layers)
    return layers


class SSDClassificationHead(SSDScoringHead):
    """Tell the classes of boxes; see `SSDHead`."""

    def __init__(self, in_channels, num_anchors, num_classes):
        super().__init__(_layers(in_channels, num_anchors, num_classes), num_classes)


class SSDRegressionHead(SSDScoringHead):
    """Tell the codes of boxes; see `SSDHead`."""

    def __init__(self, in_channels, num_anchors):
        super().__init__(_layers(in_channels, num_anchors, 4), 4)


class SSD(Dense):
    """Tell the classes of default boxes, and how to move them.

    Parameters
    ----------
    backbone : Module
        Makes levels of features.
    anchor_generator : DefaultBoxGenerator
        Makes the boxes.
    size : Tuple[int, int]
        Width and height of the images, whatever came.
    num_classes : int
        The classes, with the one of no object.
    image_mean, image_std : List[float], optional
        As for `GeneralizedRCNNTransform`.
    head : Module, optional
        Tells of the boxes.
    score_thresh, nms_thresh : float, optional
        The least score of what is found, and the overlap from which on the lesser of two is dropped.
    detections_per_img, topk_candidates : int, optional
        How many are found at most, and how many of a class are looked at.
    iou_thresh : float, optional, default=0.5
        The overlap from which on a box has an object.
    positive_fraction : float, optional, default=0.25
        The share of boxes with an object among those learnt from.
    kwargs : Any
        As for `GeneralizedRCNNTransform`.

    """

    def __init__(self, backbone, anchor_generator, size, num_classes, image_mean=None, image_std=None, head=None,
                 score_thresh=0.01, nms_thresh=0.45, detections_per_img=200, iou_thresh=0.5, topk_candidates=400,
                 positive_fraction=0.25, **kwargs):
        if head is None:
            channels = (backbone.out_channels if hasattr(backbone, "out_channels")
                        else det_utils.retrieve_out_channels(backbone, size))
            if len(channels) != len(anchor_generator.aspect_ratios):
                raise ValueError(f"The length of the output channels from the backbone ({len(channels)}) do not match "
                                 "the length of the anchor generator aspect ratios "
                                 f"({len(anchor_generator.aspect_ratios)})")
            head = SSDHead(channels, anchor_generator.num_anchors_per_location(), num_classes)
        super().__init__(backbone, anchor_generator, head, (min(size), max(size)), image_mean, image_std, score_thresh,
                         nms_thresh, detections_per_img, topk_candidates, size_divisible=1, fixed_size=size, **kwargs)
        self.box_coder = det_utils.BoxCoder(weights=(10.0, 10.0, 5.0, 5.0))
        self.proposal_matcher = det_utils.SSDMatcher(iou_thresh)
        self.neg_to_pos_ratio = (1.0 - positive_fraction) / positive_fraction

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        """Return the losses of codes and of classes, these of boxes with an object and of the worst without."""
        logits, count = head_outputs["cls_logits"], 0
        losses, wanted = [], []
        for target, codes, anchor, matched in zip(targets, head_outputs["bbox_regression"], anchors, matched_idxs):
            positive = torch.where(matched >= 0)[0]
            members = matched[positive]
            count += members.numel()
            code = self.box_coder.encode_single(target["boxes"][members], anchor[positive])
            losses.append(F.smooth_l1_loss(codes[positive], code, reduction="sum"))
            label = target["labels"].new_zeros((codes.size(0),))
            label[positive] = target["labels"][members]
            wanted.append(label)
        wanted = torch.stack(wanted)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), wanted.view(-1), reduction="none").view(wanted.size())
        positive = wanted > 0
        # The boxes without an object that are told worst, so many for each with one.
        rank = loss.masked_fill(positive, -float("inf")).sort(1, descending=True)[1].sort(1)[1]
        worst = rank < self.neg_to_pos_ratio * positive.sum(1, keepdim=True)
        count = max(1, count)
        return {"bbox_regression": torch.stack(losses).sum() / count,
                "classification": (loss[positive].sum() + loss[worst].sum()) / count}

    def _answer(self, images, features, targets):
        levels = list(features.values())
        outputs = self.head(levels)
        anchors = self.anchor_generator(images, levels)
        if self.training:
            return self.compute_loss(targets, outputs, anchors, match_anchors(self.proposal_matcher, targets,
                                                                              anchors)), []
        return {}, self.postprocess_detections(outputs, anchors, images.image_sizes)

    def postprocess_detections(self, head_outputs, image_anchors, image_shapes):
        """Return, for each image, what is found."""
        found = []
        for codes, scores, anchors, shape in zip(head_outputs["bbox_regression"],
                                                 F.softmax(head_outputs["cls_logits"], dim=-1), image_anchors,
                                                 image_shapes):
            boxes = box_ops.clip_boxes_to_image(self.box_coder.decode_single(codes, anchors), shape)
            candidates = [self._of_class(boxes, scores[:, label], label) for label in range(1, scores.size(-1))]
            found.append(self._best(*zip(*candidates)))
        return found

    def _of_class(self, boxes, scores, label):
        keep = scores > self.score_thresh
        scores, boxes = scores[keep], boxes[keep]
        best, order = scores.topk(det_utils._topk_min(scores, self.topk_candidates, 0))
        return boxes[order], best, torch.full_like(best, fill_value=label, dtype=torch.int64)


def _pair(before, between, after, **options):
    return nn.Sequential(nn.Conv2d(before, between, kernel_size=1), nn.ReLU(inplace=True),
                         nn.Conv2d(between, after, **options), nn.ReLU(inplace=True))


class SSDFeatureExtractorVGG(nn.Module):
    """The levels of a VGG network, and further ones.

    Parameters
    ----------
    backbone : Sequential
        Its convolutions.
    highres : bool
        Whether there is one level more, for larger images.

    """

    def __init__(self, backbone, highres):
        super().__init__()
        pools = [i for i, layer in enumerate(backbone) if isinstance(layer, nn.MaxPool2d)]
        third, fourth = pools[2], pools[3]
        backbone[third].ceil_mode = True
        self.scale_weight = nn.Parameter(torch.ones(512) * 20)
        self.features = nn.Sequential(*backbone[:fourth])
        extra = nn.ModuleList([_pair(1024, 256, 512, kernel_size=3, padding=1, stride=2),
                               _pair(512, 128, 256, kernel_size=3, padding=1, stride=2),
                               _pair(256, 128, 256, kernel_size=3), _pair(256, 128, 256, kernel_size=3)])
        if highres:
            extra.append(_pair(256, 128, 256, kernel_size=4))
        _xavier_init(extra)
        fc = nn.Sequential(nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=False),
                           nn.Conv2d(512, 1024, kernel_size=3, padding=6, dilation=6), nn.ReLU(inplace=True),
                           nn.Conv2d(1024, 1024, kernel_size=1), nn.ReLU(inplace=True))
        _xavier_init(fc)
        extra.insert(0, nn.Sequential(*backbone[fourth:-1], fc))
        self.extra = extra

    def forward(self, x):
        x = self.features(x)
        levels = [self.scale_weight.view(1, -1, 1, 1) * F.normalize(x)]
        for block in self.extra:
            x = block(x)
            levels.append(x)
        return OrderedDict((str(index), level) for index, level in enumerate(levels))


def _vgg_extractor(backbone, highres, trainable_layers):
    features = backbone.features
    starts = [0] + [i for i, layer in enumerate(features) if isinstance(layer, nn.MaxPool2d)][:-1]
    if not 0 <= trainable_layers <= len(starts):
        raise AssertionError(f"trainable_layers should be in the range [0, {len(starts)}]. Instead got "
                             f"{trainable_layers}")
    freeze(features, starts, trainable_layers)
    return SSDFeatureExtractorVGG(features, highres)


def without_size(kwargs):
    """Warn that the size of the images is fixed, where one came."""
    if "size" in kwargs:
        warnings.warn("The size of the model is already fixed; ignoring the parameter.")
        kwargs.pop("size")


def _make(trained, layers, checkpoint, num_classes, **kwargs):
    without_size(kwargs)
    backbone = _vgg_extractor(vgg16(**checkpoint), False, layers)
    anchors = DefaultBoxGenerator([[2], [2, 3], [2, 3], [2, 3], [2], [2]], steps=[8, 16, 32, 64, 100, 300],
                                  scales=[0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05])
    defaults = {"image_mean": [0.48235, 0.45882, 0.40784], "image_std": [1.0 / 255.0] * 3}
    return SSD(backbone, anchors, (300, 300), num_classes, **{**defaults, **kwargs})


define_detector(globals(), "ssd300_vgg16", "SSD300_VGG16", _make, Choice(
    VGG16_Weights, VGG16_Weights.IMAGENET1K_FEATURES, "pretrained_backbone", "IMAGENET1K_FEATURES"), (5, 4))
