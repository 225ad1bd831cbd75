"""ConvNeXt."""
from collections.abc import Sequence
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation, Permute
from dragon.vm.torchvision.ops.stochastic_depth import StochasticDepth

nn = torch.nn


class LayerNorm2d(nn.LayerNorm):
    """Layer normalization of the channels of each pixel."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """A wide convolution of each channel by itself and two linear layers; the input is led around."""

    def __init__(self, dim, layer_scale, stochastic_depth_prob, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        self.block = nn.Sequential(nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True),
                                   Permute([0, 2, 3, 1]), norm_layer(dim), nn.Linear(dim, 4 * dim), nn.GELU(),
                                   nn.Linear(4 * dim, dim), Permute([0, 3, 1, 2]))
        self.layer_scale = nn.Parameter(torch.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input):
        return self.stochastic_depth(self.layer_scale * self.block(input)) + input


class CNBlockConfig:
    """The settings of a stage: channels in and out, blocks."""

    def __init__(self, input_channels, out_channels, num_layers):
        self.input_channels, self.out_channels, self.num_layers = input_channels, out_channels, num_layers

    def __repr__(self):
        return (f"{self.__class__.__name__}(input_channels={self.input_channels}, out_channels={self.out_channels}, "
                f"num_layers={self.num_layers})")


class ConvNeXt(nn.Module):
    """ConvNeXt.

    Parameters
    ----------
    block_setting : List[CNBlockConfig]
        The stages.
    stochastic_depth_prob : float, optional, default=0.0
        The probability of dropping the last block.
    layer_scale : float, optional, default=1e-06
        What blocks are multiplied by at first.

    """

    def __init__(self, block_setting, stochastic_depth_prob=0.0, layer_scale=1e-6, num_classes=1000, block=None,
                 norm_layer=None, **kwargs):
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        if not (isinstance(block_setting, Sequence) and all(isinstance(s, CNBlockConfig) for s in block_setting)):
            raise TypeError("The block_setting should be List[CNBlockConfig]")
        block, norm_layer = block or CNBlock, norm_layer or partial(LayerNorm2d, eps=1e-6)
        layers = [Conv2dNormActivation(3, block_setting[0].input_channels, kernel_size=4, stride=4, padding=0,
                                       norm_layer=norm_layer, activation_layer=None, bias=True)]
        total, number = sum(cnf.num_layers for cnf in block_setting), 0
        for cnf in block_setting:
            stage = []
            for _ in range(cnf.num_layers):
                stage.append(block(cnf.input_channels, layer_scale, stochastic_depth_prob * number / (total - 1.0)))
                number += 1
            layers.append(nn.Sequential(*stage))
            if cnf.out_channels is not None:
                layers.append(nn.Sequential(norm_layer(cnf.input_channels), nn.Conv2d(
                    cnf.input_channels, cnf.out_channels, kernel_size=2, stride=2)))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1]
        width = last.input_channels if last.out_channels is None else last.out_channels
        self.classifier = nn.Sequential(norm_layer(width), nn.Flatten(1), nn.Linear(width, num_classes))
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def _forward_impl(self, x):
        return self.classifier(self.avgpool(self.features(x)))

    def forward(self, x):
        return self._forward_impl(x)


def _make(widths, deep, drop, **kwargs):
    setting = [CNBlockConfig(width, after, deep if index == 2 else 3)
               for index, (width, after) in enumerate(zip(widths, (*widths[1:], None)))]
    return ConvNeXt(setting, stochastic_depth_prob=kwargs.pop("stochastic_depth_prob", drop), **kwargs)


for _size, _width, _deep, _drop in (("Tiny", 96, 9, 0.1), ("Small", 96, 27, 0.4), ("Base", 128, 27, 0.5),
                                    ("Large", 192, 27, 0.5)):
    define(globals(), f"convnext_{_size.lower()}", f"ConvNeXt_{_size}",
           partial(_make, [_width * factor for factor in (1, 2, 4, 8)], _deep, _drop))
