"""DeepLab, third version: convolutions that skip pixels name every pixel."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models import mobilenetv3, resnet
from dragon.vm.torchvision.models.segmentation._utils import (_SimpleSegmentationModel, as_large, define_segmentation,
                                                              levels, stages)
from dragon.vm.torchvision.models.segmentation.fcn import FCNHead, on_resnet

nn = torch.nn


class DeepLabV3(_SimpleSegmentationModel):
    """A backbone with `DeepLabHead` upon it; see `_SimpleSegmentationModel`."""


class DeepLabHead(nn.Sequential):
    """Pyramids of skipped pixels, and two convolutions that name pixels.

    Parameters
    ----------
    in_channels, num_classes : int
        The channels that come, and the classes.
    atrous_rates : Sequence[int], optional
        As for `ASPP`.

    """

    def __init__(self, in_channels, num_classes, atrous_rates=(12, 24, 36)):
        super().__init__(ASPP(in_channels, atrous_rates), nn.Conv2d(256, 256, 3, padding=1, bias=False),
                         nn.BatchNorm2d(256), nn.ReLU(), nn.Conv2d(256, num_classes, 1))


class ASPPConv(nn.Sequential):
    """A convolution that skips pixels.

    Parameters
    ----------
    in_channels, out_channels, dilation : int
        The channels, and from one pixel to the next.

    """

    def __init__(self, in_channels, out_channels, dilation):
        super().__init__(nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False),
                         nn.BatchNorm2d(out_channels), nn.ReLU())


class ASPPPooling(nn.Sequential):
    """What the whole image says, for every pixel.

    Parameters
    ----------
    in_channels, out_channels : int
        The channels.

    """

    def __init__(self, in_channels, out_channels):
        super().__init__(nn.AdaptiveAvgPool2d(1), nn.Conv2d(in_channels, out_channels, 1, bias=False),
                         nn.BatchNorm2d(out_channels), nn.ReLU())

    def forward(self, x):
        return as_large(super().forward(x), x)


class ASPP(nn.Module):
    """Convolutions that skip more and more pixels, side by side.

    Parameters
    ----------
    in_channels : int
        The channels that come.
    atrous_rates : Sequence[int]
        From one pixel to the next, for each.
    out_channels : int, optional, default=256
        The channels of each, and of the result.

    """

    def __init__(self, in_channels, atrous_rates, out_channels=256):
        super().__init__()
        self.convs = nn.ModuleList([
            nn.Sequential(nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU()),
            *(ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates),
            ASPPPooling(in_channels, out_channels)])
        self.project = nn.Sequential(nn.Conv2d(len(self.convs) * out_channels, out_channels, 1, bias=False),
                                     nn.BatchNorm2d(out_channels), nn.ReLU(), nn.Dropout(0.5))

    def forward(self, x):
        return self.project(torch.cat([conv(x) for conv in self.convs], dim=1))


def _on_mobilenet(checkpoint, num_classes, aux):
    features = mobilenetv3.mobilenet_v3_large(weights=checkpoint, dilated=True).features
    starts = stages(features)
    last, middle = starts[-1], starts[-4]
    backbone = levels(features, str(last), str(middle) if aux else None)
    aux_classifier = FCNHead(features[middle].out_channels, num_classes) if aux else None
    return DeepLabV3(backbone, DeepLabHead(features[last].out_channels, num_classes), aux_classifier)


for _depth in (50, 101):
    define_segmentation(globals(), f"deeplabv3_resnet{_depth}", f"DeepLabV3_ResNet{_depth}",
                        partial(on_resnet, DeepLabV3, DeepLabHead, getattr(resnet, f"resnet{_depth}")),
                        getattr(resnet, f"ResNet{_depth}_Weights"))
define_segmentation(globals(), "deeplabv3_mobilenet_v3_large", "DeepLabV3_MobileNet_V3_Large", _on_mobilenet,
                    mobilenetv3.MobileNet_V3_Large_Weights)
