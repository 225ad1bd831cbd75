"""FCN: convolutions name every pixel."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models import resnet
from dragon.vm.torchvision.models.segmentation._utils import _SimpleSegmentationModel, define_segmentation, levels

nn = torch.nn


class FCN(_SimpleSegmentationModel):
    """A backbone with convolutions upon it; see `_SimpleSegmentationModel`."""


class FCNHead(nn.Sequential):
    """Two convolutions that name pixels.

    Parameters
    ----------
    in_channels, channels : int
        The channels that come, and the classes.

    """

    def __init__(self, in_channels, channels):
        between = in_channels // 4
        super().__init__(nn.Conv2d(in_channels, between, 3, padding=1, bias=False), nn.BatchNorm2d(between), nn.ReLU(),
                         nn.Dropout(0.1), nn.Conv2d(between, channels, 1))


def on_resnet(model, head, network, checkpoint, num_classes, aux):
    """Return a model upon a residual network whose last stages keep their size."""
    network = network(weights=checkpoint, replace_stride_with_dilation=[False, True, True])
    backbone = levels(network, "layer4", "layer3" if aux else None)
    aux_classifier = FCNHead(1024, num_classes) if aux else None
    return model(backbone, head(2048, num_classes), aux_classifier)


for _depth in (50, 101):
    define_segmentation(globals(), f"fcn_resnet{_depth}", f"FCN_ResNet{_depth}",
                        partial(on_resnet, FCN, FCNHead, getattr(resnet, f"resnet{_depth}")),
                        getattr(resnet, f"ResNet{_depth}_Weights"))
