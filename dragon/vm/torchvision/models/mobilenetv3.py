"""MobileNet, third version."""
from collections.abc import Sequence
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import _make_divisible, fan_out, initialize, small
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation as SElayer

nn = torch.nn


class InvertedResidualConfig:
    """The settings of a block.

    Parameters
    ----------
    input_channels, kernel, expanded_channels, out_channels : int
        Its sizes.
    use_se : bool
        Whether channels are weighed.
    activation : str
        "RE" or "HS".
    stride, dilation : int
        Of its convolution.

    """

    def __init__(self, input_channels, kernel, expanded_channels, out_channels, use_se, activation, stride, dilation,
                 width_mult):
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se, self.use_hs, self.stride, self.dilation = use_se, activation == "HS", stride, dilation

    @staticmethod
    def adjust_channels(channels, width_mult):
        """Return a number of channels, multiplied."""
        return _make_divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    """Expand, filter each channel by itself, weigh, squeeze; the input is led around."""

    def __init__(self, cnf, norm_layer, se_layer=partial(SElayer, scale_activation=nn.Hardsigmoid)):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        wide, act = cnf.expanded_channels, nn.Hardswish if cnf.use_hs else nn.ReLU
        layers = []
        if wide != cnf.input_channels:
            layers.append(Conv2dNormActivation(cnf.input_channels, wide, kernel_size=1, norm_layer=norm_layer,
                                               activation_layer=act))
        layers.append(Conv2dNormActivation(wide, wide, kernel_size=cnf.kernel,
                                           stride=1 if cnf.dilation > 1 else cnf.stride, dilation=cnf.dilation,
                                           groups=wide, norm_layer=norm_layer, activation_layer=act))
        if cnf.use_se:
            layers.append(se_layer(wide, _make_divisible(wide // 4, 8)))
        layers.append(Conv2dNormActivation(wide, cnf.out_channels, kernel_size=1, norm_layer=norm_layer,
                                           activation_layer=None))
        self.block = nn.Sequential(*layers)
        self.out_channels, self._is_cn = cnf.out_channels, cnf.stride > 1

    def forward(self, input):
        result = self.block(input)
        if self.use_res_connect:
            result += input
        return result


class MobileNetV3(nn.Module):
    """MobileNet, third version.

    Parameters
    ----------
    inverted_residual_setting : List[InvertedResidualConfig]
        The blocks.

    """

    def __init__(self, inverted_residual_setting, last_channel, num_classes=1000, block=None, norm_layer=None,
                 dropout=0.2, **kwargs):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not (isinstance(inverted_residual_setting, Sequence)
                and all(isinstance(item, InvertedResidualConfig) for item in inverted_residual_setting)):
            raise TypeError("The inverted_residual_setting should be List[InvertedResidualConfig]")
        block = block or InvertedResidual
        norm_layer = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        options = {"norm_layer": norm_layer, "activation_layer": nn.Hardswish}
        layers = [Conv2dNormActivation(3, inverted_residual_setting[0].input_channels, kernel_size=3, stride=2,
                                       **options)]
        layers += [block(cnf, norm_layer) for cnf in inverted_residual_setting]
        width = inverted_residual_setting[-1].out_channels
        layers.append(Conv2dNormActivation(width, 6 * width, kernel_size=1, **options))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(6 * width, last_channel), nn.Hardswish(inplace=True),
                                        nn.Dropout(p=dropout, inplace=True), nn.Linear(last_channel, num_classes))
        initialize(self, fan_out, small)

    def _forward_impl(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))

    def forward(self, x):
        return self._forward_impl(x)


# For each block: channels in, kernel, expanded, channels out, weighed, activation, stride. From the block at `tail`
# on, the tail may be halved and dilated.
_LARGE = """16 3 16 16 - RE 1, 16 3 64 24 - RE 2, 24 3 72 24 - RE 1, 24 5 72 40 + RE 2, 40 5 120 40 + RE 1,
40 5 120 40 + RE 1, 40 3 240 80 - HS 2, 80 3 200 80 - HS 1, 80 3 184 80 - HS 1, 80 3 184 80 - HS 1,
80 3 480 112 + HS 1, 112 3 672 112 + HS 1, 112 5 672 160 + HS 2, 160 5 960 160 + HS 1, 160 5 960 160 + HS 1"""
_SMALL = """16 3 16 16 + RE 2, 16 3 72 24 - RE 2, 24 3 88 24 - RE 1, 24 5 96 40 + HS 2, 40 5 240 40 + HS 1,
40 5 240 40 + HS 1, 40 5 120 48 + HS 1, 48 5 144 48 + HS 1, 48 5 288 96 + HS 2,
96 5 576 96 + HS 1, 96 5 576 96 + HS 1"""
_ARCHITECTURES = {"mobilenet_v3_large": (_LARGE, 1280), "mobilenet_v3_small": (_SMALL, 1024)}


def _mobilenet_v3_conf(arch, width_mult=1.0, reduced_tail=False, dilated=False, **kwargs):
    if arch not in _ARCHITECTURES:
        raise ValueError(f"Unsupported model type {arch}")
    table, last = _ARCHITECTURES[arch]
    part, rows, setting = 2 if reduced_tail else 1, table.split(","), []
    for index, row in enumerate(rows):
        before, kernel, wide, after, weighed, act, stride = row.split()
        tail = index - (len(rows) - 3)  # the last three blocks are the tail
        sizes = [int(before) // (part if tail > 0 else 1), int(kernel), int(wide) // (part if tail > 0 else 1),
                 int(after) // (part if tail >= 0 else 1)]
        setting.append(InvertedResidualConfig(*sizes, weighed == "+", act, int(stride),
                                              2 if dilated and tail >= 0 else 1, width_mult))
    return setting, InvertedResidualConfig.adjust_channels(last // part, width_mult)


def build(arch, model=MobileNetV3, **kwargs):
    """Return a network of a class by the name of its architecture."""
    return model(*_mobilenet_v3_conf(arch, **kwargs), **{
        name: value for name, value in kwargs.items() if name not in ("width_mult", "reduced_tail", "dilated")})


for _size in ("Large", "Small"):
    define(globals(), f"mobilenet_v3_{_size.lower()}", f"MobileNet_V3_{_size}",
           partial(build, f"mobilenet_v3_{_size.lower()}"))
