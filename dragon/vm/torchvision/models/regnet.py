"""Networks whose widths follow a line, quantized."""
import math
from collections import OrderedDict
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import _make_divisible, initialize, small
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation

nn = torch.nn


class SimpleStemIN(Conv2dNormActivation):
    """The first convolution."""

    def __init__(self, width_in, width_out, norm_layer, activation_layer):
        super().__init__(width_in, width_out, kernel_size=3, stride=2, norm_layer=norm_layer,
                         activation_layer=activation_layer)


class BottleneckTransform(nn.Sequential):
    """A grouped convolution between two of single pixels."""

    def __init__(self, width_in, width_out, stride, norm_layer, activation_layer, group_width, bottleneck_multiplier,
                 se_ratio):
        width, options = int(round(width_out * bottleneck_multiplier)), {"norm_layer": norm_layer}
        layers = OrderedDict()
        layers["a"] = Conv2dNormActivation(width_in, width, kernel_size=1, stride=1, activation_layer=activation_layer,
                                           **options)
        layers["b"] = Conv2dNormActivation(width, width, kernel_size=3, stride=stride, groups=width // group_width,
                                           activation_layer=activation_layer, **options)
        if se_ratio:
            layers["se"] = SqueezeExcitation(input_channels=width, squeeze_channels=int(round(se_ratio * width_in)),
                                             activation=activation_layer)
        layers["c"] = Conv2dNormActivation(width, width_out, kernel_size=1, stride=1, activation_layer=None, **options)
        super().__init__(layers)


class ResBottleneckBlock(nn.Module):
    """A bottleneck around which the input is led."""

    def __init__(self, width_in, width_out, stride, norm_layer, activation_layer, group_width=1,
                 bottleneck_multiplier=1.0, se_ratio=None):
        super().__init__()
        self.proj = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(width_in, width_out, kernel_size=1, stride=stride, norm_layer=norm_layer,
                                             activation_layer=None)
        self.f = BottleneckTransform(width_in, width_out, stride, norm_layer, activation_layer, group_width,
                                     bottleneck_multiplier, se_ratio)
        self.activation = activation_layer(inplace=True)

    def forward(self, x):
        return self.activation((x if self.proj is None else self.proj(x)) + self.f(x))


class AnyStage(nn.Sequential):
    """Blocks of one width."""

    def __init__(self, width_in, width_out, stride, depth, block_constructor, norm_layer, activation_layer,
                 group_width, bottleneck_multiplier, se_ratio=None, stage_index=0):
        super().__init__()
        for index in range(depth):
            self.add_module(f"block{stage_index}-{index}", block_constructor(
                width_out if index else width_in, width_out, 1 if index else stride, norm_layer, activation_layer,
                group_width, bottleneck_multiplier, se_ratio))


class BlockParams:
    """The stages: blocks, widths, group widths, bottlenecks, strides."""

    def __init__(self, depths, widths, group_widths, bottleneck_multipliers, strides, se_ratio=None):
        self.depths, self.widths, self.group_widths, self.strides = depths, widths, group_widths, strides
        self.bottleneck_multipliers, self.se_ratio = bottleneck_multipliers, se_ratio

    @classmethod
    def from_init_params(cls, depth, w_0, w_a, w_m, group_width, bottleneck_multiplier=1.0, se_ratio=None, **kwargs):
        """Return the stages that a line of widths (start, slope, quantum) makes."""
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8 != 0:
            raise ValueError("Invalid RegNet settings")
        line = torch.arange(depth) * w_a + w_0
        steps = torch.round(torch.log(line / w_0) / math.log(w_m))
        widths = (torch.round(torch.div(w_0 * torch.pow(w_m, steps), 8)) * 8).int().tolist()
        stages = sorted(set(widths))
        count = len(stages)
        multipliers, groups = [bottleneck_multiplier] * count, [group_width] * count
        fitted, groups = cls._adjust_widths_groups_compatibilty(stages, multipliers, groups)
        return cls([widths.count(width) for width in stages], fitted, groups, multipliers, [2] * count, se_ratio)

    def _get_expanded_params(self):
        return zip(self.widths, self.strides, self.depths, self.group_widths, self.bottleneck_multipliers)

    @staticmethod
    def _adjust_widths_groups_compatibilty(stage_widths, bottleneck_ratios, group_widths):
        inner = [int(width * ratio) for width, ratio in zip(stage_widths, bottleneck_ratios)]
        groups = [min(group, width) for group, width in zip(group_widths, inner)]
        fitted = [_make_divisible(width, group) for width, group in zip(inner, groups)]
        return [int(width / ratio) for width, ratio in zip(fitted, bottleneck_ratios)], groups


def _by_outputs(module):
    outputs = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
    nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / outputs))


class RegNet(nn.Module):
    """RegNet.

    Parameters
    ----------
    block_params : BlockParams
        The stages.
    stem_width : int, optional, default=32
        The channels of the first convolution.
    stem_type, block_type, norm_layer, activation : Callable, optional
        The classes of the first convolution, of blocks, of normalizations and of activations.

    """

    def __init__(self, block_params, num_classes=1000, stem_width=32, stem_type=None, block_type=None,
                 norm_layer=None, activation=None):
        super().__init__()
        norm_layer, activation = norm_layer or nn.BatchNorm2d, activation or nn.ReLU
        self.stem = (stem_type or SimpleStemIN)(3, stem_width, norm_layer, activation)
        width, blocks = stem_width, []
        for index, (after, stride, depth, group, bottleneck) in enumerate(block_params._get_expanded_params(), 1):
            blocks.append((f"block{index}", AnyStage(
                width, after, stride, depth, block_type or ResBottleneckBlock, norm_layer, activation, group,
                bottleneck, block_params.se_ratio, stage_index=index)))
            width = after
        self.trunk_output = nn.Sequential(OrderedDict(blocks))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(in_features=width, out_features=num_classes)
        initialize(self, _by_outputs, small, norms=(nn.BatchNorm2d,))

    def forward(self, x):
        x = self.avgpool(self.trunk_output(self.stem(x)))
        return self.fc(x.flatten(start_dim=1))


def _make(settings, **kwargs):
    norm_layer = kwargs.pop("norm_layer", partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1))
    return RegNet(BlockParams.from_init_params(*settings, **kwargs), norm_layer=norm_layer, **kwargs)


# Depth, start, slope, quantum, group width; those of "y" weigh channels.
_MODELS = {
    "y_400mf": (16, 48, 27.89, 2.09, 8), "y_800mf": (14, 56, 38.84, 2.4, 16), "y_1_6gf": (27, 48, 20.71, 2.65, 24),
    "y_3_2gf": (21, 80, 42.63, 2.66, 24), "y_8gf": (17, 192, 76.82, 2.19, 56), "y_16gf": (18, 200, 106.23, 2.48, 112),
    "y_32gf": (20, 232, 115.89, 2.53, 232), "y_128gf": (27, 456, 160.83, 2.52, 264),
    "x_400mf": (22, 24, 24.48, 2.54, 16), "x_800mf": (16, 56, 35.73, 2.28, 16), "x_1_6gf": (18, 80, 34.01, 2.25, 24),
    "x_3_2gf": (25, 88, 26.31, 2.25, 48), "x_8gf": (23, 80, 49.56, 2.88, 120), "x_16gf": (22, 216, 55.59, 2.1, 128),
    "x_32gf": (23, 320, 69.86, 2.0, 168),
}
for _key, _settings in _MODELS.items():
    define(globals(), f"regnet_{_key}", f"RegNet_{_key.upper()}",
           partial(_make, (*_settings, 1.0, 0.25) if _key[0] == "y" else _settings))
