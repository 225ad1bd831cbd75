"""S3D: Inception for videos, each convolution within frames and then in time."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.ops.misc import Conv3dNormActivation

nn = torch.nn


class TemporalSeparableConv(nn.Sequential):
    """A convolution within frames, and one in time."""

    def __init__(self, in_planes, out_planes, kernel_size, stride, padding, norm_layer):
        options = {"bias": False, "norm_layer": norm_layer}
        super().__init__(
            Conv3dNormActivation(in_planes, out_planes, kernel_size=(1, kernel_size, kernel_size),
                                 stride=(1, stride, stride), padding=(0, padding, padding), **options),
            Conv3dNormActivation(out_planes, out_planes, kernel_size=(kernel_size, 1, 1), stride=(stride, 1, 1),
                                 padding=(padding, 0, 0), **options))


class SepInceptionBlock3D(nn.Module):
    """Four branches side by side."""

    def __init__(self, in_planes, b0_out, b1_mid, b1_out, b2_mid, b2_out, b3_out, norm_layer):
        super().__init__()
        point = partial(Conv3dNormActivation, in_planes, kernel_size=1, stride=1, norm_layer=norm_layer)
        self.branch0 = point(b0_out)
        self.branch1 = nn.Sequential(point(b1_mid), TemporalSeparableConv(b1_mid, b1_out, 3, 1, 1, norm_layer))
        self.branch2 = nn.Sequential(point(b2_mid), TemporalSeparableConv(b2_mid, b2_out, 3, 1, 1, norm_layer))
        self.branch3 = nn.Sequential(nn.MaxPool3d(kernel_size=(3, 3, 3), stride=1, padding=1), point(b3_out))

    def forward(self, x):
        return torch.cat((self.branch0(x), self.branch1(x), self.branch2(x), self.branch3(x)), 1)


# The channels of blocks: in, and those of the four branches; a None is a pooling.
_BLOCKS = ((192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64), None, (480, 192, 96, 208, 16, 48, 64),
           (512, 160, 112, 224, 24, 64, 64), (512, 128, 128, 256, 24, 64, 64), (512, 112, 144, 288, 32, 64, 64),
           (528, 256, 160, 320, 32, 128, 128), None, (832, 256, 160, 320, 32, 128, 128),
           (832, 384, 192, 384, 48, 128, 128))


def _pool(size, stride, padding):
    return nn.MaxPool3d(kernel_size=size, stride=stride, padding=padding)


class S3D(nn.Module):
    """Inception for videos.

    Parameters
    ----------
    norm_layer : Callable, optional
        The class of normalizations.

    """

    def __init__(self, num_classes=400, dropout=0.2, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or partial(nn.BatchNorm3d, eps=0.001, momentum=0.001)
        pools = iter((_pool((3, 3, 3), (2, 2, 2), (1, 1, 1)), _pool((2, 2, 2), (2, 2, 2), (0, 0, 0))))
        self.features = nn.Sequential(
            TemporalSeparableConv(3, 64, 7, 2, 3, norm_layer), _pool((1, 3, 3), (1, 2, 2), (0, 1, 1)),
            Conv3dNormActivation(64, 64, kernel_size=1, stride=1, norm_layer=norm_layer),
            TemporalSeparableConv(64, 192, 3, 1, 1, norm_layer), _pool((1, 3, 3), (1, 2, 2), (0, 1, 1)),
            *(next(pools) if block is None else SepInceptionBlock3D(*block, norm_layer) for block in _BLOCKS))
        self.avgpool = nn.AvgPool3d(kernel_size=(2, 7, 7), stride=1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout),
                                        nn.Conv3d(1024, num_classes, kernel_size=1, stride=1, bias=True))

    def forward(self, x):
        return torch.mean(self.classifier(self.avgpool(self.features(x))), dim=(2, 3, 4))


define(globals(), "s3d", "S3D", S3D)
