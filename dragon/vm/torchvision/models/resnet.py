"""Residual networks, wide and grouped ones among them."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define, overwrite
from dragon.vm.torchvision.models._utils import initialize

nn = torch.nn


def conv3x3(in_planes, out_planes, stride=1, groups=1, dilation=1):
    """Return a convolution of 3 by 3 that keeps the size."""
    return nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=dilation, groups=groups, bias=False,
                     dilation=dilation)


def conv1x1(in_planes, out_planes, stride=1):
    """Return a convolution of single pixels."""
    return nn.Conv2d(in_planes, out_planes, kernel_size=1, stride=stride, bias=False)


class BasicBlock(nn.Module):
    """Two convolutions around which the input is led."""

    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1,
                 norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(nn.Module):
    """A convolution in fewer channels around which the input is led."""

    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1,
                 norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    """A residual network.

    Parameters
    ----------
    block : type
        `BasicBlock` or `Bottleneck`.
    layers : List[int]
        The blocks of each stage.
    zero_init_residual : bool, optional, default=False
        Whether blocks start as the identity.
    groups, width_per_group : int, optional
        Of the convolutions in bottlenecks.
    replace_stride_with_dilation : List[bool], optional
        Stages that keep the size.

    """

    def __init__(self, block, layers, num_classes=1000, zero_init_residual=False, groups=1, width_per_group=64,
                 replace_stride_with_dilation=None, norm_layer=None):
        super().__init__()
        self._norm_layer = norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes, self.dilation, self.groups, self.base_width = 64, 1, groups, width_per_group
        dilate = [False] * 3 if replace_stride_with_dilation is None else replace_stride_with_dilation
        if len(dilate) != 3:
            raise ValueError("replace_stride_with_dilation should be None or a 3-element tuple, got "
                             f"{replace_stride_with_dilation}")
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], stride=2, dilate=dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], stride=2, dilate=dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], stride=2, dilate=dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        initialize(self, lambda module: nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu"))
        for module in self.modules() if zero_init_residual else ():
            last = {Bottleneck: "bn3", BasicBlock: "bn2"}.get(type(module))
            if last and getattr(module, last).weight is not None:
                nn.init.constant_(getattr(module, last).weight, 0)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        before, downsample = self.dilation, None
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(conv1x1(self.inplanes, planes * block.expansion, stride),
                                       self._norm_layer(planes * block.expansion))
        layers = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width, before,
                        self._norm_layer)]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            layers.append(block(self.inplanes, planes, groups=self.groups, base_width=self.base_width,
                                dilation=self.dilation, norm_layer=self._norm_layer))
        return nn.Sequential(*layers)

    def _forward_impl(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))

    def forward(self, x):
        return self._forward_impl(x)


def _make(block, layers, settled, **kwargs):
    for name, value in settled.items():
        overwrite(kwargs, name, value)
    return ResNet(block, layers, **kwargs)


for _name, _enum, _block, _layers, _settled in (
        ("resnet18", "ResNet18", BasicBlock, [2, 2, 2, 2], {}),
        ("resnet34", "ResNet34", BasicBlock, [3, 4, 6, 3], {}),
        ("resnet50", "ResNet50", Bottleneck, [3, 4, 6, 3], {}),
        ("resnet101", "ResNet101", Bottleneck, [3, 4, 23, 3], {}),
        ("resnet152", "ResNet152", Bottleneck, [3, 8, 36, 3], {}),
        ("resnext50_32x4d", "ResNeXt50_32X4D", Bottleneck, [3, 4, 6, 3], {"groups": 32, "width_per_group": 4}),
        ("resnext101_32x8d", "ResNeXt101_32X8D", Bottleneck, [3, 4, 23, 3], {"groups": 32, "width_per_group": 8}),
        ("resnext101_64x4d", "ResNeXt101_64X4D", Bottleneck, [3, 4, 23, 3], {"groups": 64, "width_per_group": 4}),
        ("wide_resnet50_2", "Wide_ResNet50_2", Bottleneck, [3, 4, 6, 3], {"width_per_group": 128}),
        ("wide_resnet101_2", "Wide_ResNet101_2", Bottleneck, [3, 4, 23, 3], {"width_per_group": 128})):
    define(globals(), _name, _enum, partial(_make, _block, _layers, _settled))
