"""LR-ASPP: pixels named from two levels of a MobileNet."""
from collections import OrderedDict

from dragon.vm import torch
from dragon.vm.torchvision.models import mobilenetv3
from dragon.vm.torchvision.models.segmentation._utils import as_large, define_segmentation, levels, stages

nn = torch.nn


class LRASPP(nn.Module):
    """A backbone with `LRASPPHead` upon it.

    Parameters
    ----------
    backbone : Module
        Makes features by the names "low" and "high".
    low_channels, high_channels : int
        Their channels.
    num_classes : int
        The classes.
    inter_channels : int, optional, default=128
        The channels between.

    """

    def __init__(self, backbone, low_channels, high_channels, num_classes, inter_channels=128):
        super().__init__()
        self.backbone = backbone
        self.classifier = LRASPPHead(low_channels, high_channels, num_classes, inter_channels)

    def forward(self, input):
        return OrderedDict(out=as_large(self.classifier(self.backbone(input)), input))


class LRASPPHead(nn.Module):
    """Name pixels from a fine level and from a coarse one, whose channels are weighed.

    Parameters
    ----------
    low_channels, high_channels : int
        The channels of the fine level and of the coarse one.
    num_classes : int
        The classes.
    inter_channels : int
        The channels between.

    """

    def __init__(self, low_channels, high_channels, num_classes, inter_channels):
        super().__init__()
        self.cbr = nn.Sequential(nn.Conv2d(high_channels, inter_channels, 1, bias=False),
                                 nn.BatchNorm2d(inter_channels), nn.ReLU(inplace=True))
        self.scale = nn.Sequential(nn.AdaptiveAvgPool2d(1),
                                   nn.Conv2d(high_channels, inter_channels, 1, bias=False), nn.Sigmoid())
        self.low_classifier = nn.Conv2d(low_channels, num_classes, 1)
        self.high_classifier = nn.Conv2d(inter_channels, num_classes, 1)

    def forward(self, input):
        low, high = input["low"], input["high"]
        return self.low_classifier(low) + self.high_classifier(as_large(self.cbr(high) * self.scale(high), low))


def _make(checkpoint, num_classes, aux):
    features = mobilenetv3.mobilenet_v3_large(weights=checkpoint, dilated=True).features
    starts = stages(features)
    low, high = starts[-4], starts[-1]
    backbone = levels(features, str(low), str(high), ("low", "high"))
    return LRASPP(backbone, features[low].out_channels, features[high].out_channels, num_classes)


define_segmentation(globals(), "lraspp_mobilenet_v3_large", "LRASPP_MobileNet_V3_Large", _make,
                    mobilenetv3.MobileNet_V3_Large_Weights, has_aux=False)
