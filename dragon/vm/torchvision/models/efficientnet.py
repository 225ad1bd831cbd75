"""EfficientNet, first and second version."""
import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import _make_divisible, fan_out, initialize
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation
from dragon.vm.torchvision.ops.stochastic_depth import StochasticDepth

nn = torch.nn


@dataclass
class _MBConvConfig:
    expand_ratio: float
    kernel: int
    stride: int
    input_channels: int
    out_channels: int
    num_layers: int
    block: Callable

    @staticmethod
    def adjust_channels(channels, width_mult, min_value=None):
        """Return a number of channels, multiplied."""
        return _make_divisible(channels * width_mult, 8, min_value)


class MBConvConfig(_MBConvConfig):
    """The settings of a stage of `MBConv` blocks: expansion, kernel, stride, channels in and out, blocks."""

    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, width_mult=1.0,
                 depth_mult=1.0, block=None):
        super().__init__(expand_ratio, kernel, stride, self.adjust_channels(input_channels, width_mult),
                         self.adjust_channels(out_channels, width_mult), self.adjust_depth(num_layers, depth_mult),
                         block or MBConv)

    @staticmethod
    def adjust_depth(num_layers, depth_mult):
        """Return a number of blocks, multiplied."""
        return int(math.ceil(num_layers * depth_mult))


class FusedMBConvConfig(_MBConvConfig):
    """The settings of a stage of `FusedMBConv` blocks."""

    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block=None):
        super().__init__(expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block or FusedMBConv)


class _Block(nn.Module):
    def __init__(self, cnf, stochastic_depth_prob, norm_layer, *more):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.Sequential(*self._layers(cnf, norm_layer, *more))
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input):
        result = self.block(input)
        if self.use_res_connect:
            result = self.stochastic_depth(result)
            result += input
        return result


class MBConv(_Block):
    """Expand, filter each channel by itself, weigh, squeeze; the input is led around."""

    def __init__(self, cnf, stochastic_depth_prob, norm_layer, se_layer=SqueezeExcitation):
        super().__init__(cnf, stochastic_depth_prob, norm_layer, se_layer)

    def _layers(self, cnf, norm_layer, se_layer):
        wide, options = cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio), {"norm_layer": norm_layer}
        if wide != cnf.input_channels:
            yield Conv2dNormActivation(cnf.input_channels, wide, kernel_size=1, activation_layer=nn.SiLU, **options)
        yield Conv2dNormActivation(wide, wide, kernel_size=cnf.kernel, stride=cnf.stride, groups=wide,
                                   activation_layer=nn.SiLU, **options)
        yield se_layer(wide, max(1, cnf.input_channels // 4), activation=partial(nn.SiLU, inplace=True))
        yield Conv2dNormActivation(wide, cnf.out_channels, kernel_size=1, activation_layer=None, **options)


class FusedMBConv(_Block):
    """Expand by a full convolution, squeeze; the input is led around."""

    def _layers(self, cnf, norm_layer):
        wide = cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        expands = wide != cnf.input_channels
        yield Conv2dNormActivation(cnf.input_channels, wide if expands else cnf.out_channels, kernel_size=cnf.kernel,
                                   stride=cnf.stride, norm_layer=norm_layer, activation_layer=nn.SiLU)
        if expands:
            yield Conv2dNormActivation(wide, cnf.out_channels, kernel_size=1, norm_layer=norm_layer,
                                       activation_layer=None)


def _by_outputs(module):
    bound = 1.0 / math.sqrt(module.out_features)
    nn.init.uniform_(module.weight, -bound, bound)
    nn.init.zeros_(module.bias)


class EfficientNet(nn.Module):
    """EfficientNet.

    Parameters
    ----------
    inverted_residual_setting : Sequence[Union[MBConvConfig, FusedMBConvConfig]]
        The stages.
    dropout : float
        The probability of zeroing before the classes.

    """

    def __init__(self, inverted_residual_setting, dropout, stochastic_depth_prob=0.2, num_classes=1000,
                 norm_layer=None, last_channel=None):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not (isinstance(inverted_residual_setting, Sequence)
                and all(isinstance(item, _MBConvConfig) for item in inverted_residual_setting)):
            raise TypeError("The inverted_residual_setting should be List[MBConvConfig]")
        norm_layer = norm_layer or nn.BatchNorm2d
        options = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        layers = [Conv2dNormActivation(3, inverted_residual_setting[0].input_channels, kernel_size=3, stride=2,
                                       **options)]
        total, number = sum(cnf.num_layers for cnf in inverted_residual_setting), 0
        for cnf in inverted_residual_setting:
            stage, cnf = [], copy.copy(cnf)
            for _ in range(cnf.num_layers):
                stage.append(cnf.block(cnf, stochastic_depth_prob * float(number) / total, norm_layer))
                cnf.input_channels, cnf.stride = cnf.out_channels, 1
                number += 1
            layers.append(nn.Sequential(*stage))
        width = inverted_residual_setting[-1].out_channels
        last_channel = 4 * width if last_channel is None else last_channel
        layers.append(Conv2dNormActivation(width, last_channel, kernel_size=1, **options))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(last_channel, num_classes))
        initialize(self, fan_out, _by_outputs)

    def _forward_impl(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))

    def forward(self, x):
        return self._forward_impl(x)


_STAGES = ((1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3),
           (6, 5, 1, 80, 112, 3), (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1))
# The first three stages are fused.
_STAGES_V2 = {
    "s": ((1, 3, 1, 24, 24, 2), (4, 3, 2, 24, 48, 4), (4, 3, 2, 48, 64, 4), (4, 3, 2, 64, 128, 6),
          (6, 3, 1, 128, 160, 9), (6, 3, 2, 160, 256, 15)),
    "m": ((1, 3, 1, 24, 24, 3), (4, 3, 2, 24, 48, 5), (4, 3, 2, 48, 80, 5), (4, 3, 2, 80, 160, 7),
          (6, 3, 1, 160, 176, 14), (6, 3, 2, 176, 304, 18), (6, 3, 1, 304, 512, 5)),
    "l": ((1, 3, 1, 32, 32, 4), (4, 3, 2, 32, 64, 7), (4, 3, 2, 64, 96, 7), (4, 3, 2, 96, 192, 10),
          (6, 3, 1, 192, 224, 19), (6, 3, 2, 224, 384, 25), (6, 3, 1, 384, 640, 7)),
}


def _make(width, depth, dropout, norm_layer, **kwargs):
    setting = [MBConvConfig(*stage, width_mult=width, depth_mult=depth) for stage in _STAGES]
    return EfficientNet(setting, kwargs.pop("dropout", dropout), **{"norm_layer": norm_layer, **kwargs})


def _make_v2(size, dropout, **kwargs):
    setting = [(FusedMBConvConfig if index < 3 else MBConvConfig)(*stage)
               for index, stage in enumerate(_STAGES_V2[size])]
    options = {"norm_layer": partial(nn.BatchNorm2d, eps=0.001), "last_channel": 1280, **kwargs}
    return EfficientNet(setting, options.pop("dropout", dropout), **options)


for _index, (_width, _depth, _dropout) in enumerate(((1.0, 1.0, 0.2), (1.0, 1.1, 0.2), (1.1, 1.2, 0.3), (1.2, 1.4, 0.3),
                                                     (1.4, 1.8, 0.4), (1.6, 2.2, 0.4), (1.8, 2.6, 0.5),
                                                     (2.0, 3.1, 0.5))):
    _norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01) if _index >= 5 else None
    define(globals(), f"efficientnet_b{_index}", f"EfficientNet_B{_index}",
           partial(_make, _width, _depth, _dropout, _norm))
for _size, _dropout in (("s", 0.2), ("m", 0.3), ("l", 0.4)):
    define(globals(), f"efficientnet_v2_{_size}", f"EfficientNet_V2_{_size.upper()}",
           partial(_make_v2, _size, _dropout))
