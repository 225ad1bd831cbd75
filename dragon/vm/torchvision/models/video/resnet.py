"""Residual networks for videos."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define

nn = torch.nn


class _Strides:
    """The strides of what leads the input around a block."""

    @staticmethod
    def get_downsample_stride(stride):
        """Return a stride in time, down and across."""
        return stride, stride, stride


class Conv3DSimple(_Strides, nn.Conv3d):
    """A convolution of 3 frames, 3 rows and 3 columns.

    Parameters
    ----------
    in_planes, out_planes : int
        The channels.
    midplanes : int, optional
        Has no meaning here.
    stride, padding : int, optional
        In time, down and across.

    """

    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, kernel_size=(3, 3, 3), stride=stride, padding=padding, bias=False)


class Conv2Plus1D(_Strides, nn.Sequential):
    """A convolution within frames, and one in time.

    Parameters
    ----------
    in_planes, out_planes, midplanes : int
        The channels before, after and between.
    stride, padding : int, optional
        In time, down and across.

    """

    def __init__(self, in_planes, out_planes, midplanes, stride=1, padding=1):
        super().__init__(
            nn.Conv3d(in_planes, midplanes, kernel_size=(1, 3, 3), stride=(1, stride, stride),
                      padding=(0, padding, padding), bias=False), nn.BatchNorm3d(midplanes), nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, kernel_size=(3, 1, 1), stride=(stride, 1, 1), padding=(padding, 0, 0),
                      bias=False))


class Conv3DNoTemporal(nn.Conv3d):
    """A convolution within frames.

    Parameters
    ----------
    in_planes, out_planes : int
        The channels.
    midplanes : int, optional
        Has no meaning here.
    stride, padding : int, optional
        Down and across.

    """

    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, kernel_size=(1, 3, 3), stride=(1, stride, stride),
                         padding=(0, padding, padding), bias=False)

    @staticmethod
    def get_downsample_stride(stride):
        """Return a stride in time, down and across."""
        return 1, stride, stride


def _between(inplanes, planes):
    """Return the channels with which two convolutions have as many parameters as one."""
    return (inplanes * planes * 3 * 3 * 3) // (inplanes * 3 * 3 + 3 * planes)


class _Block(nn.Module):
    """The base of blocks around which the input is led."""

    def _led(self, out, x):
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class BasicBlock(_Block):
    """Two convolutions around which the input is led."""

    expansion = 1

    def __init__(self, inplanes, planes, conv_builder, stride=1, downsample=None):
        super().__init__()
        between = _between(inplanes, planes)
        self.conv1 = nn.Sequential(conv_builder(inplanes, planes, between, stride), nn.BatchNorm3d(planes),
                                   nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv_builder(planes, planes, between), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x):
        return self._led(self.conv2(self.conv1(x)), x)


class Bottleneck(_Block):
    """A convolution in fewer channels around which the input is led."""

    expansion = 4

    def __init__(self, inplanes, planes, conv_builder, stride=1, downsample=None):
        super().__init__()
        wide = planes * self.expansion
        self.conv1 = nn.Sequential(nn.Conv3d(inplanes, planes, kernel_size=1, bias=False), nn.BatchNorm3d(planes),
                                   nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv_builder(planes, planes, _between(inplanes, planes), stride),
                                   nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        self.conv3 = nn.Sequential(nn.Conv3d(planes, wide, kernel_size=1, bias=False), nn.BatchNorm3d(wide))
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x):
        return self._led(self.conv3(self.conv2(self.conv1(x))), x)


class BasicStem(nn.Sequential):
    """The first convolution, of 3 frames."""

    def __init__(self):
        super().__init__(nn.Conv3d(3, 64, kernel_size=(3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3), bias=False),
                         nn.BatchNorm3d(64), nn.ReLU(inplace=True))


class R2Plus1dStem(nn.Sequential):
    """The first convolutions, one within frames and one in time."""

    def __init__(self):
        super().__init__(nn.Conv3d(3, 45, kernel_size=(1, 7, 7), stride=(1, 2, 2), padding=(0, 3, 3), bias=False),
                         nn.BatchNorm3d(45), nn.ReLU(inplace=True),
                         nn.Conv3d(45, 64, kernel_size=(3, 1, 1), stride=(1, 1, 1), padding=(1, 0, 0), bias=False),
                         nn.BatchNorm3d(64), nn.ReLU(inplace=True))


class VideoResNet(nn.Module):
    """A residual network for videos.

    Parameters
    ----------
    block : type
        `BasicBlock` or `Bottleneck`.
    conv_makers : List[type]
        The convolutions of each stage.
    layers : List[int]
        The blocks of each stage.
    stem : Callable
        The first convolutions.
    zero_init_residual : bool, optional, default=False
        Whether blocks start as the identity.

    """

    def __init__(self, block, conv_makers, layers, stem, num_classes=400, zero_init_residual=False):
        super().__init__()
        self.inplanes = 64
        self.stem = stem()
        for index, (maker, count) in enumerate(zip(conv_makers, layers)):
            stage = self._make_layer(block, maker, 64 * 2 ** index, count, stride=2 if index else 1)
            setattr(self, f"layer{index + 1}", stage)
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv3d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.BatchNorm3d):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.constant_(module.bias, 0)
        for module in self.modules() if zero_init_residual else ():
            if isinstance(module, Bottleneck):
                nn.init.constant_(module.conv3[1].weight, 0)

    def forward(self, x):
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        return self.fc(self.avgpool(x).flatten(1))

    def _make_layer(self, block, conv_builder, planes, blocks, stride=1):
        downsample, wide = None, planes * block.expansion
        if stride != 1 or self.inplanes != wide:
            downsample = nn.Sequential(nn.Conv3d(self.inplanes, wide, kernel_size=1, bias=False,
                                                 stride=conv_builder.get_downsample_stride(stride)),
                                       nn.BatchNorm3d(wide))
        layers = [block(self.inplanes, planes, conv_builder, stride, downsample)]
        self.inplanes = wide
        layers += [block(wide, planes, conv_builder) for _ in range(1, blocks)]
        return nn.Sequential(*layers)


for _name, _enum, _makers, _stem in (("r3d_18", "R3D_18", [Conv3DSimple] * 4, BasicStem),
                                     ("mc3_18", "MC3_18", [Conv3DSimple] + [Conv3DNoTemporal] * 3, BasicStem),
                                     ("r2plus1d_18", "R2Plus1D_18", [Conv2Plus1D] * 4, R2Plus1dStem)):
    define(globals(), _name, _enum, partial(VideoResNet, BasicBlock, _makers, [2, 2, 2, 2], _stem))
