"""SSDlite: SSD whose convolutions work on each channel by itself."""
from collections import OrderedDict
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models.detection import _utils as det_utils
from dragon.vm.torchvision.models.detection._define import define_detector
from dragon.vm.torchvision.models.detection.anchor_utils import DefaultBoxGenerator
from dragon.vm.torchvision.models.detection.backbone_utils import stages
from dragon.vm.torchvision.models.detection.faster_rcnn import FROM_MOBILE
from dragon.vm.torchvision.models.detection.rpn import draw_small
from dragon.vm.torchvision.models.detection.ssd import SSD, SSDScoringHead, without_size
from dragon.vm.torchvision.models.mobilenetv3 import mobilenet_v3_large
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation

nn = torch.nn


def _prediction_block(in_channels, out_channels, kernel_size, norm_layer):
    return nn.Sequential(Conv2dNormActivation(in_channels, in_channels, kernel_size=kernel_size, groups=in_channels,
                                              norm_layer=norm_layer, activation_layer=nn.ReLU6),
                         nn.Conv2d(in_channels, out_channels, 1))


def _extra_block(in_channels, out_channels, norm_layer):
    half, options = out_channels // 2, {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
    return nn.Sequential(Conv2dNormActivation(in_channels, half, kernel_size=1, **options),
                         Conv2dNormActivation(half, half, kernel_size=3, stride=2, groups=half, **options),
                         Conv2dNormActivation(half, out_channels, kernel_size=1, **options))


def _normal_init(conv):
    draw_small(conv.modules(), std=0.03)


class SSDLiteHead(nn.Module):
    """Tell codes and classes of the boxes of all levels.

    Parameters
    ----------
    in_channels, num_anchors : List[int]
        The channels of each level, and its boxes a cell.
    num_classes : int
        The classes.
    norm_layer : Callable
        Normalizes after convolutions.

    """

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer):
        super().__init__()
        self.classification_head = SSDLiteClassificationHead(in_channels, num_anchors, num_classes, norm_layer)
        self.regression_head = SSDLiteRegressionHead(in_channels, num_anchors, norm_layer)

    def forward(self, x):
        return {"bbox_regression": self.regression_head(x), "cls_logits": self.classification_head(x)}


def _blocks(in_channels, num_anchors, columns, norm_layer):
    blocks = nn.ModuleList([_prediction_block(channels, columns * anchors, 3, norm_layer)
                            for channels, anchors in zip(in_channels, num_anchors)])
    _normal_init(blocks)
    return blocks


class SSDLiteClassificationHead(SSDScoringHead):
    """Tell the classes of boxes; see `SSDLiteHead`."""

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer):
        super().__init__(_blocks(in_channels, num_anchors, num_classes, norm_layer), num_classes)


class SSDLiteRegressionHead(SSDScoringHead):
    """Tell the codes of boxes; see `SSDLiteHead`."""

    def __init__(self, in_channels, num_anchors, norm_layer):
        super().__init__(_blocks(in_channels, num_anchors, 4, norm_layer), 4)


class SSDLiteFeatureExtractorMobileNet(nn.Module):
    """The levels of a MobileNet, and further ones.

    Parameters
    ----------
    backbone : Sequential
        Its blocks.
    c4_pos : int
        The block in whose middle the first level is.
    norm_layer : Callable
        Normalizes after convolutions.
    width_mult : float, optional, default=1.0
        Multiplies the channels of further levels.
    min_depth : int, optional, default=16
        The least channels.

    """

    def __init__(self, backbone, c4_pos, norm_layer, width_mult=1.0, min_depth=16):
        super().__init__()
        if backbone[c4_pos].use_res_connect:
            raise ValueError("backbone[c4_pos].use_res_connect should be False")
        block = backbone[c4_pos].block
        self.features = nn.Sequential(nn.Sequential(*backbone[:c4_pos], block[0]),
                                      nn.Sequential(block[1:], *backbone[c4_pos + 1:]))
        widths = [backbone[-1].out_channels,
                  *(max(min_depth, int(width * width_mult)) for width in (512, 256, 256, 128))]
        self.extra = nn.ModuleList([_extra_block(before, after, norm_layer)
                                    for before, after in zip(widths, widths[1:])])
        _normal_init(self.extra)

    def forward(self, x):
        levels = []
        for block in (*self.features, *self.extra):
            x = block(x)
            levels.append(x)
        return OrderedDict((str(index), level) for index, level in enumerate(levels))


def _mobilenet_extractor(backbone, trainable_layers, norm_layer):
    starts = stages(backbone.features, trainable_layers)
    return SSDLiteFeatureExtractorMobileNet(backbone.features, starts[-2], norm_layer)


def _make(trained, layers, checkpoint, num_classes, norm_layer=None, **kwargs):
    without_size(kwargs)
    norm_layer = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
    from_checkpoint = checkpoint["weights"] is not None
    # The arguments go to the backbone as well, as in torchvision.
    backbone = mobilenet_v3_large(norm_layer=norm_layer, reduced_tail=not from_checkpoint, **checkpoint, **kwargs)
    if not from_checkpoint:
        _normal_init(backbone)
    backbone = _mobilenet_extractor(backbone, layers, norm_layer)
    size, anchors = (320, 320), DefaultBoxGenerator([[2, 3] for _ in range(6)], min_ratio=0.2, max_ratio=0.95)
    channels, each = det_utils.retrieve_out_channels(backbone, size), anchors.num_anchors_per_location()
    defaults = {"score_thresh": 0.001, "nms_thresh": 0.55, "detections_per_img": 300, "topk_candidates": 300,
                "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    return SSD(backbone, anchors, size, num_classes, head=SSDLiteHead(channels, each, num_classes, norm_layer),
               **{**defaults, **kwargs})


define_detector(globals(), "ssdlite320_mobilenet_v3_large", "SSDLite320_MobileNet_V3_Large", _make, FROM_MOBILE, (6, 6),
                more=("norm_layer",))
