"""MobileNet, second version."""
from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import _make_divisible, fan_out, initialize, small
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation

nn = torch.nn


class InvertedResidual(nn.Module):
    """Expand, filter each channel by itself, squeeze; the input is led around."""

    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=None):
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm_layer = norm_layer or nn.BatchNorm2d
        hidden, options = int(round(inp * expand_ratio)), {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        layers = [] if expand_ratio == 1 else [Conv2dNormActivation(inp, hidden, kernel_size=1, **options)]
        layers += [Conv2dNormActivation(hidden, hidden, stride=stride, groups=hidden, **options),
                   nn.Conv2d(hidden, oup, 1, 1, 0, bias=False), norm_layer(oup)]
        self.stride, self.use_res_connect = stride, stride == 1 and inp == oup
        self.conv = nn.Sequential(*layers)
        self.out_channels, self._is_cn = oup, stride > 1

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


# Expansion, channels, blocks, stride.
_SETTING = [[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]]


class MobileNetV2(nn.Module):
    """MobileNet, second version.

    Parameters
    ----------
    inverted_residual_setting : List[List[int]], optional
        Expansion, channels, blocks and stride of each stage.
    round_nearest : int, optional, default=8
        What channels are multiples of.

    """

    def __init__(self, num_classes=1000, width_mult=1.0, inverted_residual_setting=None, round_nearest=8, block=None,
                 norm_layer=None, dropout=0.2):
        super().__init__()
        block, norm_layer = block or InvertedResidual, norm_layer or nn.BatchNorm2d
        setting = _SETTING if inverted_residual_setting is None else inverted_residual_setting
        if len(setting) == 0 or len(setting[0]) != 4:
            raise ValueError(f"inverted_residual_setting should be non-empty or a 4-element list, got {setting}")
        width = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        options = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        features = [Conv2dNormActivation(3, width, stride=2, **options)]
        for expand, channels, count, stride in setting:
            channels = _make_divisible(channels * width_mult, round_nearest)
            for index in range(count):
                features.append(block(width, channels, 1 if index else stride, expand_ratio=expand,
                                      norm_layer=norm_layer))
                width = channels
        features.append(Conv2dNormActivation(width, self.last_channel, kernel_size=1, **options))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))
        initialize(self, fan_out, small)

    def _forward_impl(self, x):
        x = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(x, 1))

    def forward(self, x):
        return self._forward_impl(x)


define(globals(), "mobilenet_v2", "MobileNet_V2", MobileNetV2)
